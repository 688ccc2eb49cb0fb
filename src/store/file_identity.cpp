#include "store/file_identity.hpp"

#include <sys/stat.h>

#include <utility>

namespace store {

FileIdentity::FileIdentity(std::filesystem::path path) : path_(std::move(path)) {
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0) return;  // no file has these numbers
    device_ = status.st_dev;
    inode_ = status.st_ino;
}

bool FileIdentity::is_unchanged() const {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
           status.st_ino == inode_;
}

}  // namespace store
