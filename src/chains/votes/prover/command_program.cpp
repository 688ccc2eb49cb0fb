#include "chains/votes/prover/command_program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace chains::votes::prover {
namespace {

constexpr std::string_view usual_path = "/usr/local/bin:/usr/bin:/bin";
constexpr std::array<std::string_view, 4> passed_always{"PATH", "HOME", "LANG", "TMPDIR"};

enum class Found { program, nothing, not_executable };

Found look_at(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return errno == EACCES ? Found::not_executable : Found::nothing;
    }
    const bool executable =
        S_ISREG(status.st_mode) && ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
    return executable ? Found::program : Found::not_executable;
}

// Nobody changes the environment of this process, so any thread may read it.
const char* variable(const char* name) {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

std::string search_path() {
    const char* const path = variable("PATH");
    return path == nullptr || *path == '\0' ? std::string(usual_path) : std::string(path);
}

std::vector<std::string> places_of(const std::string& name) {
    if (name.find('/') != std::string::npos) return {name};
    std::vector<std::string> places;
    const std::string path = search_path();
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const std::string folder = path.substr(begin, end - begin);
        places.push_back((folder.empty() ? "." : folder) + "/" + name);
        begin = end + 1;
    }
    return places;
}

std::string find_program(const std::string& name) {
    bool is_there = false;
    for (const std::string& place : places_of(name)) {
        const Found found = look_at(place);
        if (found == Found::program) return place;
        is_there = is_there || found == Found::not_executable;
    }
    throw std::invalid_argument("prover command \"" + name +
                                (is_there ? "\" may not be executed" : "\" is not found"));
}

bool names(const std::string& entry, std::string_view name) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
}

std::vector<std::string> environment_of(const std::vector<std::string>& more) {
    std::vector<std::string> environment{"PATH=" + search_path()};
    const auto pass = [&environment](const std::string& name) {
        const char* const value = variable(name.c_str());
        const bool is_there = std::ranges::any_of(
            environment, [&name](const std::string& entry) { return names(entry, name); });
        if (value != nullptr && !is_there) environment.push_back(name + "=" + value);
    };
    for (const std::string_view name : passed_always) pass(std::string(name));
    for (const std::string& name : more) {
        if (name.empty() || name.find('=') != std::string::npos) {
            throw std::invalid_argument("\"" + name + "\" is no name of an environment variable");
        }
        pass(name);
    }
    return environment;
}

}  // namespace

CommandProgram command_program(const ProverOptions& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw std::invalid_argument("prover command is empty");
    }
    return {find_program(options.command.front()), options.command,
            environment_of(options.pass_environment), options.memory_bytes_max};
}

}  // namespace chains::votes::prover
