#include <chrono>
#include <map>
#include <set>
#include <vector>

#include "support/world.hpp"

// A signer that is not in the process: what it says comes between two commits.

using domain::Reason;
using domain::Status;
using engine::Sealed;
using engine::SendOrder;
using engine::SendOutcome;
using engine::SignOutcome;
using engine::Unreachable;
using namespace std::chrono_literals;

namespace {

std::optional<SignOutcome> sign(std::uint64_t, const Sealed& sealed) {
    return sealed;
}

std::optional<SignOutcome> out_of_reach(std::uint64_t, const Sealed&) {
    return engine::unreached("the signer: connection refused");
}

}  // namespace

TEST_CASE("a signature that is fetched is committed before anything leaves") {
    support::World world;
    world.gateway.on_sign = [&](std::uint64_t ticket, const Sealed& sealed) {
        CHECK(world.gateway.sends.empty());
        CHECK(world.number("select count(*) from attempt") == 0);
        CHECK(world.number("select count(*) from request where status = 'processing'") == 1);
        return sign(ticket, sealed);
    };
    world.gateway.sign_delay = [](std::uint64_t) { return 300ms; };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
    REQUIRE(world.gateway.sends.size() == 1);
    CHECK(world.gateway.sends[0].order.sealed.size() == 1);
    CHECK_FALSE(world.gateway.sends[0].order.look_up_first);
    CHECK(world.number("select count(*) from attempt") == 1);
    CHECK(world.gateway.dropped.empty());
}

TEST_CASE("while fifty signatures are under way commits and other requests do not wait") {
    support::World world;
    world.engine.options.sends_max = 60;
    for (auto* gate : {&world.engine.options.sending.input_proof}) {
        gate->per_seconds = 1'000;
        gate->burst = 1'000;
    }
    world.gateway.on_sign = sign;
    world.gateway.sign_delay = [](std::uint64_t) { return 300ms; };
    std::vector<domain::RequestId> ids;
    for (int i = 1; i <= 50; ++i) {
        ids.push_back(world.submit(support::input_proof(static_cast<std::uint8_t>(i))));
    }
    world.run_for(100ms);
    CHECK(world.gateway.sends.empty());
    // Accepted and checked meanwhile.
    const auto decrypt = world.submit(support::public_decrypt(1));
    world.run_for(50ms);
    CHECK(world.gateway.checks.size() == 1);
    CHECK(world.number("select count(*) from request") == 51);
    world.run_for(300ms);
    CHECK(world.gateway.sends.size() >= 50);
    for (const auto& id : ids) CHECK(world.status(id) == Status::receipt_received);
    world.run_for(1s);
    CHECK(world.status(decrypt) == Status::receipt_received);
}

TEST_CASE("a signer out of reach is a pause that grows, and a failure only after the limit") {
    support::World world;
    std::vector<domain::Monotonic> asked;
    world.gateway.on_sign = [&](std::uint64_t ticket, const Sealed& sealed) {
        asked.push_back(world.clock.monotonic());
        return out_of_reach(ticket, sealed);
    };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(20min);
    CHECK(world.status(id) == Status::processing);
    CHECK(world.number("select count(*) from attempt") == 0);
    REQUIRE(asked.size() > 8);
    CHECK(asked[1] - asked[0] >= 500ms);
    CHECK(asked[1] - asked[0] < 1s);
    CHECK(asked[8] - asked[7] >= 29s);
    SUBCASE("it comes back") {
        world.gateway.on_sign = sign;
        world.run_for(1min);
        CHECK(world.status(id) == Status::receipt_received);
    }
    SUBCASE("it does not") {
        world.run_for(11min);
        CHECK(world.status(id) == Status::failure);
        CHECK(world.failure(id).reason == Reason::unreachable);
    }
}

TEST_CASE("an answer for another ticket, or none that is waited for, stores nothing") {
    support::World world;
    world.gateway.on_sign = [](std::uint64_t, const Sealed&) { return std::nullopt; };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    CHECK(world.status(id) == Status::processing);
    Sealed late;
    late.nonce = 7;
    late.bytes = {1, 2, 3};
    auto& inbox = world.engine.process().inbox;
    SUBCASE("another ticket") {
        inbox.sealed({{id, 99, late}});
        world.run_for(0ms);
        CHECK(world.gateway.dropped == std::vector<std::uint64_t>{99});
        CHECK(world.number("select count(*) from attempt") == 0);
        // The right one still counts.
        inbox.sealed({{id, 1, late}});
        world.run_for(10ms);
        CHECK(world.number("select count(*) from attempt") == 1);
        // A second time it does not.
        inbox.sealed({{id, 1, late}});
        world.run_for(10ms);
        CHECK(world.number("select count(*) from attempt") == 1);
        CHECK(world.gateway.dropped == std::vector<std::uint64_t>{99, 1});
    }
    SUBCASE("after the lease") {
        world.run_for(world.engine.options.lease + 1s);
        REQUIRE(world.gateway.dropped == std::vector<std::uint64_t>{1});
        inbox.sealed({{id, 1, late}});
        world.run_for(0ms);
        CHECK(world.number("select count(*) from attempt") == 0);
        CHECK(world.gateway.sends.empty());
        world.gateway.on_sign = sign;
        world.run_for(world.engine.options.lease + 1min);
        CHECK(world.status(id) == Status::receipt_received);
        CHECK(world.number("select count(*) from attempt") == 1);
    }
    SUBCASE("of a request nobody knows") {
        domain::RequestId stranger = id;
        stranger.sequence += 100;
        inbox.sealed({{stranger, 1, late}});
        world.run_for(0ms);
        CHECK(world.number("select count(*) from attempt") == 0);
        CHECK(world.gateway.dropped == std::vector<std::uint64_t>{1});
    }
}

TEST_CASE("a raise is fetched the same way, with its place in flight kept") {
    support::World world;
    world.engine.options.sends_max = 1;
    int asked = 0;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (++asked == 1) return engine::Reseal{{{1}}, order.sealed.size()};
        return support::ScriptedGateway::receipt(order);
    };
    world.gateway.sign_delay = [](std::uint64_t) { return 300ms; };
    world.gateway.on_sign = sign;
    SUBCASE("it comes") {
        world.submit(support::input_proof(1));
        world.submit(support::input_proof(2));
        world.run_for(2s);
        REQUIRE(world.gateway.sends.size() == 3);
        CHECK(world.gateway.sends[0].order.id == world.gateway.sends[1].order.id);
        CHECK(world.gateway.sends[1].order.sealed.size() == 2);
        CHECK_FALSE(world.gateway.sends[1].order.look_up_first);
        CHECK(world.number("select count(*) from request where status = 'receipt_received'") == 2);
    }
    SUBCASE("it does not: what was signed before is looked up and sent again") {
        world.gateway.on_sign = [](std::uint64_t ticket, const Sealed& sealed) {
            return ticket == 1 ? sign(ticket, sealed) : out_of_reach(ticket, sealed);
        };
        const auto id = world.submit(support::input_proof(1));
        world.run_for(10s);
        CHECK(world.status(id) == Status::receipt_received);
        REQUIRE(world.gateway.sends.size() == 2);
        CHECK(world.gateway.sends[1].order.look_up_first);
        CHECK(world.gateway.sends[1].order.sealed.size() == 1);
        CHECK(world.number("select count(*) from attempt") == 1);
    }
    SUBCASE("the receipt is faster") {
        world.gateway.on_sign = [](std::uint64_t ticket,
                                   const Sealed& sealed) -> std::optional<SignOutcome> {
            if (ticket == 1) return sealed;
            return std::nullopt;
        };
        const auto id = world.submit(support::input_proof(1));
        world.run_for(1s);
        REQUIRE(world.gateway.sends.size() == 1);
        const auto order = world.gateway.sends[0].order;
        world.engine.process().inbox.sent({{id, support::ScriptedGateway::receipt(order)}});
        world.run_for(0ms);
        CHECK(world.status(id) == Status::receipt_received);
        CHECK(world.gateway.dropped == std::vector<std::uint64_t>{2});
        world.engine.process().inbox.sealed({{id, 2, order.sealed[0]}});
        world.run_for(0ms);
        CHECK(world.number("select count(*) from attempt") == 1);
    }
}

TEST_CASE("an end while signatures are under way: nothing of them is there after the start") {
    support::World world;
    world.gateway.sign_delay = [](std::uint64_t) { return 300ms; };
    world.gateway.on_sign = sign;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(100ms);
    REQUIRE(world.gateway.sends.empty());
    world.restart();
    CHECK(world.gateway.resumed.in_flight.empty());
    world.run_for(2s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.number("select count(*) from attempt") == 1);
    CHECK(world.gateway.sends.size() == 1);
}
