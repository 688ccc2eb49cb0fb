#include "store/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace store {

namespace {

void give_to_owner_of_directory(int descriptor, const std::filesystem::path& path) {
    const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
    struct stat directory {};
    if (::stat(parent.c_str(), &directory) != 0 ||
        ::fchown(descriptor, directory.st_uid, directory.st_gid) != 0) {
        // The service will say what it can not open.
    }
}

}  // namespace

int open_private_file(const std::filesystem::path& path, int flags, FileOwner owner) {
    flags |= O_RDWR | O_CREAT | O_CLOEXEC;
    // One that is there stays whose it is: it may be a link to anything.
    const int made = ::open(path.c_str(), flags | O_EXCL, 0600);
    if (made < 0) return errno == EEXIST ? ::open(path.c_str(), flags, 0600) : made;
    if (owner == FileOwner::of_directory && ::geteuid() == 0) {
        give_to_owner_of_directory(made, path);
    }
    return made;
}

}  // namespace store
