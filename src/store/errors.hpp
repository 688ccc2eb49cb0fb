#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace store {

enum class StorageErrorKind {
    full,     // no space left: the same step may succeed later
    io,       // the disk failed: same
    busy,     // somebody else holds the file: same
    corrupt,  // the file is not what we wrote: nothing it says can be trusted
    other,
};

// As the log says it.
[[nodiscard]] constexpr std::string_view label_of(StorageErrorKind kind) {
    switch (kind) {
        case StorageErrorKind::full:
            return "disk_full";
        case StorageErrorKind::io:
            return "disk_failed";
        case StorageErrorKind::busy:
            return "database_busy";
        case StorageErrorKind::corrupt:
            return "database_damaged";
        case StorageErrorKind::other:
            break;
    }
    return "database_failed";
}

// Every failure of the database leaves this folder as this type, with the first cause in what().
class StorageError : public std::runtime_error {
public:
    StorageError(StorageErrorKind kind, const std::string& what)
        : std::runtime_error(what), kind_(kind) {}

    [[nodiscard]] StorageErrorKind kind() const { return kind_; }

private:
    StorageErrorKind kind_;
};

// The data directory can not be used: owned by another process, on a network file system, made by
// a newer version. what() names the path, the problem and the way out.
class OpenError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace store
