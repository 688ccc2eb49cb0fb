#include "bench/scratch.hpp"

#include <linux/magic.h>
#include <stdlib.h>
#include <sys/statfs.h>

#include <cerrno>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>

namespace bench {

Scratch::Scratch(const std::filesystem::path& parent)
    : exceptions_before_(std::uncaught_exceptions()) {
    std::filesystem::create_directories(parent);
    std::string name = (std::filesystem::absolute(parent) / "bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), "can not create " + name);
    }
    path_ = name;
}

Scratch::~Scratch() {
    if (std::uncaught_exceptions() > exceptions_before_) {
        std::cerr << "kept for a look: " << path_.string() << '\n';
        return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::uint64_t bytes_in(const std::filesystem::path& directory) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
}

bool is_in_memory(const std::filesystem::path& directory) {
    struct statfs facts {};
    return ::statfs(directory.c_str(), &facts) == 0 &&
           (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC);
}

}  // namespace bench
