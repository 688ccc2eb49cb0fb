#include "net/local_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace net {

namespace {

constexpr int local_backlog = 64;

// The address of a file, valid while this lives.
class FileAddress {
public:
    explicit FileAddress(const std::filesystem::path& path) {
        std::string place = path.string();
        if (place.size() >= sizeof address_.sun_path) {
            directory_ = base::Descriptor(
                ::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
            place = "/proc/self/fd/" + std::to_string(directory_.get()) + "/" +
                    path.filename().string();
        }
        fits_ = place.size() < sizeof address_.sun_path;
        address_.sun_family = AF_UNIX;
        if (fits_) std::memcpy(address_.sun_path, place.c_str(), place.size() + 1);
    }

    [[nodiscard]] bool fits() const { return fits_; }
    [[nodiscard]] const char* place() const { return address_.sun_path; }
    [[nodiscard]] const sockaddr* get() const {
        return reinterpret_cast<const sockaddr*>(&address_);
    }
    [[nodiscard]] static socklen_t length() { return sizeof(sockaddr_un); }

private:
    sockaddr_un address_{};
    base::Descriptor directory_;
    bool fits_ = false;
};

base::Descriptor new_socket() {
    return base::Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

[[noreturn]] void can_not_listen(const std::filesystem::path& path, const std::string& reason) {
    throw std::runtime_error("cannot listen on " + path.string() + ": " + reason);
}

[[noreturn]] void can_not_listen(const std::filesystem::path& path, int error) {
    can_not_listen(path, std::generic_category().message(error));
}

// What is no socket is somebody's file, and stays.
void remove_leftover(const std::filesystem::path& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return;
    if (!S_ISSOCK(facts.st_mode))
        can_not_listen(path, "there is a file that is no socket; move it away");
    if (::unlink(path.c_str()) != 0) can_not_listen(path, errno);
}

}  // namespace

base::Descriptor listen_on_file(const std::filesystem::path& path) {
    const FileAddress address(path);
    if (!address.fits()) can_not_listen(path, ENAMETOOLONG);
    remove_leftover(path);
    base::Descriptor socket = new_socket();
    // Nobody can connect before `listen`.
    if (!socket.is_open() || ::bind(socket.get(), address.get(), FileAddress::length()) != 0 ||
        ::chmod(address.place(), S_IRUSR | S_IWUSR) != 0 ||
        ::listen(socket.get(), local_backlog) != 0) {
        can_not_listen(path, errno);
    }
    return socket;
}

bool is_peer_trusted(int socket) {
    ucred peer{};
    socklen_t length = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           (peer.uid == 0 || peer.uid == ::geteuid());
}

base::Descriptor connect_to_file(const std::filesystem::path& path) {
    const FileAddress address(path);
    if (!address.fits()) {
        errno = ENAMETOOLONG;
        return {};
    }
    base::Descriptor socket = new_socket();
    if (socket.is_open() && ::connect(socket.get(), address.get(), FileAddress::length()) != 0) {
        const int reason = errno;
        socket.reset();
        errno = reason;
    }
    return socket;
}

}  // namespace net
