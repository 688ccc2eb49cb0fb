#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "commands/drill/load.hpp"
#include "commands/drill/pace.hpp"
#include "commands/drill/report.hpp"
#include "commands/drill/server.hpp"

namespace commands::drill {

inline constexpr double seconds_of_round = 1.4;  // on a machine that is not slow

// Starts one posthouse again and again, kills it under load at random moments, at times while it
// starts or stands still, and reports how often and how soon it was back.
class Rounds {
public:
    using StartLoad = std::function<std::unique_ptr<Load>(Server&)>;

    // All outlive it.
    Rounds(const Place& place, Pace& pace, Notebook& notebook, std::mt19937_64& dice)
        : place_(place), pace_(pace), notebook_(notebook), dice_(dice) {}

    // As many as the report says.
    void run(const StartLoad& start_load, Report& report);

private:
    [[nodiscard]] std::chrono::milliseconds between(std::uint64_t min_ms, std::uint64_t max_ms);
    void kill_during_start(Report& report);
    void kill_under_load(const StartLoad& start_load, Report& report);
    void pause(Child& child, Report& report);

    const Place& place_;
    Pace& pace_;
    Notebook& notebook_;
    std::mt19937_64& dice_;
    const Wait wait_ = [this](std::chrono::milliseconds time) { pace_.wait(time); };
    std::vector<double> restarts_;  // milliseconds
};

}  // namespace commands::drill
