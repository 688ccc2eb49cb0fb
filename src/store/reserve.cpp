#include "store/reserve.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "store/private_file.hpp"

namespace store {

Reserve::Reserve(std::filesystem::path path, std::uint64_t bytes)
    : path_(std::move(path)), bytes_(bytes) {
    restore();
}

bool Reserve::release() {
    if (!held_) return false;
    std::error_code error;
    std::filesystem::remove(path_, error);
    held_ = false;
    return !error;
}

bool Reserve::restore() {
    if (held_ || bytes_ == 0) return true;
    const int descriptor = open_private_file(path_);
    if (descriptor < 0) return false;
    held_ = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_)) == 0;
    ::close(descriptor);
    if (!held_) {
        std::error_code error;
        std::filesystem::remove(path_, error);
    }
    return held_;
}

}  // namespace store
