#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>

#include "chains/loopback/courier.hpp"
#include "chains/loopback/harness.hpp"

using chains::loopback::Options;
using domain::Milliseconds;

namespace {

// A courier with work and a gateway that may die at any moment.
class Journey {
public:
    Journey(Options options, std::uint32_t requests) : options_(std::move(options)) {
        options_.ledger = directory_.file("ledger.db");
        options_.ledger_synchronous = chains::loopback::LedgerSynchronous::off;
        for (std::uint32_t number = 0; number < requests; ++number) {
            courier.add(support::request_id(number), support::any_request(number));
        }
        open();
    }

    // The process dies and comes back.
    void crash() {
        gateway.reset();
        executor.drop_all();
        open();
    }

    // False when nothing is left to happen.
    bool step() { return executor.run_next(); }

    void finish() {
        do {
            courier.commit();
        } while (step() || courier.has_events());
    }

    // Whatever happened on the way, nothing is lost, double or skipped.
    void check_outcome() {
        CHECK(courier.all_decided());
        CHECK_FALSE(courier.cursor_fell());
        CHECK(gateway->double_inclusions() == 0);
        std::uint64_t effective = 0;
        for (const auto& [id, task] : courier.tasks()) {
            if (!task.receipt) continue;
            const bool already = task.receipt->revealed && task.receipt->revealed->already;
            effective += already ? 0 : 1;
            if (task.receipt->reference) check_answers(task);
        }
        CHECK(gateway->inclusions() == effective);
        CHECK_FALSE(gateway->problem());
    }

    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    Courier courier{executor};
    std::unique_ptr<chains::loopback::Gateway> gateway;

private:
    void open() {
        gateway = std::make_unique<chains::loopback::Gateway>(options_, clock, executor, logger);
        courier.resume(*gateway);
    }

    // Every piece once, or twice where duplicates may be.
    void check_answers(const Courier::Task& task) {
        const auto found = courier.received().find(*task.receipt->reference);
        REQUIRE(found != courier.received().end());
        const auto& pieces = found->second;
        const bool shares =
            domain::family_of(domain::kind_of(task.request)) == domain::Family::user_decrypt;
        const std::size_t living =
            options_.kms_nodes - options_.kms_nodes * options_.missing_kms_nodes / 1000;
        const std::set<std::uint32_t> different(pieces.begin(), pieces.end());
        CHECK(different.size() == (shares ? living : 1));
        for (const std::uint32_t piece : different) {
            CHECK(pieces.count(piece) <= (options_.duplicate_answers > 0 ? 2 : 1));
        }
    }

    support::TempDirectory directory_;
    Options options_;
};

Options some_faults(support::SeededRandom& random) {
    const auto latency = [&random] {
        const Milliseconds min{static_cast<std::int64_t>(random.below(3) * random.below(300))};
        return chains::loopback::Latency{
            min,
            min + Milliseconds{static_cast<std::int64_t>(random.below(2) * random.below(400))}};
    };
    const auto share = [&random] {
        return static_cast<chains::loopback::Permille>(random.below(3) == 0 ? random.below(400)
                                                                            : 0);
    };
    Options options;
    options.seed = random.next();
    options.prepare = latency();
    options.proof = latency();
    options.confirmation = latency();
    options.response = latency();
    options.unreachable_prepares = share();
    options.estimation_reverts = share();
    options.failed_proofs = share();
    options.unreachable_sends = share();
    options.lost_replies = share();
    options.reverts = share();
    options.shares_already_revealed = share();
    options.proof_rejections = share();
    options.missing_kms_nodes = share();
    options.early_answers = share();
    options.duplicate_answers = share();
    options.foreign_answers = share();
    if (random.below(3) == 0) {
        options.outages = {{Milliseconds{static_cast<std::int64_t>(random.below(500))},
                            Milliseconds{static_cast<std::int64_t>(1 + random.below(2'000))}}};
    }
    return options;
}

}  // namespace

TEST_CASE("a crash after any task loses no inclusion, no receipt and no answer") {
    Options spread;
    spread.prepare = spread.proof = {};
    spread.confirmation = {Milliseconds{10}, Milliseconds{20}};
    spread.response = {Milliseconds{10}, Milliseconds{100}};
    struct Row {
        const char* label;
        Options options;
    };
    const Row rows[] = {{"defaults", {}}, {"without latency", instant()}, {"spread", spread}};
    for (const Row& row : rows) {
        CAPTURE(row.label);
        bool crashed_before_the_end = true;
        for (int tasks = 0; crashed_before_the_end; ++tasks) {
            for (const bool commit_before_crash : {false, true}) {
                CAPTURE(tasks);
                CAPTURE(commit_before_crash);
                Journey journey{row.options, 6};
                for (int done = 0; done < tasks; ++done) {
                    crashed_before_the_end = journey.step();
                    if (done + 1 < tasks || commit_before_crash) journey.courier.commit();
                }
                journey.crash();
                journey.finish();
                journey.check_outcome();
            }
        }
    }
}

TEST_CASE("answers that waited come at their ready time after a restart") {
    Journey journey{{}, 2};
    while (!journey.courier.all_decided()) {
        journey.courier.commit();
        journey.step();
        journey.courier.commit();
    }
    CHECK(journey.courier.received().empty());
    journey.executor.run_for(Milliseconds{100});
    journey.crash();
    journey.executor.run_for(Milliseconds{399});
    CHECK_FALSE(journey.courier.has_events());
    journey.executor.run_for(Milliseconds{1});
    CHECK(journey.courier.has_events());

    journey.crash();
    journey.executor.run_due();
    journey.finish();
    journey.check_outcome();
}

TEST_CASE("a wall clock set back before a restart delays answers by no more than their latency") {
    Journey journey{{}, 2};
    while (!journey.courier.all_decided()) {
        journey.courier.commit();
        journey.step();
        journey.courier.commit();
    }
    journey.clock.step_wall(Milliseconds{-365LL * 86'400'000});
    journey.crash();
    journey.executor.run_for(Milliseconds{1'250});
    CHECK(journey.courier.has_events());
    journey.finish();
    journey.check_outcome();
}

TEST_CASE("a listener behind hears again what it has not committed, and nothing else") {
    Harness harness{instant()};
    for (std::int64_t number = 0; number < 5; ++number) {
        (void)harness.send(
            harness.order(support::request_id(number),
                          support::public_decrypt(static_cast<std::uint64_t>(number))));
    }
    REQUIRE(harness.events.cursors == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
    const std::vector<engine::Answer> all = harness.events.answers;
    for (std::uint64_t cursor = 0; cursor <= 5; ++cursor) {
        CAPTURE(cursor);
        harness.crash();
        harness.events = {};
        harness.start(cursor);
        harness.finish();
        REQUIRE(harness.events.answers.size() == 5 - cursor);
        for (std::size_t at = 0; at < harness.events.answers.size(); ++at) {
            CHECK(harness.events.answers[at].reference == all[cursor + at].reference);
        }
    }
}

TEST_CASE("a ledger that was replaced goes on behind the listener's cursor") {
    Harness harness{instant()};
    harness.crash();
    harness.start(1'000);
    (void)harness.send(harness.order(support::request_id(1), support::public_decrypt(1)));
    CHECK(harness.events.cursors == std::vector<std::uint64_t>{1'001});
}

TEST_CASE("with any faults and crashes nothing is lost, double or skipped") {
    constexpr std::uint64_t seeds = 150;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        support::SeededRandom random{seed};
        Journey journey{some_faults(random), static_cast<std::uint32_t>(1 + random.below(24))};
        const std::uint64_t steps = random.below(300);
        for (std::uint64_t step = 0; step < steps; ++step) {
            if (random.chance(30)) journey.crash();
            if (random.chance(50)) {
                journey.clock.step_wall(
                    Milliseconds{static_cast<std::int64_t>(random.below(20'000)) - 10'000});
            }
            if (random.chance(500)) journey.courier.commit();
            journey.step();
        }
        journey.finish();
        journey.check_outcome();
    }
}

TEST_CASE("equal seeds tell the same story") {
    const auto story = [](std::uint64_t seed) {
        support::SeededRandom random{seed};
        Journey journey{some_faults(random), 12};
        std::string told;
        for (int step = 0; step < 200; ++step) {
            journey.courier.commit();
            if (step == 60) journey.crash();
            journey.step();
        }
        journey.finish();
        for (const auto& [id, task] : journey.courier.tasks()) {
            told += task.receipt ? domain::to_hex(task.receipt->hash) : "failed";
        }
        for (const auto& [reference, pieces] : journey.courier.received()) {
            told += domain::to_hex(reference) + std::to_string(pieces.size());
        }
        return told;
    };
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
        CAPTURE(seed);
        CHECK(story(seed) == story(seed));
    }
    CHECK(story(1) != story(2));
}
