#include <chrono>
#include <set>

#include "support/world.hpp"

using domain::Kind;
using domain::Milliseconds;
using domain::Monotonic;
using domain::Reason;
using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

// Thrown out of the step, where a crash would have ended the process.
struct Died {};

void complete(support::World& world, const domain::RequestId& id, Kind kind) {
    support::answer_well(world.gateway, id, kind);
    world.run_for(1ms);
    CHECK(world.status(id) == Status::completed);
}

bool is_same(const engine::Sealed& a, const engine::Sealed& b) {
    return a.nonce == b.nonce && a.hash == b.hash && a.bytes == b.bytes;
}

}  // namespace

TEST_CASE("what the chain refuses fails the request with the chain's words, and costs no retry") {
    const domain::Failure reverted{Reason::reverted,
                                   "Transaction simulation failed: Execution reverted: 0xd93c0665",
                                   0xd93c0665};
    for (const Kind kind : support::relayer_kinds) {
        for (const bool at_send : {false, true}) {
            CAPTURE(to_string(kind));
            CAPTURE(at_send);
            support::World world;
            if (at_send) {
                world.gateway.on_send = [&](const SendOrder&) {
                    return engine::Rejected{reverted};
                };
            } else {
                world.gateway.on_prepare = [&](const PrepareOrder&) {
                    return engine::Rejected{reverted};
                };
            }
            const auto id = world.submit(support::request_of(kind, 1));
            world.run_for(1h);
            CHECK(world.status(id) == Status::failure);
            CHECK(world.failure(id) == reverted);
            CHECK(world.gateway.prepares.size() == 1);
            CHECK(world.gateway.sends.size() == (at_send ? 1 : 0));
            CHECK(world.number("select count(*) from attempt") == (at_send ? 1 : 0));
            CHECK(world.engine.process().gates.sends_in_flight() == 0);
        }
    }
}

TEST_CASE("trouble before anything was signed backs off and the request goes on") {
    support::World world;
    const Monotonic up = world.clock.monotonic() + 25min;
    std::vector<Monotonic> tries;
    world.gateway.prepare_delay = 0ms;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
        tries.push_back(world.clock.monotonic());
        if (world.clock.monotonic() < up) return engine::Unreachable{"connection refused"};
        return engine::Plan{};
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(25min + 30s);
    CHECK(world.status(id) == Status::receipt_received);
    REQUIRE(tries.size() > 10);
    CHECK(tries[1] - tries[0] == 500ms);
    CHECK(tries[4] - tries[3] == 4s);
    CHECK(tries[10] - tries[9] == 30s);
    complete(world, id, Kind::input_proof);
}

TEST_CASE("trouble before anything was signed fails the request half an hour after it began") {
    support::World world;
    world.gateway.prepare_delay = 0ms;
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Unreachable{"down"}; };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(30min - 1ms);
    CHECK(world.status(id) == Status::processing);
    world.run_for(1s);
    CHECK(world.status(id) == Status::failure);
    const domain::Failure failure = world.failure(id);
    CHECK(failure.reason == Reason::send_failed);
    CHECK(failure.text == "Transaction failed: Gas estimation failed after " +
                              std::to_string(world.gateway.prepares.size()) + " retries");
    CHECK(world.gateway.sends.empty());
}

TEST_CASE("a lost reply is looked up and the same bytes are sent, however long it takes") {
    for (const Kind kind : support::relayer_kinds) {
        CAPTURE(to_string(kind));
        support::World world;
        const Monotonic up = world.clock.monotonic() + 3h;
        world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
            if (world.clock.monotonic() < up) return engine::Unreachable{"timeout"};
            return support::ScriptedGateway::receipt(order);
        };
        int seals = 0;
        world.gateway.on_seal = [&] { ++seals; };
        const auto id = world.submit(support::request_of(kind, 1));
        world.run_for(2h + 59min);
        CHECK(world.status(id) == Status::tx_in_flight);
        world.run_for(2min);
        CHECK(world.status(id) == Status::receipt_received);
        CHECK(seals == 1);
        CHECK(world.gateway.prepares.size() == 1);
        REQUIRE(world.gateway.sends.size() > 10);
        const auto& first = world.gateway.sends[0].order;
        for (std::size_t i = 0; i < world.gateway.sends.size(); ++i) {
            const auto& order = world.gateway.sends[i].order;
            REQUIRE(order.look_up_first == (i > 0));
            REQUIRE((order.sends_in_any_second_max > 0) == (i == 0));
            REQUIRE(order.sealed.size() == 1);
            REQUIRE(is_same(order.sealed[0], first.sealed[0]));
            REQUIRE(order.kind == kind);
        }
        complete(world, id, kind);
    }
}

TEST_CASE("a crash after the seal's commit looks up and sends the same bytes, never a new seal") {
    for (const Kind kind : support::relayer_kinds) {
        // Before the transaction left, on its way, and after the chain took it.
        for (const auto moment : {0ms, 5ms}) {
            CAPTURE(to_string(kind));
            CAPTURE(moment.count());
            support::World world;
            int seals = 0;
            world.gateway.on_seal = [&] { ++seals; };
            const auto id = world.submit(support::request_of(kind, 1));
            while (world.gateway.sends.empty()) world.run_for(1ms);
            if (moment > 0ms) world.run_for(moment);
            REQUIRE(world.status(id) == Status::tx_in_flight);
            const engine::Sealed sealed = world.gateway.sends[0].order.sealed[0];

            for (int crash = 1; crash <= 4; ++crash) {
                world.restart();
                CHECK(world.engine.recovered.in_flight == 1);
                CHECK(world.status(id) == Status::processing);
                world.run_for(0ms);
                CHECK(world.status(id) == Status::tx_in_flight);
                REQUIRE(world.gateway.sends.size() == static_cast<std::size_t>(crash) + 1);
                const auto& order = world.gateway.sends.back().order;
                CHECK(order.look_up_first);
                CHECK(order.sends_in_any_second_max == 0);
                REQUIRE(order.sealed.size() == 1);
                CHECK(is_same(order.sealed[0], sealed));
            }
            world.run_for(1s);
            CHECK(seals == 1);
            CHECK(world.gateway.prepares.size() == 1);
            complete(world, id, kind);
        }
    }
}

TEST_CASE("a crash before the seal's commit sends nothing and seals anew after the restart") {
    for (const Kind kind : support::relayer_kinds) {
        CAPTURE(to_string(kind));
        support::World world;
        const auto id = world.submit(support::request_of(kind, 1));
        world.gateway.on_seal = [] { throw Died{}; };
        CHECK_THROWS_AS(world.run_for(1s), Died);
        CHECK(world.gateway.sends.empty());
        world.gateway.on_seal = [] {};
        world.restart();
        CHECK(world.engine.recovered.processing == 1);
        CHECK(world.status(id) == Status::processing);
        CHECK(world.number("select count(*) from attempt") == 0);
        world.run_for(1s);
        REQUIRE(world.gateway.sends.size() == 1);
        CHECK_FALSE(world.gateway.sends[0].order.look_up_first);
        CHECK(world.number("select count(*) from attempt") == 1);
        complete(world, id, kind);
    }
}

TEST_CASE("every hash ever signed stays with the request after it ended") {
    support::World world;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    complete(world, id, Kind::input_proof);
    CHECK(world.number("select count(*) from attempt") == 1);
}

TEST_CASE("a receipt without the request's event is an internal failure") {
    struct Row {
        Kind kind;
        const char* text;
    };
    for (const Row& row :
         {Row{Kind::input_proof, "The receipt holds no event of the request"},
          Row{Kind::public_decrypt, "Processing Failed: The receipt holds no event of the request"},
          Row{Kind::unified_user_decrypt,
              "Processing Failed: The receipt holds no event of the request"}}) {
        CAPTURE(to_string(row.kind));
        support::World world;
        world.gateway.on_send = [](const SendOrder& order) {
            return engine::Receipt{order.sealed[0].hash, {}, {}};
        };
        const auto id = world.submit(support::request_of(row.kind, 1));
        world.run_for(1s);
        CHECK(world.status(id) == Status::failure);
        CHECK(world.failure(id) == domain::Failure{Reason::internal_error, row.text, {}});
    }
}

TEST_CASE("a preparation nobody answers is given up after the lease and started again") {
    support::World world;
    world.engine.options.sends_max = 1;
    bool silent = true;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        if (silent) return std::nullopt;
        return engine::Plan{};
    };
    const auto id = world.submit(support::input_proof(1));
    const auto other = world.submit(support::input_proof(2));
    world.run_for(10min - 1ms);
    CHECK(world.gateway.prepares.size() == 1);
    silent = false;
    world.run_for(2s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.status(other) == Status::receipt_received);
    CHECK(world.engine.process().gates.sends_in_flight() == 0);
}

TEST_CASE("a send nobody answers has an unknown outcome: looked up, same bytes, place given back") {
    support::World world;
    world.engine.options.sends_max = 1;
    bool silent = true;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (silent) return std::nullopt;
        return support::ScriptedGateway::receipt(order);
    };
    const auto id = world.submit(support::input_proof(1));
    const auto other = world.submit(support::input_proof(2));
    world.run_for(10min);
    REQUIRE(world.gateway.sends.size() == 1);
    silent = false;
    world.run_for(2s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.status(other) == Status::receipt_received);
    CHECK(world.engine.process().gates.sends_in_flight() == 0);
    std::size_t looked_up = 0;
    for (const auto& sent : world.gateway.sends) {
        if (sent.order.id == id) looked_up += sent.order.look_up_first ? 1 : 0;
    }
    CHECK(looked_up == 1);
}

TEST_CASE("a late plan for a request that was prepared again does not seal twice") {
    support::World world;
    int seals = 0;
    world.gateway.on_seal = [&] { ++seals; };
    // The plan of the first order comes when the second is under way.
    world.gateway.prepare_delay = 10min + 600ms;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(10min + 550ms);
    REQUIRE(world.gateway.prepares.size() == 2);
    world.run_for(1h);
    CHECK(world.status(id) != Status::processing);
    CHECK(seals == 1);
    CHECK(world.gateway.sends.size() == 1);
    CHECK(world.engine.process().processor.stale_events() > 0);
}

TEST_CASE("a late receipt counts although the send was given up, and the rest is ignored") {
    support::World world;
    world.gateway.send_delay = 10min + 200ms;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(10min + 300ms);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.gateway.sends.size() == 1);
    world.run_for(1min);
    CHECK(world.gateway.sends.size() == 1);
}

TEST_CASE("what may have left goes before what waits") {
    support::World world;
    world.engine.options.sending.input_proof = {1, 1, 11'000, 1'000};
    bool lose = true;
    world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
        if (std::exchange(lose, false)) return engine::Unreachable{"timeout"};
        return support::ScriptedGateway::receipt(order);
    };
    const auto first = world.submit(support::input_proof(1));
    for (std::uint64_t number = 2; number <= 5; ++number) {
        (void)world.submit(support::input_proof(number));
    }
    world.run_for(2s);
    REQUIRE(world.gateway.sends.size() >= 2);
    CHECK(world.gateway.sends[0].order.id == first);
    CHECK(world.gateway.sends[1].order.id == first);
    CHECK(world.gateway.sends[1].order.look_up_first);
}

TEST_CASE("at most so many transactions are in flight, all kinds together") {
    support::World world;
    world.engine.options.sends_max = 5;
    world.gateway.send_delay = 2s;
    for (std::uint64_t number = 1; number <= 20; ++number) {
        (void)world.submit(support::input_proof(number));
        (void)world.submit(support::public_decrypt(number));
        (void)world.submit(support::user_decrypt(number));
    }
    world.run_for(5min);
    CHECK(world.gateway.sends_peak == 5);
    CHECK(world.gateway.sends.size() == 60);
}

TEST_CASE("transactions leave at the rate of their kind, in order of acceptance") {
    support::World world;
    world.engine.options.sending.input_proof = {10, 0, 11'000, 1'000};
    world.engine.options.sending.user_decrypt = {3, 1, 11'000, 1'000};
    world.engine.start();
    std::vector<domain::RequestId> proofs;
    const Monotonic start = world.clock.monotonic();
    for (std::uint64_t number = 1; number <= 40; ++number) {
        const auto keep = [&](engine::AcceptOutcome outcome) {
            proofs.push_back(std::get<engine::Accepted>(outcome).id);
        };
        world.engine.post(support::input_proof(number), keep);
        world.engine.post(support::user_decrypt(number), [](engine::AcceptOutcome) {});
    }
    world.run_for(1min);
    std::vector<domain::RequestId> sent_proofs;
    std::vector<Milliseconds> user_times;
    std::size_t in_first_second = 0;
    for (const auto& sent : world.gateway.sends) {
        if (sent.order.kind == Kind::input_proof) {
            sent_proofs.push_back(sent.order.id);
            in_first_second += sent.when < start + 1s ? 1 : 0;
        } else {
            user_times.push_back(std::chrono::duration_cast<Milliseconds>(sent.when - start));
        }
    }
    CHECK(sent_proofs == proofs);
    CHECK(in_first_second == 19);
    for (const auto& sent : world.gateway.sends) {
        const bool is_proof = sent.order.kind == Kind::input_proof;
        REQUIRE(sent.order.sends_in_any_second_max == (is_proof ? 10 + 10 : 3 + 1));
    }
    REQUIRE(user_times.size() == 40);
    // Third of a second by third of a second, and exact in the long run.
    CHECK(user_times[39] - user_times[0] == 13s);
    CHECK(user_times[30] - user_times[0] == 10s);
}
