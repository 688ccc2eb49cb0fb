#include <algorithm>
#include <chrono>
#include <map>

#include "support/world.hpp"

using domain::Kind;
using domain::Monotonic;
using domain::Reason;
using domain::Status;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

domain::Failure refused() {
    return {Reason::internal_error, "chain refused: code 5", {}};
}

std::vector<std::int64_t> pauses_ms(const std::vector<Monotonic>& times) {
    std::vector<std::int64_t> pauses;
    for (std::size_t i = 1; i < times.size(); ++i) {
        pauses.push_back(
            std::chrono::duration_cast<domain::Milliseconds>(times[i] - times[i - 1]).count());
    }
    return pauses;
}

}  // namespace

TEST_CASE("a share never starts before its second") {
    support::World world;
    world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
    world.engine.options.shares.max_concurrent_proofs = 100;
    // The wall clock stands in the middle of a second.
    world.clock.advance(456'789us);
    std::uint64_t early = 0;
    std::uint64_t late = 0;
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> PrepareOutcome {
        const auto at = std::get<domain::VoteShare>(*order.request).submit_at;
        const auto wall = domain::unix_ms(world.clock.wall());
        early += wall < static_cast<std::int64_t>(at * 1000) ? 1 : 0;
        late += wall > static_cast<std::int64_t>(at * 1000) ? 1 : 0;
        return engine::Plan{};
    };
    for (std::uint64_t number = 1; number <= 60; ++number) {
        (void)world.submit(support::vote_share(
            number, world.in_seconds(static_cast<std::int64_t>(1 + number * 7 % 30))));
    }
    world.run_for(31s);
    CHECK(early == 0);
    CHECK(late == 0);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 60);
}

TEST_CASE("a share with no time or a time that passed is ready at once") {
    for (const std::int64_t when : {0, -1, -3600}) {
        CAPTURE(when);
        support::World world;
        const auto id =
            world.submit(support::vote_share(1, when == 0 ? 0 : world.in_seconds(when)));
        CHECK(world.status(id) == Status::processing);
    }
}

TEST_CASE("shares of the same second form one batch, in order of acceptance, N at once") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 3;
    std::size_t running = 0;
    std::size_t peak = 0;
    world.gateway.prepare_delay = 1s;
    world.gateway.send_delay = 1s;
    world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
        --running;
        return support::ScriptedGateway::receipt(order);
    };
    std::vector<domain::RequestId> ids;
    const std::uint64_t second = world.in_seconds(30);
    for (std::uint64_t number = 1; number <= 10; ++number) {
        ids.push_back(world.submit(support::vote_share(number, second)));
    }
    std::size_t seen = 0;
    for (int tenth = 0; tenth < 600; ++tenth) {
        world.run_for(100ms);
        running += world.gateway.prepares.size() - seen;
        seen = world.gateway.prepares.size();
        peak = std::max(peak, running);
    }
    CHECK(peak == 3);
    REQUIRE(world.gateway.prepares.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) CHECK(world.gateway.prepares[i].id == ids[i]);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 10);
}

TEST_CASE("field 46: a slow proof holds its own slot only") {
    support::World world;
    world.gateway.prepare_delay = 60s;
    const auto slow = world.submit(support::vote_share(1));
    REQUIRE(world.status(slow) == Status::processing);
    world.gateway.prepare_delay = 10ms;
    for (std::uint64_t number = 2; number <= 40; ++number) {
        const auto id = world.submit(support::vote_share(number));
        world.run_for(1s);
        CHECK(world.status(id) == Status::completed);
    }
    CHECK(world.status(slow) == Status::processing);
    world.run_for(60s);
    CHECK(world.status(slow) == Status::completed);
}

TEST_CASE("a share fails for good at the fifth refusal, after pauses of 2, 4, 8 and 16 seconds") {
    for (const bool at_send : {false, true}) {
        CAPTURE(at_send);
        support::World world;
        std::vector<Monotonic> times;
        world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
        if (at_send) {
            world.gateway.on_send = [&](const SendOrder&) {
                times.push_back(world.clock.monotonic());
                return engine::Rejected{refused()};
            };
        } else {
            world.gateway.on_prepare = [&](const PrepareOrder&) {
                times.push_back(world.clock.monotonic());
                return engine::Rejected{refused()};
            };
        }
        const auto id = world.submit(support::vote_share(1));
        world.run_for(29s);
        CHECK(world.status(id) == Status::queued);
        CHECK(world.row(id).schedule.attempts == 4);
        CHECK(world.number("select count(*) from payload") == 1);
        world.run_for(1h);
        CHECK(world.status(id) == Status::failure);
        CHECK(world.failure(id) ==
              domain::Failure{Reason::attempts_used_up, "chain refused: code 5", {}});
        CHECK(pauses_ms(times) == std::vector<std::int64_t>{2000, 4000, 8000, 16000});
        CHECK(world.number("select count(*) from payload") == 0);
        CHECK(world.engine.process().gates.shares_in_work() == 0);
    }
}

TEST_CASE("one failure does not touch the siblings") {
    support::World world;
    domain::RequestId bad{};
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> PrepareOutcome {
        if (order.id == bad) return engine::Rejected{refused()};
        return engine::Plan{};
    };
    const std::uint64_t second = world.in_seconds(5);
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 5; ++number) {
        ids.push_back(world.submit(support::vote_share(number, second)));
    }
    bad = ids[2];
    world.run_for(1min);
    for (const auto& id : ids) {
        CHECK(world.status(id) == (id == bad ? Status::failure : Status::completed));
    }
}

TEST_CASE("field 20: an outage of 70 s spends no attempt, unless strict_attempts") {
    struct Row {
        bool strict;
        bool at_send;  // otherwise nobody can be asked for the proof
    };
    for (const Row& row :
         {Row{false, false}, Row{false, true}, Row{true, false}, Row{true, true}}) {
        CAPTURE(row.strict);
        CAPTURE(row.at_send);
        support::World world;
        world.engine.options.shares.strict_attempts = row.strict;
        world.engine.vote_end = world.clock.wall() + 10min;
        const Monotonic up = world.clock.monotonic() + 70s;
        std::vector<Monotonic> times;
        world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
        const auto is_down = [&] {
            times.push_back(world.clock.monotonic());
            return world.clock.monotonic() < up;
        };
        if (row.at_send) {
            world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
                if (is_down()) return engine::Unreachable{"connection refused"};
                return support::ScriptedGateway::receipt(order);
            };
        } else {
            world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
                if (is_down()) return engine::Unreachable{"connection refused"};
                return engine::Plan{};
            };
        }
        const auto id = world.submit(support::vote_share(1));
        world.run_for(69s);
        if (!row.strict) CHECK(world.row(id).schedule.attempts == 0);
        world.run_for(2min);
        CHECK(world.status(id) == (row.strict ? Status::failure : Status::completed));
        if (row.strict) {
            CHECK(world.failure(id).reason == Reason::attempts_used_up);
            CHECK(world.failure(id).text == "connection refused");
            CHECK(pauses_ms(times) == std::vector<std::int64_t>{2000, 4000, 8000, 16000});
        } else {
            CHECK(times.back() < up + 31s);
            CHECK(pauses_ms(times).front() == 500);
            CHECK(world.engine.logger.count("share_attempt_failed") == 0);
        }
    }
}

TEST_CASE("a proof that succeeds between two troubles does not hide that they never end") {
    support::World world;
    std::vector<Monotonic> times;
    world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
    world.gateway.on_send = [&](const SendOrder&) {
        times.push_back(world.clock.monotonic());
        return engine::Unreachable{"connection refused"};
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(3min);
    CHECK(world.status(id) == Status::queued);
    CHECK(pauses_ms(times) == std::vector<std::int64_t>{500, 1000, 2000, 4000, 8000, 16000, 30000,
                                                        30000, 30000, 30000});
    CHECK(world.gateway.prepares.size() == times.size());
    CHECK(world.engine.logger.count("share_waits round_id=") == 1);

    // An attempt that ends, however, lets them begin anew.
    world.gateway.on_send = [&](const SendOrder&) { return engine::Rejected{refused()}; };
    world.run_for(30s);
    REQUIRE(world.row(id).schedule.attempts >= 1);
    CHECK(world.row(id).schedule.faults == 0);
}

TEST_CASE("who can not be asked may say how long to leave it alone") {
    support::World world;
    world.gateway.prepare_delay = 0ms;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
        return engine::Unreachable{"too many requests", {}, 0, 7s};
    };
    (void)world.submit(support::vote_share(1));
    world.run_for(6s + 999ms);
    CHECK(world.gateway.prepares.size() == 1);
    world.run_for(1ms);
    CHECK(world.gateway.prepares.size() == 2);
}

TEST_CASE(
    "a pause of a share is a tenth of what is left of its round, from one second to a minute") {
    struct Case {
        domain::Milliseconds left, hold, pause;
    };
    for (const auto& [left, hold, pause] :
         {Case{2h, 10min, 60s}, Case{10min, 10min, 60s}, Case{5min, 10min, 30s},
          Case{60s, 10min, 6s}, Case{5s, 10min, 1s}, Case{60s, 4s, 4s}, Case{2h, 7s, 7s}}) {
        CAPTURE(left.count());
        CAPTURE(hold.count());
        support::World world;
        world.engine.vote_end = world.clock.wall() + left;
        world.gateway.prepare_delay = 0ms;
        world.gateway.on_prepare = [hold = hold](const PrepareOrder&) -> PrepareOutcome {
            return engine::Unreachable{"too many requests", {}, 0, hold};
        };
        (void)world.submit(support::vote_share(1));
        world.run_for(pause - 1ms);
        CHECK(world.gateway.prepares.size() == 1);
        world.run_for(1ms);
        CHECK(world.gateway.prepares.size() == 2);
    }
}

TEST_CASE("attempts and their first pause are options") {
    support::World world;
    world.engine.options.shares.attempts_max = 3;
    world.engine.options.shares.backoff_first = 250ms;
    std::vector<Monotonic> times;
    world.gateway.prepare_delay = 0ms;
    world.gateway.on_prepare = [&](const PrepareOrder&) {
        times.push_back(world.clock.monotonic());
        return engine::Rejected{refused()};
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(1min);
    CHECK(world.status(id) == Status::failure);
    CHECK(pauses_ms(times) == std::vector<std::int64_t>{250, 500});
}

TEST_CASE("field 19: the end of a share counts, whether or not its round is still written down") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 5min;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(60)));
    const auto never = world.submit(support::vote_share(2, world.in_seconds(240)));
    world.run_for(1s);
    world.crash();
    world.tamper("delete from round");
    world.engine.start();
    world.run_for(58s);
    CHECK(world.status(id) == Status::queued);
    world.run_for(32s);
    CHECK(world.status(id) == Status::completed);

    // What ended is kept until its own end has passed, and a resend is known until then.
    world.run_for(2min);
    CHECK(world.status(id) == Status::completed);
    CHECK(std::get<engine::Accepted>(world.engine.try_submit(support::vote_share(1))).duplicate);

    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Unreachable{"down"}; };
    world.run_for(85s);
    CHECK(world.status(never) == Status::queued);
    world.run_for(5s + 2s);
    CHECK(world.status(never) == Status::timed_out);
    world.run_for(1min);
    CHECK(world.number("select count(*) from request") == 0);
}

TEST_CASE("a proof nobody answers gives its slot back after the lease and is tried again") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 1;
    bool silent = true;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        if (silent) return std::nullopt;
        return engine::Plan{};
    };
    const auto id = world.submit(support::vote_share(1));
    const auto other = world.submit(support::vote_share(2));
    world.run_for(10min - 1s);
    CHECK(world.status(other) == Status::queued);
    silent = false;
    world.run_for(3s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.status(other) == Status::completed);
    CHECK(world.engine.process().gates.shares_in_work() == 0);
}

TEST_CASE("a round that ends takes its waiting shares along: timed out, one alert, purge") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 60s;
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> PrepareOutcome {
        if (std::get<domain::VoteShare>(*order.request).tree_position < 3) {
            return engine::Unreachable{"down"};
        }
        return engine::Plan{};
    };
    const auto first = world.submit(support::vote_share(1));
    const auto second = world.submit(support::vote_share(2, world.in_seconds(60)));
    const auto done = world.submit(support::vote_share(3));
    world.run_for(60s + 999ms);
    CHECK(world.status(first) == Status::queued);
    CHECK(world.status(done) == Status::completed);
    world.run_for(1ms);
    CHECK(world.status(first) == Status::timed_out);
    CHECK(world.failure(first).reason == Reason::round_over);
    CHECK(world.status(second) == Status::timed_out);
    CHECK(world.number("select count(*) from payload") == 0);
    world.run_for(1min);
    CHECK(world.engine.logger.count("round_closed_with_unsubmitted_shares alert=true") == 1);
    CHECK(world.engine.logger.count("total=3 submitted=1 failed=0 pending=2 unsubmitted=2") == 1);
    CHECK(world.number("select count(*) from request") == 0);
    world.run_for(1h);
    world.restart();
    world.run_for(1h);
    CHECK(world.engine.logger.count("round_closed") == 1);
}

TEST_CASE("a round whose shares were all revealed closes without an alert") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 60s;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        (void)world.submit(support::vote_share(number));
    }
    world.run_for(50s);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 3);
    world.run_for(5min);
    CHECK(world.engine.logger.count("round_closed") == 0);
    CHECK(world.number("select count(*) from request") == 0);
    CHECK(world.number("select closed from round") == 1);
}

TEST_CASE("a share due in the last second of its round is still sent") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 60s;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(60)));
    world.run_for(60s + 100ms);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("a share of a round that is over already is taken and times out at once") {
    support::World world;
    world.engine.vote_end = world.clock.wall() - 1h;
    const auto id = world.submit(support::vote_share(1));
    CHECK(world.status(id) == Status::timed_out);
    CHECK(world.gateway.prepares.empty());
    world.run_for(2min);
    CHECK(world.engine.logger.count("round_closed") == 1);
    CHECK(world.number("select count(*) from request") == 0);
}

TEST_CASE("a proof that runs past the end of the round is not cut off") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 60s;
    world.gateway.prepare_delay = 5min;
    const auto id = world.submit(support::vote_share(1));
    world.run_for(4min);
    CHECK(world.status(id) == Status::processing);
    CHECK(world.engine.logger.count("round_closed") == 0);
    world.run_for(2min);
    CHECK(world.engine.logger.count("round_closed") == 0);
    CHECK(world.number("select closed from round") == 1);
    CHECK(world.number("select submitted from round") == 1);
}

TEST_CASE("a resend is known by its key and compared by its content, whatever became of it") {
    for (const char* stage : {"waiting", "running", "pausing", "revealed", "failed"}) {
        CAPTURE(stage);
        support::World world;
        const std::string at = stage;
        if (at == "failed" || at == "pausing") {
            world.gateway.on_prepare = [](const PrepareOrder&) {
                return engine::Rejected{refused()};
            };
        }
        if (at == "running") world.gateway.prepare_delay = 1h;
        const domain::VoteShare share =
            support::vote_share(1, at == "waiting" ? world.in_seconds(3600) : 0);
        const auto id = world.submit(share);
        world.run_for(at == "failed" || at == "revealed" ? 60s : 1s);
        const store::Row before = world.row(id);

        domain::VoteShare again = share;
        again.submit_at = world.in_seconds(1800);
        for (const domain::VoteShare& same : {share, again}) {
            const auto outcome = world.engine.try_submit(same);
            REQUIRE(is<engine::Accepted>(outcome));
            CHECK(std::get<engine::Accepted>(outcome).duplicate);
            CHECK(std::get<engine::Accepted>(outcome).id == id);
        }
        domain::VoteShare other = share;
        other.shares_hash[0] ^= 1;
        CHECK(is<engine::Conflict>(world.engine.try_submit(other)));
        CHECK(world.row(id) == before);
        CHECK(world.number("select count(*) from request") == 1);
    }
}

TEST_CASE("field 31: share index, proposal and tree position make four shares of one round") {
    support::World world;
    for (const std::uint32_t proposal : {1U, 2U}) {
        for (const std::uint32_t position : {5U, 6U}) {
            domain::VoteShare share = support::vote_share(1);
            share.proposal_id = proposal;
            share.tree_position = position;
            const auto outcome = world.engine.try_submit(share);
            REQUIRE(is<engine::Accepted>(outcome));
            CHECK_FALSE(std::get<engine::Accepted>(outcome).duplicate);
        }
    }
    world.run_for(1s);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 4);
}

TEST_CASE("a lost reply of a share proves and sends again: the chain knows the nullifier") {
    support::World world;
    bool lose = true;
    world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
        if (std::exchange(lose, false)) return engine::Unreachable{"timeout"};
        return engine::Receipt{order.sealed.back().hash, {}, domain::ShareRevealed{"", true}};
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(5s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.result(id) == domain::Result{domain::ShareRevealed{"", true}});
    CHECK(world.gateway.prepares.size() == 2);
}

TEST_CASE("field 28: the wall clock steps back and forth before a share is due") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(10)));
    world.run_for(1s);
    world.clock.step_wall(-2h);
    world.run_for(5s);
    CHECK(world.gateway.prepares.empty());
    world.clock.step_wall(2h);
    world.run_for(3s + 999ms);
    CHECK(world.gateway.prepares.empty());
    world.run_for(30s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("the wall clock goes back and stays: no share before its second by that clock") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(10)));
    world.run_for(1s);
    world.clock.step_wall(-1h);
    world.run_for(1h + 8s);
    CHECK(world.status(id) == Status::queued);
    world.run_for(31s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("field 29: a day ahead for 20 seconds releases, expires and deletes nothing") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 2h;
    for (std::uint64_t number = 1; number <= 10; ++number) {
        (void)world.submit(support::vote_share(
            number, world.in_seconds(static_cast<std::int64_t>(1800 + number * 180))));
    }
    std::vector<domain::RequestId> waiting;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        waiting.push_back(world.submit(support::input_proof(number)));
    }
    world.run_for(5min);
    world.clock.step_wall(24h);
    world.run_for(20s);
    CHECK(world.engine.logger.count("clock_leapt ahead_ms=86400000") == 1);
    CHECK(world.gateway.prepares.size() == 3);
    CHECK(world.number("select count(*) from request where status = 'queued'") == 10);
    for (const auto& id : waiting) CHECK(world.status(id) == Status::receipt_received);
    world.clock.step_wall(-24h);
    world.run_for(1s);
    CHECK(world.engine.logger.count("clock_settled") == 1);

    // The normal schedule goes on.
    for (const auto& id : waiting) world.gateway.answer(id, support::proof_accepted());
    world.run_for(1h);
    for (const auto& id : waiting) CHECK(world.status(id) == Status::completed);
    CHECK(world.number(
              "select count(*) from request where kind = 'share' and status = 'completed'") == 10);
}

TEST_CASE("field 29: a day ahead over restarts releases, expires and deletes nothing") {
    support::World world;
    world.engine.vote_end = world.clock.wall() + 2h;
    const auto due = world.submit(support::vote_share(1, world.in_seconds(1800)));
    const auto waiting = world.submit(support::input_proof(1));
    world.run_for(5min);
    world.crash();
    world.clock.step_wall(24h);
    for (int start = 0; start < 3; ++start) {
        world.restart();
        world.run_for(45s);
    }
    CHECK(world.engine.logger.count("clock_leapt ahead_ms=86400000") == 3);
    CHECK(world.gateway.prepares.size() == 1);  // of the input proof
    CHECK(world.status(due) == Status::queued);
    CHECK(world.status(waiting) == Status::receipt_received);
    world.clock.step_wall(-24h);
    world.restart();
    world.gateway.answer(waiting, support::proof_accepted());
    world.run_for(30min);
    CHECK(world.status(due) == Status::completed);
    CHECK(world.status(waiting) == Status::completed);
}

TEST_CASE("a leap over a restart is believed when it stays, and at once after a reboot") {
    for (const bool reboots : {false, true}) {
        CAPTURE(reboots);
        support::World world;
        const auto id = world.submit(support::vote_share(1, world.in_seconds(3600)));
        world.run_for(1s);
        world.crash();
        world.clock.step_wall(2h);
        if (reboots) world.clock.reboot();
        world.restart();
        world.run_for(5min - 1s);
        CHECK(world.status(id) == (reboots ? Status::completed : Status::queued));
        world.run_for(31s);
        CHECK(world.status(id) == Status::completed);
        world.restart();
        CHECK(world.engine.logger.count("clock_leapt") == (reboots ? 0 : 1));
    }
}

TEST_CASE("a clock that was set back may come back over restarts") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(60)));
    world.run_for(1s);
    world.clock.step_wall(-14min);
    world.run_for(5s);
    world.restart();
    world.run_for(5s);
    world.crash();
    world.clock.step_wall(14min);
    world.restart();
    CHECK(world.status(id) == Status::queued);
    world.run_for(50s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.engine.logger.count("clock_leapt") == 0);
}

TEST_CASE("a damaged note of the clock is none, and is written again") {
    for (const char* note :
         {"", "1", "1 x", "1 9223372036854775807", "1 -9223372036854775807", "1 1e99"}) {
        CAPTURE(note);
        support::World world;
        const auto id = world.submit(support::vote_share(1, world.in_seconds(60)));
        world.run_for(1s);
        const std::string kept = "select count(*) from setting where name = '~clock'";
        REQUIRE(world.number(kept) == 1);
        world.crash();
        world.tamper("update setting set value = '" + std::string(note) +
                     "' where name = '~clock'");
        world.restart();
        world.run_for(1min);
        CHECK(world.status(id) == Status::completed);
        CHECK(world.engine.logger.count("clock_leapt") == 0);
        CHECK(world.number(kept + " and value <> '" + note + "'") == 1);
    }
}

TEST_CASE("a leap that is confirmed releases what it made due") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(3600)));
    const auto proof = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.clock.step_wall(2h);
    world.run_for(5min - 1s);
    CHECK(world.status(id) == Status::queued);
    world.run_for(31s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.status(proof) == Status::receipt_received);  // deadlines do not leap
}

TEST_CASE("a clock set back and forth ends no lease: never more proofs than slots (seed 38)") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 1;
    world.gateway.on_prepare = [](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        return std::nullopt;
    };
    for (std::uint64_t number = 1; number <= 2; ++number) {
        static_cast<void>(world.submit(support::vote_share(number)));
    }
    world.run_for(1s);
    world.clock.step_wall(-50min);
    world.run_for(1s);
    world.clock.step_wall(40min);
    world.run_for(world.engine.options.lease - 10s);
    CHECK(world.gateway.prepares.size() == 1);

    world.run_for(20s);
    CHECK(world.gateway.prepares.size() == 2);
}

TEST_CASE(
    "a share that had started waits again for its second when the clock went back (seed 64)") {
    support::World world;
    world.gateway.on_prepare = [](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        return std::nullopt;
    };
    static_cast<void>(world.submit(support::vote_share(1, world.in_seconds(5))));
    world.run_for(6s);
    REQUIRE(world.gateway.prepares.size() == 1);

    world.crash();
    world.clock.step_wall(-1h);
    world.engine.start();
    world.run_for(59min);
    CHECK(world.gateway.prepares.size() == 1);
    world.run_for(2min);
    CHECK(world.gateway.prepares.size() == 2);
}

TEST_CASE("the gateway hears of proofs some seconds before they begin, and of how many at once") {
    struct Row {
        const char* label;
        domain::Milliseconds lead;
        std::uint32_t slots;
        std::vector<std::int64_t> due;  // in seconds from now
        // When it is told first, in milliseconds from now, and the most it is told of.
        std::int64_t first_ms;
        std::size_t most;
    };
    for (const Row& row : {
             Row{"a single one", 5s, 3, {60}, 55'000, 1},
             Row{"of the same second", 5s, 3, {60, 60}, 55'000, 2},
             Row{"more than there are slots", 5s, 3, {60, 60, 60, 60, 60}, 55'000, 3},
             Row{"one after the other", 5s, 3, {60, 63}, 55'000, 2},
             Row{"sooner than the lead", 5s, 3, {2}, 0, 1},
             Row{"far apart", 5s, 3, {60, 600}, 55'000, 1},
             Row{"another lead", 20s, 3, {60}, 40'000, 1},
             Row{"who needs no time", 0s, 3, {60}, -1, 0},
         }) {
        CAPTURE(row.label);
        support::World world;
        world.engine.options.shares.prover_lead = row.lead;
        world.engine.options.shares.max_concurrent_proofs = row.slots;
        world.gateway.prepare_delay = 4s;
        world.engine.start();
        const Monotonic begin = world.clock.monotonic();
        std::uint64_t number = 0;
        for (const std::int64_t second : row.due) {
            (void)world.submit(support::vote_share(++number, world.in_seconds(second)));
        }
        world.run_for(700s);
        std::size_t most = 0;
        for (const auto& expected : world.gateway.expected) {
            most = std::max(most, expected.proofs);
        }
        CHECK(most == row.most);
        REQUIRE(world.gateway.expected.empty() == (row.first_ms < 0));
        if (row.first_ms < 0) continue;
        CHECK(world.gateway.expected.front().when - begin == domain::Milliseconds{row.first_ms});
        CHECK(world.number("select count(*) from request where status <> 'completed'") == 0);
    }
}

TEST_CASE("nobody gets ready for shares of a process that stops") {
    support::World world;
    world.engine.options.shares.prover_lead = 5s;
    (void)world.submit(support::vote_share(1, world.in_seconds(60)));
    world.engine.process().inbox.stop();
    world.run_for(58s);
    CHECK(world.gateway.expected.empty());
}

TEST_CASE("a clock that is set back during the proof keeps the share until its second") {
    support::World world;
    world.gateway.prepare_delay = 30s;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(10)));
    const domain::Timestamp due =
        std::chrono::floor<std::chrono::seconds>(world.clock.wall()) + 10s;
    bool was_early = false;
    world.gateway.on_send = [&](const SendOrder& order) -> SendOutcome {
        was_early = was_early || world.clock.wall() < due;
        return support::ScriptedGateway::receipt(order);
    };
    world.run_for(20s);
    REQUIRE(world.gateway.prepares.size() == 1);
    world.clock.step_wall(-1h);
    world.run_for(59min);
    CHECK(world.gateway.sends.empty());
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 0);
    world.run_for(2min);
    CHECK(world.status(id) == Status::completed);
    CHECK_FALSE(was_early);
}

TEST_CASE("a share for no certain time goes on when the clock is set back during its proof") {
    support::World world;
    world.gateway.prepare_delay = 30s;
    const auto id = world.submit(support::vote_share(1, 0));
    world.run_for(20s);
    world.clock.step_wall(-1h);
    world.run_for(11s);
    CHECK(world.status(id) == Status::completed);
    CHECK(world.gateway.prepares.size() == 1);
}
