#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "ports/heartbeat.hpp"
#include "support/fault_vfs.hpp"
#include "support/world.hpp"

using support::FaultVfs;
using namespace std::chrono_literals;

namespace {

// Keeps when each beat came.
class Beats : public ports::Heartbeat {
public:
    Beats(const ports::Clock& clock, domain::Nanoseconds interval)
        : clock_(clock), interval_(interval) {}

    [[nodiscard]] domain::Nanoseconds interval() const override { return interval_; }
    void beat() override { at_.push_back(clock_.monotonic()); }

    [[nodiscard]] std::size_t count() const { return at_.size(); }
    [[nodiscard]] domain::Nanoseconds longest_pause() const {
        domain::Nanoseconds longest{};
        for (std::size_t i = 1; i < at_.size(); ++i)
            longest = std::max(longest, at_[i] - at_[i - 1]);
        return longest;
    }

private:
    const ports::Clock& clock_;
    const domain::Nanoseconds interval_;
    std::vector<domain::Monotonic> at_;
};

}  // namespace

TEST_CASE("the loop beats on time, whatever else it has to do") {
    struct Row {
        std::string label;
        domain::Nanoseconds interval;
        bool busy;
        bool broken;
    };
    const Row table[] = {
        {"idle", 10s, false, false},          {"idle, often", 100ms, false, false},
        {"idle, seldom", 5min, false, false}, {"under load", 10s, true, false},
        {"a failing disk", 10s, false, true}, {"a failing disk, often", 1s, true, true},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        FaultVfs vfs{FaultVfs::Memory::none};
        support::World world;
        world.engine.store_options.vfs = vfs.name();
        world.engine.options.maintenance_interval = 1h;
        Beats beats{world.clock, row.interval};
        world.engine.heartbeat = &beats;
        if (row.busy) {
            for (int number = 1; number <= 20; ++number) world.submit(support::input_proof(number));
        }
        world.run_for(1s);
        if (row.broken) vfs.fail({FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, true});
        world.run_for(20min);

        CHECK(beats.longest_pause() <= row.interval);
        // Not at every turn: each is a message to the manager.
        const auto most = static_cast<std::size_t>((20min + 1s) / row.interval) + 2;
        CHECK(beats.count() <= most);
        CHECK(beats.count() >= most - 3);
    }
}

TEST_CASE("a loop that does not go round does not beat") {
    support::World world;
    Beats beats{world.clock, 10s};
    world.engine.heartbeat = &beats;
    world.run_for(1min);
    const std::size_t before = beats.count();
    world.clock.advance(1h);
    CHECK(beats.count() == before);
    world.run_for(1s);
    CHECK(beats.count() == before + 1);
}
