#include <algorithm>
#include <chrono>
#include <map>

#include "support/world.hpp"

using domain::Kind;
using domain::Milliseconds;
using domain::Monotonic;
using domain::Reason;
using domain::Status;
using engine::CheckOrder;
using engine::CheckOutcome;
using namespace std::chrono_literals;

namespace {

// Notes when each check is answered, and with what the script says for the n-th.
struct Checks {
    support::World& world;
    std::vector<Monotonic> times{};

    void script(std::function<std::optional<CheckOutcome>(std::size_t)> outcome) {
        world.gateway.check_delay = 0ms;
        world.gateway.on_check = [this, outcome = std::move(outcome)](const CheckOrder&) {
            times.push_back(world.clock.monotonic());
            return outcome(times.size());
        };
    }
    [[nodiscard]] std::vector<std::int64_t> pauses_ms() const {
        std::vector<std::int64_t> pauses;
        for (std::size_t i = 1; i < times.size(); ++i) {
            pauses.push_back(
                std::chrono::duration_cast<Milliseconds>(times[i] - times[i - 1]).count());
        }
        return pauses;
    }
};

}  // namespace

TEST_CASE("a ciphertext that is not ready is asked for again after the pause until it is") {
    for (const Kind kind : {Kind::public_decrypt, Kind::user_decrypt}) {
        CAPTURE(to_string(kind));
        support::World world;
        Checks checks{world};
        checks.script([](std::size_t n) -> CheckOutcome {
            if (n <= 4) return engine::NotReady{};
            return engine::Ready{};
        });
        const auto id = world.submit(support::request_of(kind, 1));
        world.run_for(11s);
        CHECK(world.status(id) == Status::queued);
        CHECK(world.row(id).schedule.attempts == 4);
        world.run_for(2s);
        CHECK(world.status(id) == Status::receipt_received);
        CHECK(checks.pauses_ms() == std::vector<std::int64_t>{3000, 3000, 3000, 3000});
    }
}

TEST_CASE("how a decrypt ends that never gets ready") {
    struct Row {
        const char* label;
        std::function<CheckOutcome(std::size_t)> outcome;
        Status status;
        domain::Failure failure;
        std::size_t asked;
    };
    const domain::Failure never{Reason::readiness_timed_out,
                                "Ciphertext not ready for decryption on the gateway chain",
                                {}};
    const domain::Failure broken{Reason::readiness_failed,
                                 "Processing Failed: Contract call failed: gateway not reachable",
                                 {}};
    const domain::Failure acl{
        Reason::host_acl_refused,
        "Not allowed on host ACL: ACL check failed for 1 handle(s): handle=0x01 check=x",
        {}};
    const domain::Failure acl_call{
        Reason::host_acl_failed, "Host ACL check failed: Host chain 8009 call failed: refused", {}};
    const domain::Failure reverted{Reason::reverted, "Transaction simulation failed", 0xd93c0665};
    const Row rows[]{
        {"attempts used up", [](std::size_t) { return engine::NotReady{}; }, Status::timed_out,
         never, 5},
        {"attempts used up, one call error in between",
         [](std::size_t n) -> CheckOutcome {
             if (n == 2) return engine::Unreachable{"connection refused"};
             return engine::NotReady{};
         },
         Status::timed_out, never, 6},
        {"a call error, then refused instead of answered to the end",
         [&](std::size_t n) -> CheckOutcome {
             if (n == 1) return engine::Unreachable{"connection refused"};
             return engine::NotReady{reverted};
         },
         Status::failure, reverted, 6},
        {"refused instead of answered, and in the end only not ready",
         [&](std::size_t n) -> CheckOutcome {
             if (n < 5) return engine::NotReady{reverted};
             return engine::NotReady{};
         },
         Status::timed_out, never, 5},
        {"call errors to the end of a patience of their own",
         [&](std::size_t) {
             return engine::Unreachable{"connection refused", acl_call, 3};
         },
         Status::failure, acl_call, 3},
        {"refused by the host ACL", [&](std::size_t) { return engine::Rejected{acl}; },
         Status::failure, acl, 1},
        {"refused after some tries",
         [&](std::size_t n) -> CheckOutcome {
             if (n < 3) return engine::NotReady{};
             return engine::Rejected{acl};
         },
         Status::failure, acl, 3},
        {"the ACL could not be asked", [&](std::size_t) { return engine::Rejected{acl_call}; },
         Status::failure, acl_call, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        support::World world;
        world.engine.options.readiness_attempts_max = 5;
        Checks checks{world};
        checks.script(row.outcome);
        const auto id = world.submit(support::public_decrypt(1));
        world.run_for(1h);
        CHECK(world.status(id) == row.status);
        CHECK(world.failure(id) == row.failure);
        CHECK(checks.times.size() == row.asked);
        CHECK(world.gateway.prepares.empty());
        CHECK(world.engine.logger.count("request_ended job_id=" + to_string(id)) == 1);
    }
}

TEST_CASE("a refusal never carries a URL into the database") {
    support::World world;
    world.gateway.on_check = [](const CheckOrder&) {
        return engine::Rejected{
            {Reason::host_acl_failed, "Host ACL check failed: http://u:k3y@h:1/SECRET?x=T", {}}};
    };
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(1s);
    CHECK(world.failure(id).text == "Host ACL check failed: http://…");
    CHECK(world.engine.logger.count("k3y") == 0);
}

TEST_CASE("an unreachable gateway costs time but no attempts, and the request survives it") {
    support::World world;
    Checks checks{world};
    Monotonic up{};
    checks.script([&](std::size_t) -> CheckOutcome {
        if (world.clock.monotonic() < up) return engine::Unreachable{"connection refused"};
        return engine::Ready{};
    });
    up = world.clock.monotonic() + 20min;
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(19min);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 0);
    world.run_for(90s);
    CHECK(world.status(id) == Status::receipt_received);
    const auto pauses = checks.pauses_ms();
    REQUIRE(pauses.size() > 8);
    CHECK(std::vector<std::int64_t>(pauses.begin(), pauses.begin() + 8) ==
          std::vector<std::int64_t>{500, 1000, 2000, 4000, 8000, 16000, 30000, 30000});
}

TEST_CASE("an unreachable gateway ends in a failure at the deadline, not before") {
    support::World world;
    Checks checks{world};
    checks.script([](std::size_t) { return engine::Unreachable{"connection refused"}; });
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(30min - 1ms);
    CHECK(world.status(id) == Status::queued);
    world.run_for(1ms);
    CHECK(world.status(id) == Status::failure);
    CHECK(world.failure(id).reason == Reason::readiness_failed);
    CHECK(world.failure(id).text.starts_with("Processing Failed: Contract call failed: "));
}

TEST_CASE("the deadline counts from the first check on and ends a clean run as timed out") {
    support::World world;
    world.engine.options.readiness_attempts_max = 1'000'000;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    world.engine.options.readiness_timeout.public_decrypt = 10min;
    // The first holds the only permit for five minutes.
    world.gateway.on_check = [&](const CheckOrder&) { return engine::NotReady{}; };
    world.gateway.check_delay = 5min;
    const auto first = world.submit(support::public_decrypt(1));
    const auto second = world.submit(support::public_decrypt(2));
    world.run_for(4min);
    world.gateway.check_delay = 0ms;
    world.run_for(6min + 1ms);
    CHECK(world.status(first) == Status::timed_out);
    CHECK(world.status(second) == Status::queued);
    world.run_for(5min);
    CHECK(world.status(second) == Status::timed_out);
    CHECK(world.failure(second).reason == Reason::readiness_timed_out);
}

TEST_CASE("the pause between two tries and the attempts survive a restart") {
    support::World world;
    Checks checks{world};
    checks.script([](std::size_t) { return engine::NotReady{}; });
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(4s);
    REQUIRE(checks.times.size() == 2);
    world.restart();
    CHECK(world.engine.recovered.waiting == 1);
    world.run_for(1s + 999ms);
    CHECK(checks.times.size() == 2);
    world.run_for(2ms);
    CHECK(checks.times.size() == 3);
    CHECK(world.row(id).schedule.attempts == 3);
}

TEST_CASE("T-143 never more checks than permits, and that many do run") {
    for (const std::uint32_t permits : {1U, 3U, 7U}) {
        CAPTURE(permits);
        support::World world;
        world.engine.options.readiness.public_decrypt.max_concurrency = permits;
        world.engine.options.readiness.user_decrypt.max_concurrency = permits;
        world.gateway.check_delay = 700ms;
        for (std::uint64_t number = 1; number <= 20; ++number) {
            (void)world.submit(support::public_decrypt(number));
        }
        world.run_for(1min);
        CHECK(world.gateway.checks_peak == permits);
        CHECK(world.number("select count(*) from request where status = 'receipt_received'") == 20);
        // A permit that comes back is used at once: no time is lost between two checks.
        CHECK(world.gateway.checks.size() == 20);
    }
}

TEST_CASE("the two decrypt families do not wait for each other") {
    support::World world;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    world.gateway.on_check = [](const CheckOrder& order) -> std::optional<CheckOutcome> {
        if (domain::kind_of(*order.request) == Kind::public_decrypt) return std::nullopt;
        return engine::Ready{};
    };
    (void)world.submit(support::public_decrypt(1));
    (void)world.submit(support::public_decrypt(2));
    const auto user = world.submit(support::user_decrypt(3));
    world.run_for(1s);
    CHECK(world.status(user) == Status::receipt_received);
    CHECK(world.gateway.checks.size() == 2);
}

TEST_CASE("a check nobody answers is given up after the lease; its permit and its turn come back") {
    support::World world;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    bool silent = true;
    world.gateway.on_check = [&](const CheckOrder&) -> std::optional<CheckOutcome> {
        if (silent) return std::nullopt;
        return engine::Ready{};
    };
    const auto id = world.submit(support::public_decrypt(1));
    const auto other = world.submit(support::public_decrypt(2));
    world.run_for(10min - 1ms);
    CHECK(world.status(id) == Status::queued);
    CHECK(world.gateway.checks.size() == 1);
    silent = false;
    world.run_for(2s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.status(other) == Status::receipt_received);
    CHECK(world.engine.process().gates.checks_running(domain::Family::public_decrypt) == 0);
}

TEST_CASE("an answer that comes after the lease still counts, once") {
    support::World world;
    world.gateway.check_delay = 10min + 200ms;  // in the pause after the lease
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(10min + 100ms);
    CHECK(world.status(id) == Status::queued);
    world.run_for(150ms);
    CHECK(world.status(id) == Status::receipt_received);
    world.run_for(10min);
    CHECK(world.gateway.checks.size() == 1);
    CHECK(world.gateway.sends.size() == 1);
}

TEST_CASE("a late 'not ready' takes the request out of the line it went back to") {
    support::World world;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    std::map<domain::RequestId, int> asked;
    world.gateway.on_check = [&](const CheckOrder& order) -> std::optional<CheckOutcome> {
        ++asked[order.id];
        return engine::NotReady{};
    };
    // The first answer takes 10 min 1 s: after the lease and the pause, when the second holds the
    // only permit and the first is back in line.
    world.gateway.check_delay = 10min + 1s;
    const auto first = world.submit(support::public_decrypt(1));
    const auto second = world.submit(support::public_decrypt(2));
    world.run_for(10min + 900ms);
    auto& gates = world.engine.process().gates;
    CHECK(gates.holds(first.sequence, domain::Family::public_decrypt));
    world.gateway.check_delay = 0ms;
    world.run_for(200ms);
    CHECK_FALSE(gates.holds(first.sequence, domain::Family::public_decrypt));
    CHECK(world.row(first).schedule.attempts == 1);
    CHECK(world.row(first).schedule.lane == store::Lane::timer);
    CHECK(world.status(second) == Status::queued);
}

TEST_CASE("answers for requests that ended or never were are counted and ignored") {
    support::World world;
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(1s);
    world.gateway.answer(id, support::public_decrypted());
    world.run_for(1s);
    REQUIRE(world.status(id) == Status::completed);
    const store::Row before = world.row(id);
    const auto stale = world.engine.process().processor.stale_events();
    auto& inbox = world.engine.process().inbox;
    inbox.checked({{id, engine::Ready{}}, {{1, 1}, engine::Ready{}}});
    inbox.checked({{id, engine::Rejected{{Reason::internal_error, "x", {}}}}});
    inbox.prepared({{id, engine::Plan{}}, {{1, 1}, engine::Plan{}}});
    inbox.sent({{id, engine::Unreachable{"x"}}, {{1, 1}, engine::Unreachable{"x"}}});
    world.run_for(1h);
    CHECK(world.engine.process().processor.stale_events() == stale + 7);
    CHECK(world.row(id) == before);
    CHECK(world.gateway.sends.size() == 1);
}
