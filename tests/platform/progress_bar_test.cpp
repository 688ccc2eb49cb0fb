#include "platform/progress_bar.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <string>

#include "support/virtual_time.hpp"

using namespace std::chrono_literals;

namespace {

struct Screen {
    explicit Screen(bool is_terminal) : bar(text, is_terminal, clock) {}

    // What is written by that.
    std::string show(const ports::Done& done) {
        text.str("");
        bar.show(done);
        return text.str();
    }

    support::VirtualClock clock;
    std::ostringstream text;
    platform::ProgressBar bar;
};

}  // namespace

TEST_CASE("on a terminal there is a bar with rate and time left") {
    Screen screen(true);
    screen.clock.advance(1s);
    CHECK(screen.show({"rows", 0, 1'000}) ==
          "\r\x1b[Krows [..............................] 0 %, 0/s\r");
    CHECK(screen.show({"rows", 5, 1'000}).empty());
    screen.clock.advance(10s);
    CHECK(screen.show({"rows", 100, 1'000}) ==
          "\r\x1b[Krows [###...........................] 10 %, 10/s, 1:30 left\r");
    screen.clock.advance(90s);
    CHECK(screen.show({"rows", 1'000, 1'000}) ==
          "\r\x1b[Krows [##############################] 100 %, 10/s, 0:00 left\r");
    CHECK(screen.show({"rows", 1'000, 1'000}).empty());
    // The rate is that of the part.
    screen.clock.advance(1s);
    CHECK(screen.show({"pages", 0, 10}) ==
          "\r\x1b[Kpages [..............................] 0 %, 0/s\r");
    screen.text.str("");
    screen.bar.clear();
    CHECK(screen.text.str() == "\r\x1b[K");
}

TEST_CASE("in a pipe there is a plain line every ten seconds") {
    Screen screen(false);
    screen.clock.advance(1s);
    CHECK(screen.show({"rows", 0, 100'000}).empty());
    screen.clock.advance(9'999ms);
    CHECK(screen.show({"rows", 1, 100'000}).empty());
    screen.clock.advance(1ms);
    CHECK(screen.show({"rows", 100, 100'000}) == "rows 0 %, 10/s, 2:46:30 left\n");
    CHECK(screen.show({"rows", 100, 100'000}).empty());
    screen.clock.advance(10s);
    CHECK(screen.show({"rows", 150'000, 100'000}) == "rows 100 %, 7500/s\n");
    screen.clock.advance(10s);
    CHECK(screen.show({"shares", 12, 0}) == "shares 12, 0/s\n");
    screen.clock.advance(20s);
    CHECK(screen.show({"shares", 40, 80, "2 lost"}) == "shares 50 %, 2 lost, 0:20 left\n");
    screen.text.str("");
    screen.bar.clear();
    CHECK(screen.text.str().empty());

    // Also of a part that has no name yet.
    Screen nameless(false);
    nameless.clock.advance(1h);
    CHECK(nameless.show({"", 0, 0}).empty());
}

TEST_CASE("Ctrl-C and SIGTERM end it at the next look, a second one ends the process") {
    platform::notice_interrupts();
    Screen screen(false);
    CHECK(screen.show({"rows", 0, 1}).empty());
    CHECK(std::raise(SIGINT) == 0);
    CHECK(platform::is_interrupted());
    CHECK_THROWS_AS(static_cast<void>(screen.show({"rows", 0, 1})), platform::Interrupted);
    const bool second_ends_it = std::signal(SIGINT, SIG_DFL) == SIG_DFL;
    CHECK(second_ends_it);
    const bool other_is_noticed = std::signal(SIGTERM, SIG_DFL) != SIG_DFL;
    CHECK(other_is_noticed);
}
