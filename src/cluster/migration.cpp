#include "cluster/migration.hpp"

#include "store/journal_position.hpp"

namespace cluster {

bool bring_to_newest_schema(const store::Options& file, JournalWriter& journal) {
    return store::migrate_book(file,
                               [&journal](int schema) { return journal.decide_migration(schema); });
}

}  // namespace cluster
