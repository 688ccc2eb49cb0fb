#pragma once

#include <filesystem>

#include "domain/time.hpp"

namespace store {

struct HelperCopy {
    std::filesystem::path path;
    bool made = true;  // false: an earlier import left the same
};

// Copies the database of a reference helper to `directory` as helper-imported-YYYYMMDD.db (the UTC
// day of `now`; -2, -3 … behind it when the day has one with other content), for this user alone
// (0600). What the helper's last process left in its log beside the file is in the copy, which
// needs no log of its own. The original is only read. An earlier copy with the same content is kept
// instead of a second one. Throws OpenError when the file is not there, in use, damaged or no
// SQLite database, or changes meanwhile; StorageError when there is no room.
[[nodiscard]] HelperCopy copy_helper_db(const std::filesystem::path& original,
                                        const std::filesystem::path& directory,
                                        domain::Timestamp now);

}  // namespace store
