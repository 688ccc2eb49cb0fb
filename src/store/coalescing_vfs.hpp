#pragma once

#include <string>

namespace store {

// A VFS of SQLite that hands everything on to the one called `below` (empty: the default), except
// that what a transaction appends to the write-ahead log is written with few calls: SQLite makes
// two for each page. It is written when the frame that commits is complete, before SQLite tells
// anybody of it: flushes, reads, other connections and errors are as without it. What is not
// written when the lock for writing is given back was taken back, and is dropped.
// Sources: "WAL File Format", sqlite.org/fileformat2.html; "WAL-mode File Format",
// sqlite.org/walformat.html, on locks.
//
// Returns its name; registers it the first time. Any thread. Throws std::runtime_error when there
// is no such VFS below.
[[nodiscard]] std::string coalescing_vfs(const std::string& below);

}  // namespace store
