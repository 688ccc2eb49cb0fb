#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "support/world.hpp"

using domain::Kind;
using domain::Reason;
using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::Reseal;
using engine::SendOrder;
using engine::SendOutcome;
using engine::Unreachable;
using namespace std::chrono_literals;

TEST_CASE("another transaction of a request is committed before it leaves, beside the first") {
    support::World world;
    int asked = 0;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (++asked <= 2) {
            return Reseal{{{7, static_cast<std::uint8_t>(asked)}}, order.sealed.size()};
        }
        engine::Receipt receipt{order.sealed[1].hash, {}, {}};
        receipt.reference = support::ScriptedGateway::reference_of(order.id);
        return receipt;
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
    REQUIRE(world.gateway.sends.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const SendOrder& order = world.gateway.sends[i].order;
        CHECK(order.sealed.size() == i + 1);
        CHECK_FALSE(order.look_up_first);
        CHECK(order.tries == 0);
        for (const engine::Sealed& sealed : order.sealed) {
            CHECK_FALSE(sealed.bytes.empty());
            CHECK(sealed.at <= world.clock.wall());
            CHECK(sealed.at > world.clock.wall() - 2s);
        }
    }
    CHECK(world.gateway.plans[1].bytes == domain::Bytes{7, 1});
    CHECK(world.gateway.plans[2].bytes == domain::Bytes{7, 2});
    CHECK(world.number("select count(*) from attempt") == 3);
    CHECK(world.gateway.kept > 0);
}

TEST_CASE("every transaction ever sealed is looked up after a crash") {
    support::World world;
    std::string account;
    SUBCASE("of an account") {
        account = "0xA";
    }
    SUBCASE("of nobody who is known: the bytes say whose it is") {}
    world.gateway.account = account;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (order.sealed.size() < 3) return Reseal{{{1}}, order.sealed.size()};
        return std::nullopt;
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.crash();
    world.gateway.sends.clear();
    world.gateway.on_send = [](const SendOrder& order) {
        return support::ScriptedGateway::receipt(order);
    };
    world.engine.start();
    REQUIRE(world.gateway.resumed.in_flight.size() == 3);
    std::set<std::uint64_t> nonces;
    for (const engine::Sealed& sealed : world.gateway.resumed.in_flight) {
        nonces.insert(sealed.nonce);
        CHECK(sealed.account == account);
        CHECK(sealed.bytes.empty() == !account.empty());
    }
    CHECK(nonces.size() == 3);
    world.run_for(1s);
    REQUIRE(world.gateway.sends.size() == 1);
    CHECK(world.gateway.sends[0].order.look_up_first);
    CHECK(world.gateway.sends[0].order.sealed.size() == 3);
    CHECK(world.status(id) == Status::receipt_received);
    world.restart();
    CHECK(world.gateway.resumed.in_flight.empty());
}

TEST_CASE("a request keeps its place in flight while it is sealed again") {
    support::World world;
    world.engine.options.sends_max = 1;
    int asked = 0;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (++asked == 1) return Reseal{{{1}}, order.sealed.size()};
        return support::ScriptedGateway::receipt(order);
    };
    world.submit(support::input_proof(1));
    world.submit(support::input_proof(2));
    world.run_for(1s);
    CHECK(world.gateway.sends_peak <= 2);
    CHECK(world.number("select count(*) from request where status = 'receipt_received'") == 2);
    REQUIRE(world.gateway.sends.size() == 3);
    CHECK(world.gateway.sends[0].order.id == world.gateway.sends[1].order.id);
}

TEST_CASE("a plan that comes late seals nothing") {
    support::World world;
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    const auto order = world.gateway.sends.at(0).order;
    world.engine.process().inbox.sent({{id, support::ScriptedGateway::receipt(order)}});
    world.run_for(0ms);
    REQUIRE(world.status(id) == Status::receipt_received);
    world.engine.process().inbox.sent({{id, Reseal{{{9}}, 1}}});
    world.run_for(0ms);
    CHECK(world.number("select count(*) from attempt") == 1);
}

TEST_CASE("how often a send met trouble is told with the order") {
    support::World world;
    std::vector<std::uint32_t> tries;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        tries.push_back(order.tries);
        if (tries.size() <= 3) return Unreachable{"away"};
        return support::ScriptedGateway::receipt(order);
    };
    world.submit(support::input_proof(1));
    world.run_for(1min);
    CHECK(tries == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("while the chain asked to wait nobody is sent, and then everybody (field report 71)") {
    support::World world;
    std::vector<domain::Monotonic> times;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        times.push_back(world.clock.monotonic());
        if (times.size() == 1) {
            Unreachable throttled{"asked to wait"};
            throttled.hold = 7s;
            return throttled;
        }
        return support::ScriptedGateway::receipt(order);
    };
    world.submit(support::input_proof(1));
    world.run_for(100ms);
    for (std::uint64_t number = 2; number <= 5; ++number) {
        world.submit(support::input_proof(number));
        world.submit(support::public_decrypt(number));
    }
    world.run_for(30s);
    REQUIRE(times.size() == 10);
    for (std::size_t i = 1; i < times.size(); ++i) {
        CHECK(times[i] - times[0] >= 7s);
        CHECK(times[i] - times[0] < 8s);
    }
    CHECK(world.number("select count(*) from request where status = 'receipt_received'") == 9);
}

TEST_CASE("a preparation with a patience of its own ends with its verdict") {
    support::World world;
    const domain::Failure verdict{Reason::rpc_error, "RPC error: unknown block", {}};
    int tries = 0;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        ++tries;
        return Unreachable{"refused", verdict, 4};
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(10min);
    CHECK(tries == 4);
    CHECK(world.status(id) == Status::failure);
    CHECK(world.failure(id) == verdict);
}

TEST_CASE("a preparation that only has a deadline ends with the verdict of its last trouble") {
    support::World world;
    const domain::Failure verdict{Reason::reverted, "not there", 0x0666cbdf};
    world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        return Unreachable{"not there", verdict};
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(29min);
    CHECK(world.status(id) == Status::processing);
    world.run_for(2min);
    CHECK(world.failure(id) == verdict);
}

TEST_CASE("what was signed is not given up early: others wait behind its nonce") {
    support::World world;
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    const auto id = world.submit(support::input_proof(1));
    for (int crash = 0; crash < 8; ++crash) {
        world.run_for(1s);
        REQUIRE(world.status(id) == Status::tx_in_flight);
        world.restart();
    }
    CHECK(world.engine.recovered.quarantined == 0);
    CHECK(world.engine.recovered.suspects == 0);
    world.gateway.on_send = [](const SendOrder& order) {
        return support::ScriptedGateway::receipt(order);
    };
    world.restart();
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("no family takes all places in flight") {
    support::World world;
    world.engine.options.sends_max = 3;
    world.engine.options.sending.public_decrypt.per_seconds = 1'000;
    world.engine.options.sending.user_decrypt.per_seconds = 1'000;
    world.engine.options.sending.input_proof.per_seconds = 1'000;
    world.gateway.send_delay = 100ms;
    for (std::uint64_t number = 1; number <= 100; ++number) {
        world.submit(support::public_decrypt(number));
        world.submit(support::user_decrypt(number));
        world.submit(support::input_proof(number));
    }
    world.gateway.sends.clear();
    world.run_for(5s);
    std::map<Kind, std::size_t> sent;
    for (const auto& send : world.gateway.sends) ++sent[send.order.kind];
    const std::size_t all = world.gateway.sends.size();
    REQUIRE(all >= 60);
    CHECK(sent.size() == 3);
    for (const auto& [kind, count] : sent) CHECK(count * 4 >= all);
}

TEST_CASE("of two orders that both ask for another transaction one is too late") {
    support::World world;
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    world.engine.options.lease = 5s;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    // The lease ends, and the work is given out again.
    for (int look = 0; look < 200 && world.gateway.sends.size() < 2; ++look) world.run_for(50ms);
    REQUIRE(world.gateway.sends.size() == 2);
    auto& inbox = world.engine.process().inbox;
    inbox.sent({{id, Reseal{{{1}}, 1}}});
    world.run_for(0ms);
    inbox.sent({{id, Reseal{{{2}}, 1}}});
    world.run_for(0ms);
    CHECK(world.number("select count(*) from attempt") == 2);
    CHECK(world.status(id) == Status::tx_in_flight);
}
