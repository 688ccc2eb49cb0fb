// What an ownership does from the moment it is made. A thread of its own does it, in real time.

#include "commands/ownership.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <variant>

#include "support/simulated_database.hpp"
#include "support/virtual_time.hpp"

namespace {

using namespace std::chrono_literals;

const domain::Bytes32 genesis_hash{1};
constexpr cluster::Instance instance_of_a{0xa};

// Tells of its first renewal.
class LeaseDatabase : public support::SimulatedDatabase {
public:
    using SimulatedDatabase::SimulatedDatabase;

    [[nodiscard]] cluster::Outcome<cluster::Renewed, cluster::Fenced> renew(
        std::int64_t epoch, std::int64_t stable) override {
        auto outcome = SimulatedDatabase::renew(epoch, stable);
        if (!std::exchange(is_told_, true)) first_.set_value();
        return outcome;
    }
    [[nodiscard]] std::future<void> first() { return first_.get_future(); }

private:
    bool is_told_ = false;
    std::promise<void> first_;
};

}  // namespace

TEST_CASE("a lease is renewed as soon as there is an owner, however little is left of it") {
    support::VirtualClock server_clock;
    support::SimulatedServer server{server_clock, 1};
    support::SimulatedDatabase journal(server, "main");
    REQUIRE(std::holds_alternative<cluster::Done>(journal.initialise(genesis_hash)));
    REQUIRE(std::holds_alternative<cluster::Taken>(
        journal.take({.epoch = 0}, {"a", instance_of_a, "https://a"})));

    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingLogger log;
    const base::StopToken stop;
    const store::Options file;
    cluster::Options options;
    options.node = "a";
    options.url = "https://a";
    options.keys = std::make_shared<const cluster::Keys>(domain::Bytes32{});
    options.lease.length = 60s;  // ten seconds from one renewal to the next
    auto lease = std::make_unique<LeaseDatabase>(server, "main");
    const std::future<void> renewed = lease->first();
    const commands::Ownership ownership(
        {{options, file, clock, random, log, stop}, journal, std::move(lease), [] {}},
        instance_of_a, {.epoch = 1, .sent = clock.monotonic()}, {"main", 0, 0, 0, genesis_hash});
    CHECK(renewed.wait_for(8s) == std::future_status::ready);
}
