#include "config/admin_token.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace config {
namespace {

constexpr std::size_t bytes_min = 16;
constexpr std::size_t bytes_max = 4'096;

class OpenFile {
public:
    explicit OpenFile(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

class Refusal {
public:
    explicit Refusal(std::string path) : path_(std::move(path)) {}
    [[noreturn]] void operator()(const std::string& reason) const {
        throw std::runtime_error("http.admin_token_file: " + path_ + ": " + reason);
    }

private:
    std::string path_;
};

std::string path_of(const std::string& place) {
    constexpr std::string_view credential = "credential:";
    if (!place.starts_with(credential)) return place;
    const std::string name = place.substr(credential.size());
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) {
        Refusal{place}("is no name of a credential");
    }
    const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
    if (directory == nullptr || *directory == '\0') {
        Refusal{place}(
            "CREDENTIALS_DIRECTORY is not set: start it by systemd with LoadCredential=" + name +
            ":PATH");
    }
    return std::string(directory) + "/" + name;
}

void check_mode(const OpenFile& file, const Refusal& refuse) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) refuse(std::generic_category().message(errno));
    if (!S_ISREG(status.st_mode)) refuse("is no regular file");
    if ((status.st_mode & S_IRWXO) != 0) refuse("is open to every user: chmod o-rwx it");
}

std::string content_of(const OpenFile& file, const Refusal& refuse) {
    std::string content;
    std::array<char, bytes_max + 2> chunk{};
    while (content.size() <= bytes_max + 1) {
        const auto count = ::read(file.get(), chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse(std::generic_category().message(errno));
        if (count == 0) break;
        content.append(chunk.data(), static_cast<std::size_t>(count));
    }
    content.resize(content.find_last_not_of(" \t\r\n") + 1);
    return content;
}

}  // namespace

std::optional<std::string> problem_of_token(std::string_view token) {
    if (token.size() < bytes_min) return "is shorter than 16 characters";
    if (token.size() > bytes_max) return "is longer than 4096 characters";
    if (std::ranges::any_of(token, [](char c) { return c <= ' ' || c > '~'; })) {
        return "holds characters that are not visible ASCII";
    }
    return std::nullopt;
}

std::string read_token_file(const std::string& place) {
    const std::string path = path_of(place);
    const Refusal refuse{path};
    const OpenFile file{path};
    if (file.get() < 0) refuse(std::generic_category().message(errno));
    check_mode(file, refuse);
    std::string token = content_of(file, refuse);
    if (const auto problem = problem_of_token(token)) refuse("the token in it " + *problem);
    return token;
}

}  // namespace config
