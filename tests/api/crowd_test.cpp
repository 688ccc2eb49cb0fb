// Clients that hold connections without using them (field report 61). The only test here that lets
// real time pass.

#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Harness;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t other_address = INADDR_LOOPBACK + 1;  // 127.0.0.2
constexpr auto deadline = 700ms;

std::chrono::milliseconds time_of(const std::function<void()>& call) {
    const auto begin = Clock::now();
    call();
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
}

TEST_CASE("200 idle and 200 dripping clients of two addresses hold up nobody (field report 61)") {
    Harness harness({}, {.request_deadline = deadline});
    const int port = harness.server.port();
    const std::string start =
        "POST /v2/input-proof HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: 100000\r\n\r\n";
    std::deque<net::RawClient> idle;
    std::deque<net::RawClient> drippers;
    for (int i = 0; i < 200; ++i) {
        const std::uint32_t address = i % 2 == 0 ? INADDR_ANY : other_address;
        idle.emplace_back(port, 0, address);
        REQUIRE(idle.back().ask(net::get("/liveness")));
        drippers.emplace_back(port, 0, address).send(start);
    }

    const std::string proof = api_test::sample("input-proof-1-value.json");
    // What the machine makes of it without them.
    std::chrono::milliseconds quiet{};
    for (int i = 0; i < 50; ++i) {
        quiet = std::max(quiet, time_of([&] { CHECK(harness.get("/liveness").status == 200); }));
    }
    std::vector<std::chrono::milliseconds> liveness;
    std::vector<std::chrono::milliseconds> posts;
    const auto begin = Clock::now();
    std::size_t cut = 0;
    while (cut < drippers.size() && Clock::now() < begin + 20s) {
        cut = 0;
        for (auto& dripper : drippers) {
            if (dripper.is_readable(0)) {
                ++cut;
            } else {
                dripper.send("x");
            }
        }
        liveness.push_back(time_of([&] { CHECK(harness.get("/liveness").status == 200); }));
        posts.push_back(
            time_of([&] { CHECK(harness.post("/v2/input-proof", proof).status == 202); }));
    }
    CHECK(Clock::now() - begin >= deadline - 200ms);  // the first ones began a little earlier
    CHECK(cut == 200);
    for (auto& dripper : drippers) {
        const auto answer = dripper.answer();
        REQUIRE(answer);
        CHECK(answer->status == 400);
        CHECK(answer->body.find("request_error") != std::string::npos);
    }
    REQUIRE(posts.size() > 3);
    CHECK(*std::max_element(liveness.begin(), liveness.end()) <
          std::max<Clock::duration>(500ms, 5 * quiet));
    std::sort(posts.begin(), posts.end());
    CHECK(posts[posts.size() * 99 / 100] < 1s);
    // Who was merely idle is still welcome.
    for (auto& client : idle) CHECK(client.ask(net::get("/liveness"))->status == 200);
}

}  // namespace
