// An orderly end: what is still in work when the grace is over is no crash (share-helper 4.4).

#include <chrono>
#include <thread>

#include "support/world.hpp"

using domain::Kind;
using domain::Status;
using engine::CheckOrder;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

// SIGTERM, and nothing reports within the grace.
void stop_at_once(support::World& world) {
    world.engine.process().inbox.stop();
    world.engine.process().processor.run(0ms);
}

void stop_and_start(support::World& world) {
    stop_at_once(world);
    world.restart();
}

void say_nothing(support::World& world) {
    world.gateway.on_check = [](const CheckOrder&) { return std::nullopt; };
    world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
}

void answer_everything(support::World& world) {
    world.gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    world.gateway.on_send = [](const SendOrder& order) {
        return support::ScriptedGateway::receipt(order);
    };
}

}  // namespace

TEST_CASE("work that outlasts the grace again and again is never taken for a crash") {
    struct Row {
        const char* label;
        Kind kind;
        bool reaches_check;
        bool reaches_send;
        Status in_work;
        Status done;
    };
    for (const Row& row : {Row{"a decrypt at readiness", Kind::public_decrypt, false, false,
                               Status::queued, Status::receipt_received},
                           Row{"a decrypt at preparing", Kind::public_decrypt, true, false,
                               Status::processing, Status::receipt_received},
                           Row{"a decrypt at sending", Kind::public_decrypt, true, true,
                               Status::tx_in_flight, Status::receipt_received},
                           Row{"a proof at preparing", Kind::input_proof, true, false,
                               Status::processing, Status::receipt_received},
                           Row{"a share at its proof", Kind::share, true, false, Status::processing,
                               Status::completed},
                           Row{"a share at its reveal", Kind::share, true, true,
                               Status::tx_in_flight, Status::completed}}) {
        CAPTURE(row.label);
        support::World world;
        say_nothing(world);
        if (row.reaches_check) {
            world.gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
        }
        if (row.reaches_send) {
            world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
        }
        const auto id = world.submit(support::request_of(row.kind, 1));
        for (int life = 0; life < 20; ++life) {
            world.run_for(1s);
            REQUIRE(world.status(id) == row.in_work);
            stop_and_start(world);
            CHECK(world.row(id).schedule.claims == 0);
            CHECK(world.engine.recovered.quarantined == 0);
            CHECK(world.engine.recovered.suspects == 0);
        }
        answer_everything(world);
        world.run_for(1s);
        CHECK(world.status(id) == row.done);
        CHECK(world.engine.process().processor.stale_events() == 0);
    }
}

TEST_CASE("what was in work is counted at the next start, however the process ended") {
    struct Row {
        const char* label;
        bool is_orderly;
        int failed_starts;  // no step was made
    };
    for (const Row& row :
         {Row{"killed", false, 0}, Row{"killed, no start gets through", false, 3},
          Row{"stopped", true, 0}, Row{"stopped, no start gets through", true, 3}}) {
        CAPTURE(row.label);
        support::World world;
        say_nothing(world);
        (void)world.submit(support::public_decrypt(1));
        (void)world.submit(support::public_decrypt(2));
        (void)world.submit(support::input_proof(3));
        (void)world.submit(support::vote_share(4));
        (void)world.submit(support::vote_share(5, world.in_seconds(3'600)));
        world.run_for(1s);
        world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
        (void)world.submit(support::input_proof(6));
        world.run_for(1s);
        if (row.is_orderly) stop_at_once(world);
        for (int start = 0; start <= row.failed_starts; ++start) {
            world.restart();
            CHECK(world.engine.recovered.queued == 2);
            CHECK(world.engine.recovered.processing == 1);
            CHECK(world.engine.recovered.in_flight == 1);
            CHECK(world.engine.recovered.shares == 1);
            CHECK(world.engine.recovered.waiting == 0);
        }
        // Once it goes on, what waits in a queue is not in work.
        answer_everything(world);
        world.run_for(1s);
        world.restart();
        CHECK(world.engine.recovered.queued == 0);
        CHECK(world.engine.recovered.processing == 0);
        CHECK(world.engine.recovered.in_flight == 0);
        CHECK(world.engine.recovered.shares == 0);
        CHECK(world.number("select count(*) from setting where name = '~in_work'") == 0);
    }
}

TEST_CASE("an orderly end forgives its own cut, not the crashes before it") {
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::share}) {
        CAPTURE(to_string(kind));
        support::World world;
        say_nothing(world);
        const auto id = world.submit(support::request_of(kind, 1));
        for (int crash = 0; crash < 2; ++crash) {
            world.run_for(1s);
            world.restart();
        }
        for (int life = 0; life < 5; ++life) {
            world.run_for(1s);
            stop_and_start(world);
            CHECK(world.row(id).schedule.claims == 2);
        }
        // Two more crashes make it one that runs alone, and an orderly end lets it stay one.
        for (int crash = 0; crash < 2; ++crash) {
            world.run_for(1s);
            world.restart();
        }
        CHECK(world.engine.recovered.suspects == 1);
        world.run_for(1s);
        stop_and_start(world);
        CHECK(world.engine.recovered.suspects == 1);
        CHECK(world.engine.recovered.quarantined == 0);
        world.run_for(1s);
        world.restart();
        CHECK(world.engine.recovered.quarantined == 1);
        CHECK(world.status(id) == Status::failure);
    }
}

TEST_CASE("what was signed is looked up first after an orderly end, and not signed again") {
    support::World world;
    bool silent = true;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (silent) return std::nullopt;
        return support::ScriptedGateway::receipt(order);
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    REQUIRE(world.gateway.sends.size() == 1);
    stop_and_start(world);
    CHECK(world.engine.recovered.in_flight == 1);
    REQUIRE(world.gateway.resumed.in_flight.size() == 1);
    silent = false;
    world.run_for(1s);
    REQUIRE(world.gateway.sends.size() == 2);
    CHECK(world.gateway.sends[1].order.look_up_first);
    CHECK(world.gateway.sends[1].order.sealed.size() == 1);
    CHECK(world.gateway.sends[1].order.sealed[0].bytes ==
          world.gateway.sends[0].order.sealed[0].bytes);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("the order of acceptance outlives an orderly end") {
    support::World world;
    world.engine.options.sending.input_proof = {1'000, 0, 11'000, 1'000};
    world.engine.options.sends_max = 3;
    say_nothing(world);
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 6; ++number) {
        ids.push_back(world.submit(support::input_proof(number)));
    }
    world.run_for(1s);
    REQUIRE(world.gateway.prepares.size() == 3);
    stop_at_once(world);
    world.crash();
    world.gateway.prepares.clear();
    answer_everything(world);
    world.engine.start();
    world.run_for(1s);
    std::vector<domain::RequestId> order;
    for (const auto& prepared : world.gateway.prepares) order.push_back(prepared.id);
    CHECK(order == ids);
}

TEST_CASE("trouble of a share while the process stops costs nothing, not even when strict") {
    for (const bool strict : {false, true}) {
        for (const bool at_send : {false, true}) {
            CAPTURE(strict);
            CAPTURE(at_send);
            support::World world;
            world.engine.options.shares.strict_attempts = strict;
            bool stopping = true;
            world.gateway.prepare_delay = world.gateway.send_delay = 100ms;
            if (at_send) {
                world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
                    if (stopping) return engine::Unreachable{"stopping"};
                    return support::ScriptedGateway::receipt(order);
                };
            } else {
                world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
                    if (stopping) return engine::Unreachable{"stopping"};
                    return engine::Plan{};
                };
            }
            const auto id = world.submit(support::vote_share(1));
            world.run_for(at_send ? 150ms : 50ms);
            world.engine.process().inbox.stop();
            world.run_for(1s);
            const store::Row row = world.row(id);
            CHECK(row.status == Status::queued);
            CHECK(row.schedule.attempts == 0);
            CHECK(row.schedule.faults == 0);
            CHECK(row.schedule.claims == 0);
            CHECK(world.engine.logger.count("share_") == 0);
            stopping = false;
            world.restart();
            world.run_for(300ms);
            CHECK(world.status(id) == Status::completed);
        }
    }
}

TEST_CASE("P3 stopping the loop makes it return, with and without work in flight") {
    for (const bool busy : {false, true}) {
        CAPTURE(busy);
        support::World world;
        say_nothing(world);
        world.engine.start();
        if (busy) (void)world.submit(support::vote_share(1));
        auto& process = world.engine.process();
        std::jthread loop([&] { process.processor.run(0ms); });
        process.inbox.stop();
        loop.join();
        const auto late = world.engine.process().service.accept(support::input_proof(1));
        CHECK(is<engine::Unavailable>(late));
    }
}
