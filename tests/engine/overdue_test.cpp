#include <algorithm>
#include <chrono>

#include "support/world.hpp"

using domain::Kind;
using domain::Monotonic;
using domain::Status;
using engine::CheckOrder;
using engine::PrepareOrder;
using namespace std::chrono_literals;

namespace {

// The most events in any window of this length.
std::size_t densest(const std::vector<Monotonic>& times, domain::Nanoseconds window) {
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < times.size(); ++last) {
        while (times[last] - times[first] >= window) ++first;
        most = std::max(most, last - first + 1);
    }
    return most;
}

}  // namespace

TEST_CASE("field 47: five thousand overdue requests leave at the limits, in order") {
    support::World world;
    auto& options = world.engine.options;
    options.readiness.public_decrypt = {50, 11'000, 1'000};
    options.sending.public_decrypt = {20, 0, 11'000, 1'000};
    options.sending.input_proof = {20, 0, 11'000, 1'000};
    options.sends_max = 1'000;
    options.lease = 1h;
    world.gateway.on_check = [](const CheckOrder&) { return std::nullopt; };
    world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
    std::vector<domain::RequestId> decrypts;
    std::vector<domain::RequestId> proofs;
    const auto keep = [](std::vector<domain::RequestId>& ids) {
        return [&ids](engine::AcceptOutcome outcome) {
            ids.push_back(std::get<engine::Accepted>(outcome).id);
        };
    };
    for (std::uint64_t number = 1; number <= 2'500; ++number) {
        world.engine.post(support::public_decrypt(number), keep(decrypts));
        world.engine.post(support::input_proof(number), keep(proofs));
        if (number % 500 == 0) world.run_for(2s);
    }
    REQUIRE(decrypts.size() == 2'500);
    REQUIRE(proofs.size() == 2'500);
    REQUIRE(world.number("select count(*) from request where claims > 0") > 100);

    world.crash();
    world.clock.advance(10min);
    world.gateway.checks.clear();
    world.gateway.prepares.clear();
    world.gateway.checks_peak = 0;
    world.gateway.check_delay = 3s;
    world.gateway.prepare_delay = 0ms;
    world.gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
    std::vector<Monotonic> decrypt_times;
    std::vector<Monotonic> proof_times;
    world.gateway.on_prepare = [&](const PrepareOrder& order) {
        const bool proof = domain::kind_of(*order.request) == Kind::input_proof;
        (proof ? proof_times : decrypt_times).push_back(world.clock.monotonic());
        return engine::Plan{};
    };
    world.engine.start();
    world.run_for(3min);

    CHECK(world.gateway.checks_peak == 50);
    REQUIRE(decrypt_times.size() == 2'500);
    REQUIRE(proof_times.size() == 2'500);
    for (const auto* times : {&decrypt_times, &proof_times}) {
        CHECK(densest(*times, 1s) <= 40);
    }
    // The line of the proofs never runs dry: after the burst it leaves at the rate to the end.
    CHECK(densest({proof_times.begin() + 40, proof_times.end()}, 1s) == 20);
    std::vector<domain::RequestId> checked;
    for (const auto& order : world.gateway.checks) checked.push_back(order.id);
    CHECK(checked == decrypts);
    std::vector<domain::RequestId> sent_proofs;
    std::vector<domain::RequestId> sent_decrypts;
    for (const auto& sent : world.gateway.sends) {
        (sent.order.kind == Kind::input_proof ? sent_proofs : sent_decrypts)
            .push_back(sent.order.id);
    }
    CHECK(sent_proofs == proofs);
    CHECK(sent_decrypts == decrypts);
}

TEST_CASE("overdue shares start N at once, earliest first, then in order of acceptance") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 4;
    world.gateway.prepare_delay = 100ms;
    std::vector<std::pair<std::uint64_t, domain::RequestId>> due;
    for (std::uint64_t number = 1; number <= 400; ++number) {
        const std::uint64_t at = world.in_seconds(static_cast<std::int64_t>(60 + number * 37 % 60));
        world.engine.post(support::vote_share(number, at), [&, at](engine::AcceptOutcome outcome) {
            due.emplace_back(at, std::get<engine::Accepted>(outcome).id);
        });
    }
    world.run_for(1s);
    world.crash();
    world.clock.advance(10min);
    world.engine.start();
    world.run_for(1min);
    std::sort(due.begin(), due.end());
    REQUIRE(world.gateway.prepares.size() == 400);
    for (std::size_t i = 0; i < 400; ++i) REQUIRE(world.gateway.prepares[i].id == due[i].second);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 400);
}

TEST_CASE("field 47: five thousand overdue shares go through the slots, in order of their second") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 50;
    world.gateway.prepare_delay = 900ms;
    world.gateway.send_delay = 100ms;
    std::vector<std::pair<std::uint64_t, domain::RequestId>> due;
    for (std::uint64_t number = 1; number <= 5'000; ++number) {
        const std::uint64_t second =
            world.in_seconds(static_cast<std::int64_t>(60 + number * 7919 % 600));
        world.engine.post(support::vote_share(number, second), [&, second](auto outcome) {
            due.emplace_back(second, std::get<engine::Accepted>(outcome).id);
        });
        if (number % 1'000 == 0) world.engine.turn();
    }
    // Some of the first second are at work when the process dies.
    world.run_for(60s + 500ms);
    world.crash();
    world.clock.advance(10min);
    world.gateway.prepares.clear();
    world.gateway.sends.clear();
    std::size_t running = 0;
    std::size_t peak = 0;
    world.gateway.on_prepare = [&](const PrepareOrder&) {
        peak = std::max(peak, ++running);
        return engine::Plan{};
    };
    world.gateway.on_send = [&](const engine::SendOrder& order) {
        --running;
        return support::ScriptedGateway::receipt(order);
    };
    world.engine.start();
    world.run_for(2min);
    CHECK(peak == 50);
    REQUIRE(world.gateway.prepares.size() == 5'000);
    std::sort(due.begin(), due.end());
    for (std::size_t i = 0; i < due.size(); ++i) {
        REQUIRE(world.gateway.prepares[i].id == due[i].second);
    }
    CHECK(world.number("select count(*) from request where status = 'completed'") == 5'000);
}
