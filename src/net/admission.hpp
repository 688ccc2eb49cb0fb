#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace net {

// Where a connection comes from. IPv6 peers share a key with their /64, which is what one host
// has at its disposal. Those of socket files are all one.
class PeerAddress {
public:
    explicit PeerAddress(const sockaddr_storage& address);

    [[nodiscard]] std::string text() const;
    auto operator<=>(const PeerAddress& other) const { return network_ <=> other.network_; }
    bool operator==(const PeerAddress& other) const { return network_ == other.network_; }

private:
    std::array<std::uint8_t, 16> bytes_{};
    std::array<std::uint8_t, 16> network_{};
    bool is_local_ = false;
};

// Counts open connections, in all and for each peer, against their limits.
class Admission {
public:
    Admission(std::size_t connections_max, std::size_t connections_per_address_max)
        : connections_max_(connections_max), per_address_max_(connections_per_address_max) {}

    [[nodiscard]] bool enter(const PeerAddress& peer);
    void leave(const PeerAddress& peer);
    [[nodiscard]] std::size_t connections() const { return connections_; }

private:
    const std::size_t connections_max_;
    const std::size_t per_address_max_;
    std::size_t connections_ = 0;
    std::map<PeerAddress, std::size_t> by_peer_;
};

// Raises the soft limit of open files to the hard one, at most 1'048'576; lowers nothing.
void raise_file_limit();

// As many of the `wanted` connections as the limit of open files leaves room for beside
// `reserved` descriptors for everything else; at least half of that limit. Throws
// std::runtime_error naming the limit where that is room for fewer than 16.
[[nodiscard]] std::size_t connections_allowed(std::size_t wanted, std::size_t reserved);

}  // namespace net
