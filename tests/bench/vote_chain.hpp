#pragma once

#include <httplib.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

#include "bench/bodies.hpp"
#include "bench/posthouse.hpp"

namespace bench {

// A vote chain that takes every reveal at once: what its REST interface says of one round, the one
// of `share`, whose tree has `leaves`. Thread of its own.
class VoteChain {
public:
    VoteChain(const Body& share, std::uint64_t leaves);
    ~VoteChain();
    VoteChain(const VoteChain&) = delete;
    VoteChain& operator=(const VoteChain&) = delete;

    // Shares go there, proved by nobody, as many at once as it has connections for.
    void put_into(Settings& settings) const;

    struct Reveals {
        std::uint64_t different = 0;
        std::uint64_t repeated = 0;
    };
    [[nodiscard]] Reveals reveals() const;

private:
    void take(const httplib::Request& request, httplib::Response& response);

    mutable std::mutex mutex_;  // for what follows
    std::unordered_set<std::string> nullifiers_;
    std::uint64_t repeated_ = 0;

    httplib::Server server_;
    int port_ = 0;
    std::jthread thread_;
};

}  // namespace bench
