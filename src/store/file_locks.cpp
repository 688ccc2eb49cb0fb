#include "store/file_locks.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace store {

namespace {

struct Range {
    off_t start;
    off_t length;
};

// SQLite's file format, "locking page": pending, reserved and 510 shared bytes.
constexpr Range database_locks{0x40000000, 512};
// Its WAL-index: the eight locks of a log and the byte that says somebody has it open.
constexpr Range index_locks{120, 9};

bool has_lock(const std::string& path, Range range) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = range.start;
    lock.l_len = range.length;
    const bool asked = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0;
    ::close(descriptor);
    return asked && lock.l_type != F_UNLCK;
}

}  // namespace

bool is_open_elsewhere(const std::filesystem::path& database) {
    return has_lock(database.string(), database_locks) ||
           has_lock(database.string() + "-shm", index_locks);
}

bool is_held_elsewhere(const std::filesystem::path& lock_file) {
    const int descriptor = ::open(lock_file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return held;
}

}  // namespace store
