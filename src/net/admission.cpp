#include "net/admission.hpp"

#include <arpa/inet.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace net {

namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

constexpr rlim_t files_max = 1'048'576;
constexpr std::size_t connections_min = 16;

bool is_v4(const std::array<std::uint8_t, 16>& bytes) {
    return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin());
}

}  // namespace

PeerAddress::PeerAddress(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET6) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
        std::memcpy(bytes_.data(), &v6->sin6_addr, bytes_.size());
    } else if (address.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
        std::copy(v4_prefix.begin(), v4_prefix.end(), bytes_.begin());
        std::memcpy(bytes_.data() + v4_prefix.size(), &v4->sin_addr, 4);
    }
    is_local_ = address.ss_family == AF_UNIX;
    network_ = bytes_;
    if (!is_v4(bytes_)) std::fill(network_.begin() + 8, network_.end(), std::uint8_t{0});
}

std::string PeerAddress::text() const {
    if (is_local_) return "local";
    std::array<char, INET6_ADDRSTRLEN> text{};
    const char* written =
        is_v4(bytes_)
            ? ::inet_ntop(AF_INET, bytes_.data() + v4_prefix.size(), text.data(), text.size())
            : ::inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
    return written == nullptr ? std::string() : written;
}

bool Admission::enter(const PeerAddress& peer) {
    if (connections_ >= connections_max_) return false;
    const auto place = by_peer_.try_emplace(peer, 0).first;
    if (place->second >= per_address_max_) {
        if (place->second == 0) by_peer_.erase(place);
        return false;
    }
    ++place->second;
    ++connections_;
    return true;
}

void Admission::leave(const PeerAddress& peer) {
    const auto place = by_peer_.find(peer);
    if (place == by_peer_.end()) return;
    if (--place->second == 0) by_peer_.erase(place);
    --connections_;
}

void raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t raised = std::min(limit.rlim_max, files_max);
    if (limit.rlim_cur >= raised) return;
    limit.rlim_cur = raised;
    // Refused, the limit stays what it was and is dealt with as it is.
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

std::size_t connections_allowed(std::size_t wanted, std::size_t reserved) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
    const auto files = static_cast<std::size_t>(limit.rlim_cur);
    const std::size_t room = files - std::min(reserved, files / 2);
    if (room < connections_min) {
        throw std::runtime_error("the limit of open files is " + std::to_string(files) +
                                 ", which leaves no room for connections; raise it with "
                                 "LimitNOFILE= in the service unit or ulimit -n, 1024 or more");
    }
    return std::min(wanted, room);
}

}  // namespace net
