#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/bodies.hpp"
#include "bench/http_load.hpp"

namespace bench {

inline constexpr std::size_t many_clients = 64;
inline constexpr std::size_t crowd_clients = 256;

// Throws std::runtime_error unless every answer had this status and contained this text.
class Expectation {
public:
    Expectation(std::string_view who, int status, std::string_view text)
        : who_(who), status_(status), text_(text) {}

    // Before the run.
    void watch(HttpLoad& load);
    // After it.
    void check(const HttpLoad::Outcome& outcome) const;

private:
    std::string_view who_;  // answers
    int status_;
    std::string_view text_;
    std::uint64_t others_ = 0;
    std::string other_;
};

inline const Expectation share_accepted{"posthouse", 200, "\"queued\""};
inline const Expectation job_accepted{"posthouse", 202, "\"jobId\""};

// So many clients, each with a connection of its own, until the slice is over.
[[nodiscard]] HttpLoad::Outcome load_for(int port, std::size_t clients,
                                         const HttpLoad::Request& request,
                                         std::chrono::milliseconds slice, Expectation expectation);

// Whether GET /liveness is answered with 200 on this port of 127.0.0.1.
[[nodiscard]] bool is_alive(int port);

// Shares for seconds far ahead, each another one; nothing is done with them but to store them.
[[nodiscard]] HttpLoad::Request far_shares(Posts& posts);

// A second far ahead and different from share to share, as the shares of real wallets have it.
[[nodiscard]] std::uint64_t far_second(std::uint64_t number);

}  // namespace bench
