#include "bench/load.hpp"

#include <stdexcept>
#include <string>

#include "bench/child.hpp"

namespace bench {

void Expectation::watch(HttpLoad& load) {
    load.on_answer([this](std::size_t, int status, std::string_view body) {
        if (status == status_ && body.find(text_) != std::string_view::npos) return;
        if (others_++ == 0) other_ = std::to_string(status) + " " + std::string(body);
    });
}

void Expectation::check(const HttpLoad::Outcome& outcome) const {
    if (others_ > 0) {
        throw std::runtime_error(std::string(who_) + ": " + std::to_string(others_) + " of " +
                                 std::to_string(outcome.answers) +
                                 " answers are not as expected, the first: " + other_);
    }
    // The library under the empty handler now and then closes a connection; that is part of its
    // figure.
    if (outcome.reconnects > 0 && who_ == "posthouse") {
        throw std::runtime_error(std::string(who_) + " closed " +
                                 std::to_string(outcome.reconnects) + " connections");
    }
}

HttpLoad::Outcome load_for(int port, std::size_t clients, const HttpLoad::Request& request,
                           std::chrono::milliseconds slice, Expectation expectation) {
    HttpLoad load({.host = "127.0.0.1", .port = port, .connections = clients}, request);
    // Not counted: the library's short listen queue may refuse some of so many at once.
    static_cast<void>(load.run(clients));
    expectation.watch(load);
    HttpLoad::Outcome outcome = load.run_for(slice);
    expectation.check(outcome);
    return outcome;
}

bool is_alive(int port) {
    if (!is_listening(port)) return false;
    constexpr std::string_view request = "GET /liveness HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    HttpLoad load({.host = "127.0.0.1", .port = port, .connections = 1},
                  [](std::size_t, std::uint64_t) { return request; });
    return load.run(1).by_status.contains(200);
}

HttpLoad::Request far_shares(Posts& posts) {
    return [&posts](std::size_t connection, std::uint64_t) {
        return posts.next(connection, far_second(posts.next_number()));
    };
}

std::uint64_t far_second(std::uint64_t number) {
    constexpr std::uint64_t last_second = 4'102'444'800;
    constexpr std::uint64_t spread = 1U << 21U;  // 24 days
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
    return last_second - number * odd % spread;
}

}  // namespace bench
