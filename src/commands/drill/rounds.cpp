#include "commands/drill/rounds.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace commands::drill {

namespace {

constexpr std::uint64_t start_kill_ms = 150;  // at the latest, while no start was measured

}  // namespace

void Rounds::run(const StartLoad& start_load, Report& report) {
    for (std::uint64_t round = 1; round <= report.rounds; ++round) {
        pace_.begin("round " + std::to_string(round) + " of " + std::to_string(report.rounds),
                    seconds_of_round);
        if (dice_() % 4 == 0) kill_during_start(report);
        kill_under_load(start_load, report);
    }
    report.restart = percentiles(std::move(restarts_));
}

std::chrono::milliseconds Rounds::between(std::uint64_t min_ms, std::uint64_t max_ms) {
    return std::chrono::milliseconds{min_ms + dice_() % (max_ms - min_ms + 1)};
}

void Rounds::kill_during_start(Report& report) {
    Server server(place_);
    const auto usual =
        restarts_.empty() ? start_kill_ms : static_cast<std::uint64_t>(restarts_.back());
    pace_.wait(between(0, usual + usual / 2));
    require_alive(server, notebook_);
    server.child().kill();
    ++report.kills_during_start;
}

void Rounds::kill_under_load(const StartLoad& start_load, Report& report) {
    using Stopwatch = std::chrono::steady_clock;
    const auto begin = Stopwatch::now();
    const auto server = start(place_, wait_);
    const std::chrono::duration<double, std::milli> took = Stopwatch::now() - begin;
    restarts_.push_back(took.count());
    const auto load = start_load(*server);
    const KilledAtEnd killed(server->child());
    pace_.wait(between(200, 1'800));
    if (dice_() % 3 == 0) pause(server->child(), report);
    require_alive(*server, notebook_);
    load->expect_silence();
    server->child().kill();
    ++report.kills_under_load;
}

// Some are killed while they stand still.
void Rounds::pause(Child& child, Report& report) {
    child.pause();
    ++report.pauses;
    pace_.wait(between(50, 900));
    if (dice_() % 3 == 0) return;
    child.resume();
    pace_.wait(between(0, 400));
}

}  // namespace commands::drill
