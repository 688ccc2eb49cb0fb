// How vote rounds end: what waits times out, the alert goes out once and is kept until it is taken
// (share-helper 3.3, 4.1).

#include "engine/rounds.hpp"

#include <chrono>

#include "support/recording_alerts.hpp"
#include "support/world.hpp"

using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::RoundAlert;
using namespace std::chrono_literals;

namespace {

// A world whose prover is away and whose round ends after a minute.
struct Outage {
    support::World world;
    support::RecordingAlerts alerts;

    Outage() {
        world.engine.alerts = &alerts;
        world.engine.vote_end = world.clock.wall() + 60s;
        prover_down();
    }

    void prover_down() {
        world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Unreachable{"down"}; };
    }
    void prover_up() {
        world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    }
    [[nodiscard]] std::size_t alert_lines() const {
        return world.engine.logger.count("round_closed_with_unsubmitted_shares alert=true");
    }
};

// Counts what the steps report.
struct Alerts : engine::Observer {
    void stepped(const engine::StepFacts& facts) override { count += facts.round_alerts; }
    std::size_t count = 0;
};

domain::VoteShare of_round(std::uint8_t round, std::uint64_t number) {
    domain::VoteShare share = support::vote_share(number);
    share.round_id[0] = round;
    return share;
}

}  // namespace

TEST_CASE("a round is closed the moment its last second has passed, not with the maintenance") {
    for (const domain::Milliseconds offset : {0ms, 1ms, 7'777ms, 29'999ms}) {
        CAPTURE(offset.count());
        Outage outage;
        support::World& world = outage.world;
        world.engine.start();
        world.run_for(offset);  // the maintenance runs at another time than the round ends
        const auto id = world.submit(support::vote_share(1));
        const auto over = world.engine.vote_end + 1s;
        world.run_for(over - world.clock.wall() - 1ms);
        CHECK(world.status(id) == Status::queued);
        CHECK(outage.alerts.raised.empty());
        world.run_for(1ms);
        CHECK(world.status(id) == Status::timed_out);
        CHECK(outage.alerts.raised.size() == 1);
        CHECK(world.number("select closed from round") == 1);
    }
}

TEST_CASE("ends and times centuries away keep nobody awake") {
    support::World world;
    world.engine.vote_end =
        domain::Timestamp{std::chrono::sys_days{std::chrono::year{9'999} / 12 / 31}};
    domain::VoteShare share = support::vote_share(1);
    share.submit_at = 200'000'000'000;  // the year 8307
    const auto id = world.submit(domain::Request(share));
    world.run_for(1s);
    CHECK(world.engine.turn().length > 20s);
    CHECK(world.status(id) == Status::queued);
}

TEST_CASE("field 88: an alert says how many shares were only admitted, where that could be asked") {
    struct Row {
        const char* label;
        bool tells;
        bool confirms;
        std::optional<std::uint64_t> expected;
    };
    for (const Row& row :
         {Row{"nobody to ask", false, false, std::nullopt}, Row{"somebody", true, false, 2},
          Row{"asked", false, true, std::nullopt}}) {
        CAPTURE(row.label);
        Outage outage;
        support::World& world = outage.world;
        world.engine.options.shares.tell_unconfirmed = row.tells;
        world.engine.options.shares.confirm_reveals = row.confirms;
        world.gateway.on_prepare = [](const PrepareOrder& order) -> PrepareOutcome {
            const auto position = std::get<domain::VoteShare>(*order.request).tree_position;
            if (position == 1) return engine::Unreachable{"down"};
            return engine::Plan{};
        };
        world.gateway.on_send = [&](const engine::SendOrder& order) -> engine::SendOutcome {
            const bool already = world.gateway.sends.size() == 2;
            return engine::Receipt{
                order.sealed.back().hash, {}, domain::ShareRevealed{"", already}};
        };
        for (std::uint64_t number = 1; number <= 4; ++number) {
            (void)world.submit(support::vote_share(number));
        }
        // Of another round that ends later, and so lies behind it in the index.
        const auto vote_end = world.engine.vote_end;
        world.engine.vote_end += 1h;
        (void)world.submit(of_round(0xee, 5));
        world.engine.vote_end = vote_end;
        world.run_for(2min);
        REQUIRE(outage.alerts.raised.size() == 1);
        CHECK(outage.alerts.raised[0].submitted == 3);
        CHECK(outage.alerts.raised[0].pending == 1);
        CHECK(outage.alerts.raised[0].unconfirmed == row.expected);
        CHECK(world.engine.logger.count("unsubmitted=1 unconfirmed=2") == (row.tells ? 1 : 0));
        world.restart();
        world.run_for(1s);
        REQUIRE(outage.alerts.raised.size() == 2);
        CHECK(outage.alerts.raised[1].unconfirmed == row.expected);
    }
}

TEST_CASE("a share that was admitted is counted by a round that waits for its last answer") {
    Outage outage;
    support::World& world = outage.world;
    world.engine.options.shares.tell_unconfirmed = true;
    world.engine.options.retention.share = 0ms;
    world.engine.options.maintenance_interval = 1s;
    outage.prover_up();
    world.gateway.on_send = [&](const engine::SendOrder& order) -> engine::SendOutcome {
        const bool is_first = world.gateway.sends.size() == 1;
        if (!is_first) return engine::Unreachable{"busy"};
        return engine::Receipt{order.sealed.back().hash, {}, domain::ShareRevealed{"", false}};
    };
    world.gateway.send_delay = 1s;
    const auto revealed = world.submit(support::vote_share(1));
    world.run_for(5s);
    REQUIRE(world.status(revealed) == Status::completed);
    world.gateway.send_delay = 80s;  // beyond the end of the round
    (void)world.submit(support::vote_share(2));
    world.run_for(70s);
    CHECK(world.number("select closed from round") == 0);
    CHECK(outage.alerts.raised.empty());
    world.run_for(20s);
    REQUIRE(outage.alerts.raised.size() == 1);
    CHECK(outage.alerts.raised[0].unconfirmed == 1);
    world.run_for(2s);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 0);
}

TEST_CASE("an alert names its numbers, in one line, one call and one fact, and stays until taken") {
    Outage outage;
    support::World& world = outage.world;
    Alerts counted;
    world.engine.observers.add(counted);
    world.gateway.on_prepare = [](const PrepareOrder& order) -> PrepareOutcome {
        const auto position = std::get<domain::VoteShare>(*order.request).tree_position;
        if (position <= 2) return engine::Unreachable{"down"};
        if (position == 3) return engine::Rejected{{domain::Reason::internal_error, "code 5", {}}};
        return engine::Plan{};
    };
    for (std::uint64_t number = 1; number <= 6; ++number) {
        (void)world.submit(support::vote_share(number));
    }
    world.run_for(2min);
    REQUIRE(outage.alerts.raised.size() == 1);
    CHECK(outage.alerts.calls == 1);
    CHECK(counted.count == 1);
    const RoundAlert alert = outage.alerts.raised[0];
    CHECK(alert.round_id == support::vote_share(1).round_id);
    CHECK(alert.vote_end == world.engine.vote_end);
    CHECK(alert.total == 6);
    CHECK(alert.submitted == 3);
    CHECK(alert.failed == 1);
    CHECK(alert.pending == 2);
    CHECK(alert.unsubmitted() == 3);
    CHECK(outage.alert_lines() == 1);
    CHECK(world.engine.logger.count("total=6 submitted=3 failed=1 pending=2 unsubmitted=3") == 1);

    // Nobody took it: each start raises it again, without another line or another count.
    for (std::size_t start = 2; start <= 3; ++start) {
        world.restart();
        world.run_for(1min);
        REQUIRE(outage.alerts.raised.size() == start);
        CHECK(outage.alerts.raised.back().round == alert.round);
        CHECK(outage.alerts.raised.back().round_id == alert.round_id);
        CHECK(outage.alerts.raised.back().vote_end == alert.vote_end);
        CHECK(outage.alerts.raised.back().pending == 2);
    }
    world.engine.process().inbox.alert_taken(alert.mark());
    world.run_for(1s);
    world.restart();
    world.run_for(1min);
    CHECK(outage.alerts.raised.size() == 3);
    CHECK(outage.alert_lines() == 1);
    CHECK(counted.count == 1);
}

TEST_CASE("an alert that is taken from another thread wakes the processor") {
    engine::Inbox inbox{1};
    inbox.alert_taken({7, 2});
    CHECK_FALSE(inbox.is_empty());
    engine::Events events;
    inbox.drain(events);
    CHECK(events.alerts_taken == std::vector<engine::AlertMark>{{7, 2}});
    CHECK_FALSE(events.empty());
}

TEST_CASE("with nobody to tell an alert is written down as taken, and logged") {
    Outage outage;
    support::World& world = outage.world;
    world.engine.alerts = nullptr;
    Alerts counted;
    world.engine.observers.add(counted);
    (void)world.submit(support::vote_share(1));
    world.run_for(2min);
    CHECK(outage.alert_lines() == 1);
    CHECK(counted.count == 1);
    CHECK(world.number("select taken from alert") == 1);
    world.engine.alerts = &outage.alerts;
    world.restart();
    world.run_for(1min);
    CHECK(outage.alerts.calls == 0);
}

TEST_CASE("an alert is kept by the commit that closes its round, or neither happens") {
    Outage outage;
    support::World& world = outage.world;
    (void)world.submit(support::vote_share(1));
    world.run_for(60s);
    world.crash();
    world.clock.advance(10min);
    world.engine.start();
    CHECK(outage.alerts.calls == 0);
    world.engine.turn();
    CHECK(outage.alerts.calls == 1);
    world.crash();
    CHECK(world.number("select count(*) from alert where taken = 0") == 1);
    CHECK(world.number("select closed from round") == 1);
}

TEST_CASE("the line of an alert comes with the next start when the process died before its mark") {
    for (const bool somebody : {false, true}) {
        CAPTURE(somebody);
        Outage outage;
        support::World& world = outage.world;
        if (!somebody) world.engine.alerts = nullptr;
        (void)world.submit(support::vote_share(1));
        world.run_for(60s);
        world.clock.advance(10min);
        // The step that writes the line asks for the one that marks it, at once.
        CHECK(world.engine.turn().length == 0s);
        CHECK(outage.alert_lines() == 1);
        CHECK(world.number("select logged from alert") == 0);
        CHECK(world.number("select taken from alert") == 0);
        world.crash();

        Alerts counted;
        world.engine.observers.add(counted);
        world.engine.start();
        CHECK(outage.alert_lines() == 1);
        CHECK(world.engine.turn().length == 0s);
        CHECK(outage.alert_lines() == 2);
        CHECK(world.number("select logged from alert") == 0);
        CHECK(world.engine.turn().length > 0s);
        CHECK(world.number("select logged from alert") == 1);
        CHECK(world.number("select taken from alert") == (somebody ? 0 : 1));
        CHECK(counted.count == 1);

        world.crash();
        world.engine.start();
        world.run_for(1min);
        CHECK(outage.alert_lines() == 2);
        CHECK(counted.count == 1);
    }
}

TEST_CASE("an alert that a lost process left without a line gets it") {
    Outage outage;
    support::World& world = outage.world;
    world.engine.alerts = nullptr;
    (void)world.submit(support::vote_share(1));
    world.run_for(2min);
    world.crash();
    world.tamper("update alert set logged = 0, taken = 0");
    world.engine.start();
    world.run_for(1s);
    CHECK(outage.alert_lines() == 2);
    CHECK(world.engine.logger.count("total=1 submitted=0 failed=0 pending=1 unsubmitted=1") == 2);
}

TEST_CASE("an orderly end right behind the line of an alert does not bring it again") {
    Outage outage;
    support::World& world = outage.world;
    (void)world.submit(support::vote_share(1));
    world.run_for(60s);
    world.clock.advance(10min);
    world.engine.process().inbox.stop();
    world.engine.process().processor.run(0ms);
    CHECK(outage.alert_lines() == 1);
    CHECK(world.number("select logged from alert") == 1);
}

namespace {

// How many shares each alert tells of, those of the end of the round included.
std::vector<std::uint64_t> told_by(const support::RecordingAlerts& alerts) {
    std::vector<std::uint64_t> told;
    for (const RoundAlert& alert : alerts.raised) told.push_back(alert.unsubmitted());
    return told;
}

using Told = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a share of a closed round is taken, times out and is alerted, at most once a minute") {
    for (const bool all_revealed : {true, false}) {
        CAPTURE(all_revealed);
        Outage outage;
        support::World& world = outage.world;
        if (all_revealed) outage.prover_up();
        (void)world.submit(support::vote_share(1));
        world.run_for(3min);
        REQUIRE(world.number("select closed from round") == 1);
        const std::size_t proofs = world.gateway.prepares.size();
        CHECK(outage.alert_lines() == (all_revealed ? 0 : 1));
        if (!all_revealed) {
            world.engine.process().inbox.alert_taken(outage.alerts.raised[0].mark());
            outage.alerts.raised.clear();
        }

        // The first at once, those of the minute after it together.
        CHECK(world.status(world.submit(support::vote_share(2))) == Status::timed_out);
        CHECK(told_by(outage.alerts) == Told{1});
        for (std::uint64_t number = 3; number <= 5; ++number) {
            CHECK(world.status(world.submit(support::vote_share(number))) == Status::timed_out);
            world.run_for(15s);
        }
        world.engine.process().inbox.alert_taken(outage.alerts.raised[0].mark());
        world.run_for(14s);
        CHECK(told_by(outage.alerts) == Told{1});
        world.run_for(31s);
        CHECK(told_by(outage.alerts) == Told{1, 3});
        const RoundAlert& last = outage.alerts.raised.back();
        CHECK(last.total == 3);
        CHECK(last.submitted == 0);
        CHECK(last.late == (all_revealed ? 3 : 4));
        CHECK(outage.alert_lines() == (all_revealed ? 2 : 3));
        CHECK(world.engine.logger.count("unsubmitted=3 after_end=true") == 1);

        CHECK(world.engine.logger.count("share_after_round_end round_id=" +
                                        domain::to_hex(support::vote_share(1).round_id)) == 1);
        CHECK(world.gateway.prepares.size() == proofs);
        CHECK(world.number("select count(*) from request") == 0);
        CHECK(world.number("select total - submitted - timed_out from round") == 0);

        // What was told is not told again, in this life or the next; what was not taken is.
        world.run_for(1h);
        CHECK(told_by(outage.alerts) == Told{1, 3});
        outage.alerts.raised.clear();
        world.restart();
        world.run_for(5min);
        CHECK(told_by(outage.alerts) == Told{3});
        world.engine.process().inbox.alert_taken(outage.alerts.raised[0].mark());
        world.run_for(1s);
        outage.alerts.raised.clear();
        world.restart();
        world.run_for(1h);
        CHECK(outage.alerts.raised.empty());
        CHECK(outage.alert_lines() == (all_revealed ? 2 : 3));

        (void)world.submit(support::vote_share(6));
        CHECK(told_by(outage.alerts) == Told{1});
        CHECK(world.engine.logger.count("share_after_round_end") == 2);
    }
}

TEST_CASE("what came while an alert was under way is told once that is taken") {
    Outage outage;
    support::World& world = outage.world;
    (void)world.submit(support::vote_share(1));
    world.run_for(3min);
    const auto end = outage.alerts.raised.at(0).mark();
    outage.alerts.raised.clear();
    (void)world.submit(support::vote_share(2));
    world.run_for(5min);
    (void)world.submit(support::vote_share(3));
    world.run_for(5min);
    // The log has them, one by one; whoever is told has not taken that of the end.
    CHECK(outage.alert_lines() == 3);
    CHECK(outage.alerts.raised.empty());
    world.engine.process().inbox.alert_taken(end);
    world.run_for(1min);
    CHECK(told_by(outage.alerts) == Told{2});
    world.engine.process().inbox.alert_taken(outage.alerts.raised[0].mark());
    world.run_for(10min);
    CHECK(told_by(outage.alerts) == Told{2});
    CHECK(outage.alert_lines() == 3);
}

TEST_CASE("with nobody to tell, late shares are logged and done") {
    Outage outage;
    support::World& world = outage.world;
    world.engine.alerts = nullptr;
    outage.prover_up();
    (void)world.submit(support::vote_share(1));
    world.run_for(3min);
    for (std::uint64_t number = 2; number <= 4; ++number) {
        (void)world.submit(support::vote_share(number));
        world.run_for(10min);
    }
    CHECK(outage.alert_lines() == 3);
    CHECK(world.number("select taken - 1 from alert") == 2);
    world.engine.alerts = &outage.alerts;
    world.restart();
    world.run_for(10min);
    CHECK(outage.alerts.calls == 0);
    CHECK(outage.alert_lines() == 3);
}

TEST_CASE("a late share that was dropped before a crash is told after it") {
    Outage outage;
    support::World& world = outage.world;
    outage.prover_up();
    (void)world.submit(support::vote_share(1));
    world.run_for(3min);
    (void)world.submit(support::vote_share(2));
    world.engine.process().inbox.alert_taken(outage.alerts.raised.at(0).mark());
    world.run_for(10s);
    (void)world.submit(support::vote_share(3));  // within the minute: not told yet
    outage.alerts.raised.clear();
    world.restart();
    world.run_for(31s);
    CHECK(told_by(outage.alerts) == Told{1});
    CHECK(outage.alert_lines() == 2);
}

TEST_CASE("a late share times out although every slot is taken, also after a crash in between") {
    Outage outage;
    support::World& world = outage.world;
    outage.prover_up();
    world.engine.options.shares.max_concurrent_proofs = 1;
    (void)world.submit(support::vote_share(1));
    world.run_for(2min);
    world.gateway.prepare_delay = 1h;
    world.engine.vote_end = world.clock.wall() + 10h;
    (void)world.submit(of_round(9, 1));  // takes the only slot
    world.engine.vote_end = world.clock.wall() - 1min;
    const auto late = world.submit(support::vote_share(2));
    CHECK(world.status(late) == Status::timed_out);

    world.crash();
    world.tamper(
        "update request set status = 'queued', lane = 0, wake_ms = 5, reason = null, "
        "deadline_ms = 5000 where id = " +
        std::to_string(late.sequence));
    world.engine.start();
    world.engine.turn();
    CHECK(world.status(late) == Status::timed_out);
}

TEST_CASE("a share of a round that was never closed alerts as usual, however late it comes") {
    Outage outage;
    support::World& world = outage.world;
    world.engine.vote_end = world.clock.wall() - 1h;
    const auto id = world.submit(support::vote_share(1));
    CHECK(world.status(id) == Status::timed_out);
    CHECK(world.engine.logger.count("share_after_round_end") == 0);
    REQUIRE(outage.alerts.raised.size() == 1);
    CHECK(outage.alerts.raised[0].pending == 1);
}

TEST_CASE("what runs when its round ends may finish, and then the round closes at once") {
    Outage outage;
    support::World& world = outage.world;
    outage.prover_up();
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.gateway.prepare_delay = 100s;
    const auto running = world.submit(support::vote_share(1));
    const auto waiting = world.submit(support::vote_share(2));
    world.run_for(61s);
    CHECK(world.status(running) == Status::processing);
    CHECK(world.status(waiting) == Status::timed_out);
    CHECK(outage.alerts.calls == 0);
    // The loop does not spin meanwhile.
    CHECK(world.engine.turn().length > 1s);
    world.run_for(39s + 20ms);
    REQUIRE(outage.alerts.raised.size() == 1);
    CHECK(outage.alerts.raised[0].submitted == 1);
    CHECK(outage.alerts.raised[0].pending == 1);
    CHECK(world.gateway.prepares.size() == 1);
}

TEST_CASE("what fails after the end of its round is not tried again") {
    Outage outage;
    support::World& world = outage.world;
    world.gateway.prepare_delay = 100s;
    const auto running = world.submit(support::vote_share(1));
    world.run_for(101s);
    CHECK(world.status(running) == Status::timed_out);
    CHECK(world.gateway.prepares.size() == 1);
    REQUIRE(outage.alerts.raised.size() == 1);
    CHECK(outage.alerts.raised[0].pending == 1);
}

TEST_CASE("many rounds that end together close in batches, each with its own alert") {
    Outage outage;
    support::World& world = outage.world;
    for (std::uint8_t round = 1; round <= 60; ++round) {
        for (std::uint64_t number = 1; number <= 5; ++number) {
            world.engine.post(of_round(round, number), [](engine::AcceptOutcome) {});
        }
    }
    world.run_for(65s);  // the last tries may still be under way at the end
    CHECK(outage.alerts.raised.size() == 60);
    CHECK(outage.alerts.calls > 1);
    CHECK(outage.alert_lines() == 60);
    CHECK(world.number("select count(*) from alert") == 60);
    CHECK(world.number("select count(*) from request where status = 'timed_out'") == 300);
}

TEST_CASE("a wall clock that is not believed closes no round") {
    Outage outage;
    support::World& world = outage.world;
    const auto id = world.submit(support::vote_share(1));
    world.run_for(1s);
    world.clock.step_wall(24h);
    world.run_for(20s);
    CHECK(world.status(id) == Status::queued);
    CHECK(outage.alerts.calls == 0);
    world.clock.step_wall(-24h);
    world.run_for(30s);
    CHECK(world.status(id) == Status::queued);
    world.run_for(10s);
    CHECK(world.status(id) == Status::timed_out);
    CHECK(outage.alerts.calls == 1);
}

TEST_CASE("a purge says of each round how many rows went, once") {
    Outage outage;
    support::World& world = outage.world;
    for (std::uint64_t number = 1; number <= 250; ++number) {
        world.engine.post(of_round(1, number), [](engine::AcceptOutcome) {});
    }
    world.engine.post(of_round(2, 1), [](engine::AcceptOutcome) {});
    world.run_for(5min);
    CHECK(world.number("select count(*) from request") == 0);
    CHECK(world.engine.logger.count("round_purged") == 2);
    CHECK(world.engine.logger.count("round_purged round_id=01") == 1);
    CHECK(world.engine.logger.count(" rows_deleted=250") == 1);
    CHECK(world.engine.logger.count(" rows_deleted=1") == 1);
}

TEST_CASE("the queues of the open rounds are served") {
    Outage outage;
    support::World& world = outage.world;
    (void)world.submit(of_round(1, 1));
    world.run_for(100ms);
    world.engine.vote_end += 1h;
    outage.prover_up();
    (void)world.submit(of_round(2, 1));
    (void)world.submit(of_round(2, 2));
    world.run_for(200ms);
    const auto answer = world.engine.process().service.rounds();
    REQUIRE(is<std::vector<store::RoundCounts>>(answer));
    const auto& rounds = std::get<std::vector<store::RoundCounts>>(answer);
    REQUIRE(rounds.size() == 2);
    CHECK(rounds[0].round_id == of_round(1, 1).round_id);
    CHECK(rounds[0].pending == 1);
    CHECK(rounds[1].total == 2);
    CHECK(rounds[1].submitted == 2);
    world.run_for(2min);
    CHECK(
        std::get<std::vector<store::RoundCounts>>(world.engine.process().service.rounds()).size() ==
        1);
}
