#pragma once

#include "cluster/journal_writer.hpp"
#include "store/options.hpp"

namespace cluster {

// A file of a book is migrated by an entry of its journal and in no other way: whoever follows
// migrates its own when it comes to it, and an older program stops there. Versions are therefore
// changed on the followers first, and the owner steps down last; then the first owner with a newer
// version writes the entry.
//
// For an owner, once its file has all of the journal and before a store::Store opens it. Returns
// whether there was something to do. Throws as a commit does, and store::OpenError.
bool bring_to_newest_schema(const store::Options& file, JournalWriter& journal);

}  // namespace cluster
