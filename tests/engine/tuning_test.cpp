#include "engine/tuning.hpp"

#include <sqlite3.h>

#include <chrono>

#include "support/fault_vfs.hpp"
#include "support/world.hpp"

using domain::Kind;
using engine::Retune;
using engine::Tuning;
using support::FaultVfs;
using namespace std::chrono_literals;

namespace {

// Slow enough that every token counts.
void use_rate_of_one(engine::Options& options) {
    options.sends_max = 1'000;
    options.sending.input_proof = {1, 0, 11'000, 0};
    options.sending.public_decrypt = {1, 0, 11'000, 0};
    options.sending.user_decrypt = {1, 0, 11'000, 0};
}

void hand_in_many(support::World& world, Kind kind, std::size_t many) {
    for (std::uint64_t i = 0; i < many; ++i) {
        world.engine.post(support::request_of(kind, 1 + i), [](engine::AcceptOutcome) {});
    }
    world.engine.turn();
}

// Leaves a change for the next step; `told` hears of it.
void post_rate(support::World& world, std::uint32_t rate, std::optional<bool>& told) {
    auto& service = world.engine.process().service;
    Retune change{service.tuning(), {}, {}, [&told](bool stored) { told = stored; }};
    change.tuning.per_seconds = {rate, rate, rate};
    change.remember.push_back({"input_proof_throttler_tps", std::to_string(rate)});
    service.retune(std::move(change));
}

void set_rate(support::World& world, std::uint32_t rate) {
    std::optional<bool> told;
    post_rate(world, rate, told);
    CHECK_FALSE(told.has_value());
    world.engine.turn();
    REQUIRE(told == true);
}

std::string remembered_rate(support::World& world) {
    const auto settings = world.engine.process().store.settings();
    return settings.empty() ? std::string() : settings.front().value;
}

}  // namespace

TEST_CASE("a rate that changes is in force at once, with the tokens that are there (field 48)") {
    support::World world;
    use_rate_of_one(world.engine.options);
    hand_in_many(world, Kind::input_proof, 300);
    CHECK(world.gateway.prepares.size() == 1);
    world.run_for(100ms);
    CHECK(world.gateway.prepares.size() == 1);

    std::optional<bool> told;
    post_rate(world, 50, told);
    const auto wait = world.engine.turn();
    CHECK(told == true);
    // It does not sleep until the token of the old rate.
    CHECK(wait.length <= domain::Milliseconds{20});
    world.engine.turn();
    CHECK(world.gateway.prepares.size() == 1);
    world.run_for(1s);
    CHECK(world.gateway.prepares.size() == 51);

    set_rate(world, 2);
    world.run_for(2s);
    CHECK(world.gateway.prepares.size() == 55);
}

TEST_CASE("a change of something else gives no new burst") {
    support::World world;
    use_rate_of_one(world.engine.options);
    hand_in_many(world, Kind::input_proof, 10);
    set_rate(world, 1);
    world.engine.turn();
    CHECK(world.gateway.prepares.size() == 1);
}

TEST_CASE("T-009 a rate of 1 and at once 1000 are both taken, in one step and in two") {
    for (const bool one_step : {true, false}) {
        CAPTURE(one_step);
        support::World world;
        use_rate_of_one(world.engine.options);
        hand_in_many(world, Kind::input_proof, 500);
        std::optional<bool> first;
        std::optional<bool> second;
        post_rate(world, 1, first);
        if (!one_step) world.engine.turn();
        post_rate(world, 1'000, second);
        world.engine.turn();
        CHECK(first == true);
        CHECK(second == true);
        world.run_for(1s);
        CHECK(world.gateway.prepares.size() == 500);
        CHECK(world.engine.process().service.tuning().per_seconds.input_proof == 1'000);
        CHECK(remembered_rate(world) == "1000");
    }
}

TEST_CASE("a step that is rolled back changes nothing and says so") {
    FaultVfs vfs{FaultVfs::Memory::none};
    support::World world;
    use_rate_of_one(world.engine.options);
    world.engine.store_options.vfs = vfs.name();
    world.engine.start();
    const Tuning before = world.engine.process().service.tuning();

    std::optional<bool> told;
    vfs.fail({FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, true});
    post_rate(world, 50, told);
    world.engine.turn();
    CHECK(told == false);
    CHECK(world.engine.process().service.tuning() == before);

    // In read-only mode: the answer comes on the caller's thread.
    told.reset();
    post_rate(world, 50, told);
    CHECK(told == false);

    vfs.heal();
    world.run_for(11s);
    CHECK(remembered_rate(world).empty());
    CHECK(world.engine.process().service.tuning() == before);
    set_rate(world, 50);
    CHECK(remembered_rate(world) == "50");
}

TEST_CASE("Retry-After follows the rate, for what comes and for what waits") {
    support::World world;
    auto& options = world.engine.options;
    options.sends_max = 0;  // the line stands still
    options.sending.input_proof = {10, 1, 11'000, 0};
    options.retry_after.input_proof_processing = 2'000ms;
    options.retry_after.tx_confirmation = 100ms;
    hand_in_many(world, Kind::input_proof, 100);
    const auto ask = [&] {
        const auto outcome = world.engine.try_submit(support::input_proof(9'999));
        const auto accepted = std::get<engine::Accepted>(outcome);
        const auto found = world.engine.process().service.find(accepted.id);
        CHECK(std::get<engine::Pending>(found).retry_after_seconds == accepted.retry_after_seconds);
        return accepted.retry_after_seconds;
    };
    CHECK(ask() == 15);  // (100 / 10 + 2.1) s · 1.2, rounded up
    set_rate(world, 100);
    CHECK(ask() == 4);  // (100 / 100 + 2.1) s · 1.2

    auto& service = world.engine.process().service;
    Tuning slower = service.tuning();
    slower.retry_after.safety_margin_permille = 1'000;
    slower.retry_after.input_proof_processing = 30'000ms;
    service.retune({slower, {}, {}, [](bool stored) { CHECK(stored); }});
    world.engine.turn();
    CHECK(ask() == 63);  // (1 + 30.1) s · 2
    slower.retry_after.max_seconds = 20;
    service.retune({slower, {}, {}, [](bool stored) { CHECK(stored); }});
    world.engine.turn();
    CHECK(ask() == 20);
}

TEST_CASE("what was remembered outlives a crash until it is forgotten") {
    support::World world;
    set_rate(world, 50);
    world.restart();
    CHECK(remembered_rate(world) == "50");
    auto& service = world.engine.process().service;
    std::optional<bool> told;
    service.retune(
        {service.tuning(), {}, {"input_proof_throttler_tps"}, [&](bool stored) { told = stored; }});
    world.engine.turn();
    CHECK(told == true);
    CHECK(remembered_rate(world).empty());
    world.restart();
    CHECK(remembered_rate(world).empty());
}
