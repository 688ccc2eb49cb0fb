// Code 0 is admission only (field report 88, share-helper 9): with confirm_reveals a share ends
// when its nullifier was seen on the chain.

#include "engine/confirmations.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "support/recording_alerts.hpp"
#include "support/world.hpp"

using domain::Reason;
using domain::Status;
using engine::ConfirmOrder;
using engine::NotRevealed;
using engine::NullifierAnswer;
using engine::Revealed;
using engine::SendOrder;
using engine::Unreachable;
using namespace std::chrono_literals;

namespace {

struct Confirming : support::World {
    explicit Confirming(domain::Milliseconds until_end = 24h) {
        engine.alerts = &alerts;
        engine.options.shares.confirm_reveals = true;
        engine.options.retention.share = 24h;  // so that the end can be looked at
        engine.vote_end = clock.wall() + until_end;
    }

    // The chain takes each share, and has what was sent the nth time or later.
    void lose_before(std::size_t nth) {
        gateway.on_confirm = [this, nth](const ConfirmOrder& order) -> NullifierAnswer {
            if (sends_of(order.id) >= nth) return Revealed{};
            return NotRevealed{};
        };
    }
    [[nodiscard]] std::size_t sends_of(const domain::RequestId& id) const {
        return static_cast<std::size_t>(std::ranges::count_if(gateway.sends, [&](const auto& sent) {
            return sent.order.id.sequence == id.sequence;
        }));
    }
    // Rows that hold something of a witness.
    [[nodiscard]] std::int64_t secrets() {
        return number("select (select count(*) from payload) + (select count(*) from attempt)");
    }
    void run_until_over() { run_for(engine.vote_end + 1s - clock.wall()); }

    support::RecordingAlerts alerts;
};

store::RoundCounts queue_of(support::World& world) {
    const auto answer = world.engine.process().service.rounds();
    return std::get<std::vector<store::RoundCounts>>(answer).at(0);
}

}  // namespace

TEST_CASE("field 88: a share waits with its payload until the chain's record of it is seen") {
    Confirming world;
    const auto id = world.submit(support::vote_share(1));
    world.run_for(9s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.gateway.confirms.empty());
    CHECK(world.secrets() == 2);
    CHECK(queue_of(world).pending == 1);
    CHECK(queue_of(world).submitted == 0);

    world.run_for(2s);
    CHECK(world.status(id) == Status::completed);
    REQUIRE(world.gateway.confirms.size() == 1);
    const auto& look_up = world.gateway.confirms.front();
    CHECK(look_up.order.sealed.bytes == world.gateway.sends.front().order.sealed.back().bytes);
    // The age at which it is looked up first tells nothing of it.
    CHECK(look_up.when - world.gateway.sends.front().when == 10s + world.gateway.send_delay);
    CHECK(world.secrets() == 0);
    CHECK(world.result(id) == domain::Result{domain::ShareRevealed{"AB", false}});
    CHECK(queue_of(world).submitted == 1);
    CHECK(world.row(id).schedule.attempts == 0);
}

TEST_CASE("field 88: without confirm_reveals code 0 is the end, and nobody is asked") {
    Confirming world{2min};
    world.engine.options.shares.confirm_reveals = false;
    const auto id = world.submit(support::vote_share(1));
    world.run_for(1s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.secrets() == 0);
    world.run_until_over();
    CHECK(world.gateway.confirms.empty());
    CHECK(world.alerts.raised.empty());
}

TEST_CASE("field 88: a share the chain lost is proved anew, and no attempt is counted") {
    Confirming world;
    world.lose_before(3);
    const auto id = world.submit(support::vote_share(1));
    world.run_for(5min);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.sends_of(id) == 3);
    CHECK(world.gateway.prepares.size() == 3);
    CHECK(world.row(id).schedule.attempts == 0);
    CHECK(world.engine.logger.count("share_lost round_id=") == 2);
    CHECK(world.secrets() == 0);
    // Not at the first look that finds nothing: a block takes its time.
    CHECK(world.gateway.sends[1].when - world.gateway.sends[0].when >= 60s);
}

TEST_CASE("field 88: a lost share is sent again before its round ends, or counts as pending") {
    struct Row {
        domain::Milliseconds until_end;
        std::size_t sends_min;
    };
    for (const Row& row : {Row{500ms, 1}, Row{3s, 1}, Row{12s, 1}, Row{25s, 1}, Row{60s, 2},
                           Row{5min, 4}, Row{1h, 40}}) {
        CAPTURE(row.until_end.count());
        Confirming world{row.until_end};
        world.lose_before(1'000'000);
        const auto id = world.submit(support::vote_share(1));
        world.run_until_over();
        CHECK(world.sends_of(id) >= row.sends_min);
        CHECK(world.status(id) == Status::timed_out);
        CHECK(world.secrets() == 0);
        REQUIRE(world.alerts.raised.size() == 1);
        CHECK(world.alerts.raised[0].total == 1);
        CHECK(world.alerts.raised[0].submitted == 0);
        CHECK(world.alerts.raised[0].pending == 1);
        CHECK(world.number("select closed from round") == 1);
        // A late answer changes nothing.
        world.run_for(1min);
        CHECK(world.status(id) == Status::timed_out);
        CHECK(world.alerts.raised.size() == 1);
    }
}

TEST_CASE("field 88: what is seen shortly before the end of the round is no alert") {
    for (const auto until_end : {8s, 11s, 14s, 26s, 90s}) {
        CAPTURE(until_end.count());
        Confirming world{until_end};
        const auto id = world.submit(support::vote_share(1));
        world.gateway.on_confirm = [&](const ConfirmOrder&) -> NullifierAnswer {
            if (world.engine.vote_end - world.clock.wall() < 3s) return Revealed{};
            return Unreachable{"down"};
        };
        world.run_until_over();
        CHECK(world.status(id) == Status::completed);
        CHECK(world.alerts.raised.empty());
    }
}

TEST_CASE("field 88: nobody to ask is no proof of a loss") {
    Confirming world{10min};
    world.gateway.on_confirm = [](const ConfirmOrder&) {
        return NullifierAnswer{Unreachable{"connection refused"}};
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(9min);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.sends_of(id) == 1);
    CHECK(world.engine.logger.count("share_look_ups_fail reason=\"connection refused\"") == 1);
    world.run_until_over();
    CHECK(world.failure(id).reason == Reason::round_over);
    REQUIRE(world.alerts.raised.size() == 1);
    CHECK(world.alerts.raised[0].pending == 1);
}

TEST_CASE("field 88: code 2 that was seen on the chain ends at once, any other is looked up") {
    for (const bool confirmed : {true, false}) {
        CAPTURE(confirmed);
        Confirming world;
        world.gateway.on_send = [&](const SendOrder& order) -> engine::SendOutcome {
            return engine::Receipt{
                order.sealed.back().hash, {}, domain::ShareRevealed{"", true}, confirmed};
        };
        const auto id = world.submit(support::vote_share(1));
        world.run_for(1s);
        CHECK(world.status(id) == (confirmed ? Status::completed : Status::receipt_received));
        world.run_for(20s);
        CHECK(world.result(id) == domain::Result{domain::ShareRevealed{"", true}});
        CHECK(world.gateway.confirms.size() == (confirmed ? 0 : 1));
    }
}

TEST_CASE("field 88: a crash at any moment loses nothing and sends nothing more than once a loss") {
    for (domain::Milliseconds moment = 0s; moment < 90s; moment += 1'700ms) {
        CAPTURE(moment.count());
        Confirming world;
        world.lose_before(2);
        const auto id = world.submit(support::vote_share(1));
        world.run_for(moment);
        world.restart();
        world.run_for(1ms);
        world.restart();
        world.run_for(5min);
        CHECK(world.status(id) == Status::completed);
        CHECK(world.row(id).schedule.attempts == 0);
        CHECK(world.secrets() == 0);
        // What was in work at the crash is done again; a share that waits is not.
        CHECK(world.sends_of(id) <= 4);
        CHECK(queue_of(world).submitted == 1);
    }
}

TEST_CASE("field 88: an orderly end does not wait for look-ups, and the next start goes on") {
    Confirming world;
    world.gateway.on_confirm = [](const ConfirmOrder&) { return std::nullopt; };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(11s);
    REQUIRE(world.gateway.confirms.size() == 1);
    world.engine.process().inbox.stop();
    world.engine.process().processor.run(1h);  // real time: returns at once, or the test hangs
    world.gateway.on_confirm = [](const ConfirmOrder&) { return NullifierAnswer{Revealed{}}; };
    world.restart();
    world.run_for(20s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("field 88: what was waiting when confirm_reveals was switched off is completed") {
    Confirming world;
    const auto id = world.submit(support::vote_share(1));
    world.run_for(5s);
    REQUIRE(world.status(id) == Status::receipt_received);
    world.engine.options.shares.confirm_reveals = false;
    world.restart();
    world.run_for(20s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.gateway.confirms.empty());
    CHECK(world.result(id) == domain::Result{domain::ShareRevealed{"AB", false}});
}

TEST_CASE("field 88: the answer about an earlier receipt is not taken for one about this") {
    Confirming world;
    world.lose_before(1'000);
    const auto id = world.submit(support::vote_share(1));
    world.run_for(75s);
    REQUIRE(world.sends_of(id) == 2);
    REQUIRE(world.status(id) == Status::receipt_received);
    const auto since = world.gateway.confirms.front().order.since;
    world.clock.advance(70s);  // old enough to be lost, if it was asked about
    world.engine.process().inbox.confirmed({{id, since, NotRevealed{}}});
    world.engine.turn();
    CHECK(world.sends_of(id) == 2);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("field 88: after an outage look-ups are paced, and each share has its turn") {
    Confirming world;
    world.engine.options.shares.max_concurrent_proofs = 100;
    bool down = true;
    world.gateway.on_confirm = [&](const ConfirmOrder&) -> NullifierAnswer {
        if (down) return Unreachable{"HTTP 503", {}, 0, 20s};
        return Revealed{};
    };
    constexpr std::uint64_t shares = 300;
    for (std::uint64_t number = 1; number <= shares; ++number) {
        (void)world.submit(support::vote_share(number));
    }
    world.run_for(5min);
    CHECK(world.gateway.confirms_peak <= world.engine.options.shares.confirms_max);
    // Who asks to be left alone for 20 s is asked a few times in five minutes, not 6,000 times.
    CHECK(world.gateway.confirms.size() < 60);
    down = false;
    const std::size_t before = world.gateway.confirms.size();
    world.run_for(2min);
    CHECK(queue_of(world).submitted == shares);
    CHECK(world.gateway.confirms.size() - before == shares);
}

TEST_CASE("field 88: shares that wait for their confirmation take no slot of a proof") {
    Confirming world;
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.gateway.on_confirm = [](const ConfirmOrder&) { return NullifierAnswer{NotRevealed{}}; };
    for (std::uint64_t number = 1; number <= 20; ++number) {
        (void)world.submit(support::vote_share(number));
    }
    world.run_for(5s);
    CHECK(world.gateway.sends.size() == 20);
    CHECK(world.number("select count(*) from request where status = 'receipt_received'") == 20);
}

TEST_CASE("field 88: a clock that is set forth or back neither loses a share nor holds its round") {
    for (const domain::Milliseconds step : {-3'600s, -30s, 30s, 3'600s}) {
        CAPTURE(step.count());
        Confirming world{10min};
        const auto id = world.submit(support::vote_share(1));
        world.gateway.on_confirm = [](const ConfirmOrder&) {
            return NullifierAnswer{NotRevealed{}};
        };
        world.run_for(15s);
        world.clock.step_wall(step);
        world.run_for(2h);
        CHECK(world.status(id) == Status::timed_out);
        CHECK(world.alerts.raised.size() == 1);
        CHECK(world.secrets() == 0);
    }
}

TEST_CASE("field 88: a round that ends in a stop has its last looks at the next start") {
    struct Row {
        std::string label;
        std::function<std::optional<NullifierAnswer>(std::size_t nth)> answer;
        bool is_revealed;
    };
    const Row rows[]{
        {"recorded", [](std::size_t) { return NullifierAnswer{Revealed{}}; }, true},
        {"not recorded", [](std::size_t) { return NullifierAnswer{NotRevealed{}}; }, false},
        {"nobody to ask", [](std::size_t) { return NullifierAnswer{Unreachable{"down"}}; }, false},
        {"nobody to ask at first",
         [](std::size_t nth) -> NullifierAnswer {
             if (nth == 1) return Unreachable{"down"};
             return Revealed{};
         },
         true},
        {"no answer", [](std::size_t) { return std::nullopt; }, false},
    };
    for (const Row& row : rows) {
        for (const auto down : {90s, 110s, 118s, 1'200s}) {
            CAPTURE(row.label);
            CAPTURE(down.count());
            Confirming world{2min};
            const auto id = world.submit(support::vote_share(1));
            world.run_for(5s);
            REQUIRE(world.status(id) == Status::receipt_received);
            world.crash();
            world.clock.advance(down);
            std::size_t asked = 0;
            world.gateway.on_confirm = [&](const ConfirmOrder&) { return row.answer(++asked); };
            world.engine.start();
            world.run_for(1ms);
            world.restart();
            world.run_for(2min);
            CHECK(world.status(id) == (row.is_revealed ? Status::completed : Status::timed_out));
            CHECK(world.alerts.raised.size() == (row.is_revealed ? 0 : 1));
            if (row.is_revealed) CHECK(world.sends_of(id) == 1);
            CHECK(world.gateway.confirms.size() <= 6);
            CHECK(world.secrets() == 0);
            CHECK(world.number("select closed from round") == 1);
        }
    }
}

TEST_CASE("field 88: after a stop over the end of a round each share has its look") {
    Confirming world{2min};
    world.engine.options.shares.max_concurrent_proofs = 100;
    for (std::uint64_t number = 1; number <= 300; ++number) {
        world.engine.post(support::vote_share(number), [](const engine::AcceptOutcome&) {});
    }
    world.run_for(5s);
    REQUIRE(world.number("select count(*) from request where status = 'receipt_received'") == 300);
    world.crash();
    world.clock.advance(1h);
    world.engine.start();
    world.run_for(5min);
    CHECK(world.number("select submitted from round") == 300);
    CHECK(world.alerts.raised.empty());
}
