#include "commands/drill/scratch.hpp"

#include <stdlib.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include "store/open_errors.hpp"

namespace commands::drill {

namespace {

std::filesystem::path nearest_directory(const std::filesystem::path& directory) {
    std::filesystem::path path = std::filesystem::absolute(directory).lexically_normal();
    std::error_code ignored;
    while (!std::filesystem::is_directory(path, ignored) && path.has_relative_path()) {
        path = path.parent_path();
    }
    return path;
}

std::string mebibytes(std::uintmax_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

}  // namespace

Scratch::Scratch(const std::filesystem::path& directory, std::uint64_t bytes_min) {
    const std::filesystem::path parent = nearest_directory(directory);
    const std::uintmax_t available = std::filesystem::space(parent).available;
    if (available < bytes_min) {
        throw std::runtime_error("a drill needs " + mebibytes(bytes_min) + " in " +
                                 parent.string() + ", where " + mebibytes(available) +
                                 " are free; make room, or ask for fewer --rounds");
    }
    std::string name = (parent / "posthouse-drill-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        store::refuse_place("can not make a directory in " + parent.string(), parent, errno);
    }
    path_ = name;
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace commands::drill
