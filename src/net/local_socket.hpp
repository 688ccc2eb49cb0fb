#pragma once

#include <filesystem>

#include "base/descriptor.hpp"

namespace net {

// Socket files (unix(7)), for processes of this machine. Paths may be longer than an address holds
// (107 bytes): those are reached by way of their directory, which needs /proc.

// Listens there, for this user and root alone: the file has mode 0600 before anybody can connect.
// Takes the place of a socket that was left behind; the caller knows that nobody listens on it.
// Throws std::runtime_error naming path and reason.
[[nodiscard]] base::Descriptor listen_on_file(const std::filesystem::path& path);

// Whether the process at the other end is root's or of the user that this one acts for.
[[nodiscard]] bool is_peer_trusted(int socket);

// Closed: errno says why. Never blocks: EAGAIN where too many wait already.
[[nodiscard]] base::Descriptor connect_to_file(const std::filesystem::path& path);

}  // namespace net
