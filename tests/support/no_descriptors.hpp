#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace support {

// While it lives, no file can be opened: EMFILE.
class NoDescriptors {
public:
    NoDescriptors() {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const rlimit none{0, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

}  // namespace support
