#include "api/access/secret_file.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/may_pass.hpp"

namespace api::access {

namespace {

constexpr std::string_view credential_prefix = "credential:";
constexpr mode_t others = S_IRWXO;
const std::string hidden_place =
    "the file (its name is not shown, since it may be the secret itself; a path that begins with "
    "/ or ./ is)";

std::string octal(mode_t mode) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777U));
    return text.data();
}

std::string reason_of(int error) {
    switch (error) {
        case ENOENT:
            return "is not there; create it with mode 0600";
        case EACCES:
            return "may not be read by this process; give it to the user of the service, or let "
                   "systemd pass it on with LoadCredential= and credential:NAME";
        default:
            return std::generic_category().message(error);
    }
}

// A secret that was put where its file's name belongs does not begin like this.
bool is_surely_a_path(std::string_view place) {
    return place.starts_with('/') || place.starts_with("./") || place.starts_with("../");
}

std::optional<std::string> problem_of(const struct stat& status, const std::string& place) {
    if (!S_ISREG(status.st_mode)) return "is no regular file; allowed: a text file";
    if ((status.st_mode & others) != 0) {
        return "has mode " + octal(status.st_mode) +
               ", so that others than its owner and group may use it; run chmod o= " + place;
    }
    if (std::cmp_greater(status.st_size, secret_file_bytes_max)) {
        return "is too large; allowed: " + std::to_string(secret_file_bytes_max) + " bytes";
    }
    return {};
}

// The error number, or 0.
int read_all(int descriptor, std::string& text) {
    std::array<char, 16'384> part;
    int error = 0;
    while (text.size() <= secret_file_bytes_max) {
        const ssize_t count = ::read(descriptor, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) error = errno;
        if (count <= 0) break;
        text.append(part.data(), static_cast<std::size_t>(count));
    }
    ::explicit_bzero(part.data(), part.size());
    return error;
}

}  // namespace

std::variant<std::string, FileProblem> place_of(std::string_view path,
                                                std::string_view credentials_directory) {
    if (!is_credential(path)) return std::string(path);
    const std::string_view name = path.substr(credential_prefix.size());
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos) {
        return FileProblem{std::string(path) +
                           ": is no name of a credential; allowed: a file name"};
    }
    if (credentials_directory.empty()) {
        return FileProblem{std::string(path) +
                           ": there are no credentials; start the service by systemd with "
                           "LoadCredential=" +
                           std::string(name) + ":/path/of/the/file, or name a path"};
    }
    return std::string(credentials_directory).append("/").append(name);
}

bool is_credential(std::string_view path) {
    return path.starts_with(credential_prefix);
}

std::variant<std::string, FileProblem> read_secret_file(std::string_view path,
                                                        std::string_view credentials_directory) {
    auto found = place_of(path, credentials_directory);
    if (auto* problem = std::get_if<FileProblem>(&found)) return std::move(*problem);
    const auto& place = std::get<std::string>(found);
    const auto refused = [&](const std::string& what) { return FileProblem{place + ": " + what}; };
    const auto failed = [&](int error, const std::string& shown) {
        if (!base::may_pass(error)) return FileProblem{shown + ": " + reason_of(error)};
        throw std::system_error(error, std::generic_category(), shown);
    };

    // A pipe without a writer must not hold the start.
    const base::Descriptor file(
        ::open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.get() < 0) return failed(errno, is_surely_a_path(place) ? place : hidden_place);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed(errno, place);
    if (const auto problem = problem_of(status, place)) return refused(*problem);

    std::string text;
    // Room for all at once: growing would leave copies behind.
    text.reserve(static_cast<std::size_t>(status.st_size) + 16'384);
    if (const int error = read_all(file.get(), text); error != 0) {
        wipe(text);
        return failed(error, place);
    }
    if (text.size() > secret_file_bytes_max) {
        wipe(text);
        return refused("grows while it is read");
    }
    return text;
}

void wipe(std::string& text) {
    ::explicit_bzero(text.data(), text.size());
    text.clear();
}

}  // namespace api::access
