#pragma once

#include "domain/bytes.hpp"
#include "store/options.hpp"

namespace store {

// Of all rows of all tables that a journal brings, as of one moment; beside whoever writes. Two
// files are equal where it is: it depends on the rows and the order of columns, not on how the file
// came about. Reads the whole file. Throws OpenError or StorageError.
[[nodiscard]] domain::Bytes32 digest_of_rows(const Options& options);

}  // namespace store
