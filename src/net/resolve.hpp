#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "net/io_thread.hpp"

// Includes Asio: for the files of net only.
namespace net {

enum class Unresolved { unknown, timed_out, stopped };
using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;

// The addresses of a host, at least one, in the order of the system. The system's look-up can not
// be ended, and Asio's resolver would wait for it: one that is given up goes on on a thread of its
// own and comes to nothing.
[[nodiscard]] boost::asio::awaitable<std::variant<Addresses, Unresolved>> resolve(
    IoThread& thread, const std::string& host, std::uint16_t port,
    std::chrono::steady_clock::time_point deadline);

}  // namespace net
