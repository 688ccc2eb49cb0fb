// A kind is paused: nothing of it begins, and it loses no time.

#include <sqlite3.h>

#include <chrono>
#include <optional>
#include <string>

#include "engine/operations.hpp"
#include "support/answers.hpp"
#include "support/fault_vfs.hpp"
#include "support/is.hpp"
#include "support/world.hpp"

using domain::Family;
using domain::Kind;
using domain::RequestId;
using domain::Status;
using engine::Done;
using engine::InstructionOutcome;
using engine::NotWritten;
using engine::Pause;
using engine::Unpause;
using support::World;
using namespace std::chrono_literals;

namespace {

using engine::Instruction;

InstructionOutcome told(World& world, Instruction::What what) {
    std::optional<InstructionOutcome> outcome;
    world.engine.process().service.instruct(
        {std::move(what), [&outcome](const InstructionOutcome& given) { outcome = given; }});
    if (!outcome) static_cast<void>(world.engine.turn());
    return outcome.value();
}

void pause(World& world, Family family) {
    REQUIRE(is<Done>(told(world, Pause{family})));
}
void resume(World& world, Family family) {
    REQUIRE(is<Done>(told(world, Unpause{family})));
}

void restart(World& world) {
    world.restart();
    auto& process = world.engine.process();
    engine::operations::restore_pauses(process.store.settings(), process.gates);
}

const auto stays_unready = [](const engine::CheckOrder&) { return engine::NotReady{}; };
const auto meets_no_node = [](const engine::PrepareOrder&) { return engine::unreached("no node"); };

// How long it takes until it has ended, to a minute.
domain::Milliseconds patience(World& world, const RequestId& id) {
    domain::Milliseconds passed{0};
    while (!domain::is_terminal(world.status(id))) {
        world.run_for(1min);
        passed += 1min;
        REQUIRE(passed < 100h);
    }
    return passed;
}

}  // namespace

TEST_CASE("what comes in while its kind is paused waits, with the longest Retry-After") {
    for (const Kind kind : domain::kinds) {
        if (kind == Kind::share) continue;
        CAPTURE(to_string(kind));
        World world;
        const Family family = domain::family_of(kind);
        pause(world, family);
        const engine::Accepted accepted =
            support::accepted(world.engine.try_submit(support::request_of(kind, 1)));
        CHECK(accepted.retry_after_seconds == world.engine.options.retry_after.max_seconds);
        world.run_for(10h);
        CHECK(world.gateway.checks.empty());
        CHECK(world.gateway.prepares.empty());
        CHECK_FALSE(domain::is_terminal(world.status(accepted.id)));
        resume(world, family);
        world.run_for(1s);
        support::answer_well(world.gateway, accepted.id, kind);
        world.run_for(1s);
        CHECK(world.status(accepted.id) == Status::completed);
    }
}

TEST_CASE("a pause costs no turns of the loop, and holds up no other kind") {
    World world;
    for (const Family family : {Family::input_proof, Family::public_decrypt, Family::share}) {
        pause(world, family);
    }
    static_cast<void>(world.submit(support::input_proof(1)));
    static_cast<void>(world.submit(support::public_decrypt(1)));
    static_cast<void>(world.submit(support::vote_share(1)));
    const RequestId other = world.submit(support::user_decrypt(1));
    world.run_for(1s);
    CHECK(world.status(other) == Status::receipt_received);
    static_cast<void>(world.engine.turn());
    CHECK(world.engine.turn().length > 100ms);
    CHECK(world.gateway.prepares.size() == 1);
}

TEST_CASE("deadlines stand still while a kind is paused") {
    struct Case {
        std::string label;
        Kind kind;
    };
    for (const Case& one :
         {Case{"not ready", Kind::public_decrypt}, Case{"not ready", Kind::unified_user_decrypt},
          Case{"no node", Kind::input_proof}}) {
        CAPTURE(one.label);
        CAPTURE(to_string(one.kind));
        const auto arrange = [&](World& world) {
            world.engine.options.readiness_attempts_max = 1'000'000;
            world.gateway.on_check = stays_unready;
            world.gateway.on_prepare = meets_no_node;
        };
        World plain;
        arrange(plain);
        const RequestId id = plain.submit(support::request_of(one.kind, 1));
        const domain::Milliseconds whole = patience(plain, id);
        REQUIRE(whole > 4min);
        for (const bool restarts : {false, true}) {
            CAPTURE(restarts);
            World world;
            arrange(world);
            const RequestId same = world.submit(support::request_of(one.kind, 1));
            world.run_for(2min);
            pause(world, domain::family_of(one.kind));
            world.run_for(20h);
            if (restarts) restart(world);
            world.run_for(20h);
            CHECK_FALSE(domain::is_terminal(world.status(same)));
            const std::size_t asked = world.gateway.checks.size() + world.gateway.prepares.size();
            world.run_for(1h);
            CHECK(world.gateway.checks.size() + world.gateway.prepares.size() == asked);
            resume(world, domain::family_of(one.kind));
            const domain::Milliseconds rest = patience(world, same);
            CHECK(rest + 2min >= whole - 1min);
            CHECK(rest + 2min <= whole + 1min);
            CHECK(world.failure(same).reason == plain.failure(id).reason);
        }
    }
}

TEST_CASE("what is signed goes on") {
    World world;
    world.gateway.send_delay = 10s;
    const RequestId id = world.submit(support::input_proof(1));
    world.run_for(1s);
    REQUIRE(world.status(id) == Status::tx_in_flight);
    pause(world, Family::input_proof);
    world.run_for(1s);
    restart(world);
    world.run_for(20s);
    REQUIRE(world.status(id) == Status::receipt_received);
    support::answer_well(world.gateway, id, Kind::input_proof);
    world.run_for(1s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("what was under way when the pause began comes back to its queue") {
    for (const Kind kind : {Kind::public_decrypt, Kind::input_proof}) {
        CAPTURE(to_string(kind));
        World world;
        const auto silent_check = [](const engine::CheckOrder&) { return std::nullopt; };
        const auto silent_plan = [](const engine::PrepareOrder&) { return std::nullopt; };
        world.gateway.on_check = silent_check;
        world.gateway.on_prepare = silent_plan;
        const RequestId id = world.submit(support::request_of(kind, 1));
        world.run_for(1s);
        CHECK(world.engine.process().gates.permits() == 1);
        pause(world, domain::family_of(kind));
        world.run_for(10h);
        CHECK(world.engine.process().gates.permits() == 0);
        CHECK_FALSE(domain::is_terminal(world.status(id)));
        world.gateway.on_check = [](const engine::CheckOrder&) { return engine::Ready{}; };
        world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
        resume(world, domain::family_of(kind));
        world.run_for(1s);
        CHECK(world.status(id) == Status::receipt_received);
    }
}

TEST_CASE("rounds end while shares are paused; those whose round goes on leave afterwards") {
    World world;
    pause(world, Family::share);
    world.engine.vote_end = world.clock.wall() + 1h;
    const RequestId late = world.submit(support::vote_share(1));
    world.run_for(30min);
    CHECK(world.status(late) == Status::queued);
    world.run_for(1h);
    CHECK(world.number("select timed_out from round") == 1);
    CHECK(world.gateway.prepares.empty());

    World other;
    pause(other, Family::share);
    const RequestId share = other.submit(support::vote_share(1));
    other.run_for(1h);
    resume(other, Family::share);
    other.run_for(1min);
    CHECK(other.status(share) == Status::completed);
}

TEST_CASE("pauses are remembered, forgotten when they end, and never half") {
    support::FaultVfs vfs{support::FaultVfs::Memory::none};
    World world;
    world.engine.store_options.vfs = vfs.name();
    world.engine.start();
    const auto paused = [&] { return world.engine.process().gates.paused().size(); };
    pause(world, Family::input_proof);
    pause(world, Family::input_proof);
    restart(world);
    CHECK(paused() == 1);
    vfs.fail({support::FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, true});
    CHECK(is<NotWritten>(told(world, Pause{Family::share})));
    CHECK(paused() == 1);
    CHECK(is<NotWritten>(told(world, Unpause{Family::input_proof})));
    CHECK(paused() == 1);
    vfs.heal();
    world.run_for(1min);
    resume(world, Family::input_proof);
    resume(world, Family::input_proof);
    CHECK(paused() == 0);
    restart(world);
    CHECK(paused() == 0);
    CHECK(world.engine.process().store.settings().empty());
}

TEST_CASE("a signature that takes longer than its lease, fetched while its kind is paused") {
    for (const bool comes_first : {false, true}) {
        CAPTURE(comes_first);
        World world;
        world.engine.options.lease = 2s;
        world.gateway.on_sign = [](std::uint64_t, const engine::Sealed& sealed) {
            return std::optional<engine::SignOutcome>{sealed};
        };
        world.gateway.sign_delay = [](std::uint64_t ticket) { return ticket == 1 ? 10s : 10ms; };
        const RequestId id = world.submit(support::input_proof(1));
        world.run_for(1s);
        pause(world, Family::input_proof);
        world.run_for(comes_first ? 20s : 5s);
        CHECK(world.gateway.dropped.at(0) == 1);
        CHECK(world.gateway.sends.empty());
        resume(world, Family::input_proof);
        world.run_for(1min);
        CHECK(world.status(id) == Status::receipt_received);
        CHECK(world.number("select count(*) from attempt") == 1);
        CHECK(world.engine.process().gates.sends_in_flight() == 0);
    }
}
