#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "support/world.hpp"

using domain::Kind;
using domain::Reason;
using domain::Status;
using engine::CheckOrder;
using engine::CheckOutcome;
using engine::PrepareOrder;
using engine::PrepareOutcome;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

// Answers everything that has a receipt, until nothing is left.
void answer_all(support::World& world) {
    SQLite::Database database{store::database_path(world.engine.store_options).string(),
                              SQLite::OPEN_READONLY};
    SQLite::Statement rows{
        database, "select id, random, kind from request where status = 'receipt_received'"};
    std::vector<std::pair<domain::RequestId, Kind>> found;
    while (rows.executeStep()) {
        found.emplace_back(
            domain::RequestId{rows.getColumn(0).getInt64(), rows.getColumn(1).getInt64()},
            domain::kind_from(rows.getColumn(2).getString()).value());
    }
    for (const auto& [id, kind] : found) support::answer_well(world.gateway, id, kind);
}

std::int64_t count(support::World& world, const std::string& where) {
    return world.number("select count(*) from request where " + where);
}

// Nobody answers what comes in until the process has died so often.
struct Dying : support::World {
    Dying() {
        gateway.on_check = [](const CheckOrder&) { return std::nullopt; };
        gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
    }
    void instruct(engine::Instruction::What what) {
        engine.process().service.instruct({std::move(what), [](const auto&) {}});
    }
    void die(int crashes) {
        die(crashes, [] {});
    }
    void die(int crashes, const std::function<void()>& before_last_start) {
        for (int crash = 1; crash <= crashes; ++crash) {
            run_for(1s);
            this->crash();
            if (crash == crashes) before_last_start();
            engine.start();
        }
        gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
        gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    }
};

}  // namespace

TEST_CASE("recovery is not limited by the capacity of the gates (field report 13)") {
    support::World world;
    world.gateway.on_check = [](const CheckOrder&) { return std::nullopt; };
    world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
    for (std::uint64_t number = 1; number <= 50; ++number) {
        (void)world.submit(support::public_decrypt(number));
        (void)world.submit(support::input_proof(number));
    }
    world.run_for(1s);
    world.crash();

    // The operator made the gates small before the start.
    world.engine.options.readiness.public_decrypt = {2, 2, 0};
    world.engine.options.sending.public_decrypt = {20, 0, 2, 0};
    world.engine.options.sending.input_proof = {20, 0, 2, 0};
    world.gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    world.gateway.checks_peak = 0;
    world.engine.start();
    CHECK(count(world, "status = 'queued'") == 50);
    CHECK(count(world, "status = 'processing'") == 50);
    world.run_for(1min);
    CHECK(world.gateway.checks_peak == 2);
    answer_all(world);
    world.run_for(1s);
    CHECK(count(world, "status = 'completed'") == 100);
}

TEST_CASE(
    "every row in work is back on schedule after a kill, ended ones untouched (field report 14)") {
    support::World world;
    std::set<domain::RequestId> silent_sends;
    std::set<domain::RequestId> silent_prepares;
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (silent_sends.contains(order.id)) return std::nullopt;
        return support::ScriptedGateway::receipt(order);
    };
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> std::optional<PrepareOutcome> {
        if (silent_prepares.contains(order.id)) return std::nullopt;
        return engine::Plan{};
    };
    const auto completed = world.submit(support::input_proof(1));
    const auto revealed = world.submit(support::vote_share(9));
    world.run_for(1s);
    world.gateway.answer(completed, support::proof_accepted());
    world.run_for(1s);
    std::vector<domain::RequestId> in_flight;
    for (std::uint64_t number = 2; number <= 4; ++number) {
        in_flight.push_back(world.submit(support::input_proof(number)));
        silent_sends.insert(in_flight.back());
    }
    std::vector<domain::RequestId> witnessed;
    for (std::uint64_t number = 1; number <= 2; ++number) {
        witnessed.push_back(world.submit(support::vote_share(number)));
        silent_prepares.insert(witnessed.back());
    }
    world.run_for(1s);
    for (const auto& id : in_flight) REQUIRE(world.status(id) == Status::tx_in_flight);
    for (const auto& id : witnessed) REQUIRE(world.status(id) == Status::processing);
    const auto ended = std::vector{world.row(completed), world.row(revealed)};

    world.restart();
    CHECK(world.engine.recovered.in_flight == 3);
    CHECK(world.engine.recovered.shares == 2);
    for (const auto& id : in_flight) CHECK(world.status(id) == Status::processing);
    for (const auto& id : witnessed) CHECK(world.status(id) == Status::queued);
    CHECK(ended == std::vector{world.row(completed), world.row(revealed)});

    silent_sends.clear();
    silent_prepares.clear();
    world.run_for(1s);
    for (const auto& id : in_flight) CHECK(world.status(id) == Status::receipt_received);
    for (const auto& id : witnessed) CHECK(world.status(id) == Status::completed);
    CHECK(ended == std::vector{world.row(completed), world.row(revealed)});
}

TEST_CASE("field 16: a request that kills the process is failed after five claims, not its peers") {
    struct Row {
        const char* label;
        Kind kind;
        std::string at;
        int crashes = 5;
    };
    for (const Row& row : {Row{"a share at its proof", Kind::share, "prepare"},
                           Row{"a share at its reveal", Kind::share, "send"},
                           Row{"a decrypt at readiness", Kind::public_decrypt, "check"},
                           Row{"a decrypt at preparing", Kind::user_decrypt, "prepare"},
                           Row{"a proof at preparing", Kind::input_proof, "prepare"},
                           Row{"a proof at sending", Kind::input_proof, "send", 15}}) {
        CAPTURE(row.label);
        support::World world;
        int claims = 0;
        bool dying = false;
        domain::RequestId deadly{};
        const auto strike = [&](const domain::RequestId& id, const char* stage) {
            if (id != deadly || row.at != stage) return false;
            ++claims;
            dying = true;
            return true;
        };
        world.gateway.on_check = [&](const CheckOrder& o) -> std::optional<CheckOutcome> {
            if (dying || strike(o.id, "check")) return std::nullopt;
            return engine::Ready{};
        };
        world.gateway.on_prepare = [&](const PrepareOrder& o) -> std::optional<PrepareOutcome> {
            if (dying || strike(o.id, "prepare")) return std::nullopt;
            return engine::Plan{};
        };
        world.gateway.on_send = [&](const SendOrder& o) -> std::optional<SendOutcome> {
            if (dying || strike(o.id, "send")) return std::nullopt;
            return support::ScriptedGateway::receipt(o);
        };
        world.engine.options.shares.max_concurrent_proofs = 4;
        // The deadly one stands in the middle of the others, all due together.
        std::vector<domain::RequestId> others;
        const std::uint64_t second = world.in_seconds(5);
        for (std::uint64_t number = 1; number <= 21; ++number) {
            const auto id = row.kind == Kind::share
                                ? world.submit(support::vote_share(number, second))
                                : world.submit(support::request_of(row.kind, number));
            if (number == 11) {
                deadly = id;
            } else {
                others.push_back(id);
            }
        }
        int restarts = 0;
        for (; restarts < 20; ++restarts) {
            for (int look = 0; look < 500 && !dying; ++look) world.run_for(20ms);
            if (!dying) break;
            world.crash();
            dying = false;
            world.engine.start();
        }
        CHECK(restarts == row.crashes);
        CHECK(claims == row.crashes);
        CHECK(world.status(deadly) == Status::failure);
        CHECK(world.failure(deadly).reason == Reason::recovered_too_often);
        CHECK(world.failure(deadly).text.ends_with("recovered too often"));
        world.run_for(10s);
        for (const auto& id : others) {
            REQUIRE(world.status(id) ==
                    (row.kind == Kind::share ? Status::completed : Status::receipt_received));
        }
    }
}

TEST_CASE("requests that only stood beside the deadly one are not failed with it") {
    support::World world;
    bool dying = false;
    int crashes = 0;
    // Whatever runs when the third order comes in dies with it, crash after crash.
    domain::RequestId deadly{};
    world.gateway.prepare_delay = 50ms;
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> std::optional<PrepareOutcome> {
        if (dying) return std::nullopt;
        if (order.id == deadly) {
            dying = true;
            return std::nullopt;
        }
        return engine::Plan{};
    };
    deadly = world.submit(support::input_proof(1));
    std::vector<domain::RequestId> others;
    for (std::uint64_t number = 2; number <= 15; ++number) {
        others.push_back(world.submit(support::input_proof(number)));
    }
    for (; crashes < 20; ++crashes) {
        for (int look = 0; look < 250 && !dying; ++look) world.run_for(20ms);
        if (!dying) break;
        world.crash();
        dying = false;
        world.engine.start();
    }
    CHECK(crashes == 5);
    CHECK(world.status(deadly) == Status::failure);
    for (const auto& id : others) CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("whoever was in work at kills from outside is never given up for them") {
    for (const Kind kind :
         {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt, Kind::share}) {
        for (const std::uint32_t crashes_max : {1, 2, 5}) {
            CAPTURE(domain::to_string(kind));
            CAPTURE(crashes_max);
            support::World world;
            world.engine.options.crashes_max = crashes_max;
            bool answers = false;
            world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
                if (!answers) return std::nullopt;
                return engine::Plan{};
            };
            std::vector<domain::RequestId> ids;
            for (std::uint64_t number = 1; number <= 5; ++number) {
                ids.push_back(kind == Kind::share
                                  ? world.submit(support::vote_share(number))
                                  : world.submit(support::request_of(kind, number)));
            }
            world.engine.last_end = engine::recovery::LastEnd::from_outside;
            for (int kill = 0; kill < 30; ++kill) {
                world.run_for(2s);
                world.crash();
                world.engine.start();
            }
            for (const auto& id : ids) CHECK_FALSE(domain::is_terminal(world.status(id)));
            answers = true;
            world.run_for(2min);
            for (const auto& id : ids) {
                CHECK(world.status(id) ==
                      (kind == Kind::share ? Status::completed : Status::receipt_received));
            }
        }
    }
}

TEST_CASE("kills from outside do not save a request that kills the process") {
    support::World world;
    bool dying = false;
    int deaths = 0;
    const auto deadly = world.submit(support::input_proof(1));
    world.gateway.on_prepare = [&](const PrepareOrder& order) -> std::optional<PrepareOutcome> {
        if (dying) return std::nullopt;
        if (order.id == deadly) {
            dying = true;
            ++deaths;
            return std::nullopt;
        }
        return engine::Plan{};
    };
    const auto other = world.submit(support::input_proof(2));
    for (int start = 0; start < 40 && world.status(deadly) != Status::failure; ++start) {
        world.run_for(start % 3 == 0 ? 1ms : 2s);
        world.engine.last_end =
            dying ? engine::recovery::LastEnd::by_itself : engine::recovery::LastEnd::from_outside;
        world.crash();
        dying = false;
        world.engine.start();
    }
    CHECK(world.failure(deadly).reason == Reason::recovered_too_often);
    CHECK(deaths <= 5);
    world.engine.last_end = engine::recovery::LastEnd::by_itself;
    world.run_for(1min);
    CHECK(world.status(other) == Status::receipt_received);
}

TEST_CASE("a share that is refused and then kills at sending is counted by its crashes alone") {
    support::World world;
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    const auto id = world.submit(support::vote_share(1));
    for (int crash = 1; crash <= 5; ++crash) {
        world.run_for(1s);
        REQUIRE(world.status(id) == Status::tx_in_flight);
        CHECK(world.row(id).schedule.attempts == 0);
        world.restart();
    }
    CHECK(world.engine.recovered.quarantined == 1);
    CHECK(world.status(id) == Status::failure);
}

TEST_CASE("clean restarts never count as crashes of a request that only waits") {
    support::World world;
    world.gateway.on_check = [](const CheckOrder&) { return engine::NotReady{}; };
    const auto pausing = world.submit(support::public_decrypt(1));
    const auto scheduled = world.submit(support::vote_share(1, world.in_seconds(36000)));
    const auto waiting = world.submit(support::input_proof(1));
    world.run_for(1s);
    for (int restart = 0; restart < 10; ++restart) world.restart();
    CHECK(world.row(pausing).schedule.claims == 0);
    CHECK(world.status(pausing) == Status::queued);
    CHECK(world.status(scheduled) == Status::queued);
    CHECK(world.status(waiting) == Status::receipt_received);
}

TEST_CASE("an unreadable payload fails its request and frees its content (field report 17)") {
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::share}) {
        for (const char* garbage : {"x'7b2278223a'", "x''", "zeroblob(100)"}) {
            CAPTURE(to_string(kind));
            CAPTURE(garbage);
            support::World world;
            world.engine.options.sending.input_proof = {1, 1, 11'000, 1'000};
            (void)world.submit(support::input_proof(99));  // takes the only token
            domain::Request request = support::request_of(kind, 1);
            if (auto* share = std::get_if<domain::VoteShare>(&request)) {
                share->submit_at = world.in_seconds(60);
            }
            const auto id = world.submit(request);
            world.crash();
            world.tamper("update payload set body = " + std::string{garbage} +
                         " where id = " + std::to_string(id.sequence));
            world.engine.start();
            world.run_for(70s);
            CHECK(world.status(id) == Status::failure);
            CHECK(world.failure(id).reason == Reason::undecodable);
            if (kind == Kind::share) continue;  // a failed share keeps its key

            const auto again = world.engine.try_submit(request);
            REQUIRE(is<engine::Accepted>(again));
            CHECK_FALSE(std::get<engine::Accepted>(again).duplicate);
            const auto next = std::get<engine::Accepted>(again).id;
            CHECK(next != id);
            world.run_for(5s);
            support::answer_well(world.gateway, next, kind);
            world.run_for(1s);
            CHECK(world.status(next) == Status::completed);
            CHECK(world.status(id) == Status::failure);
        }
    }
}

TEST_CASE("a row that contradicts itself fails alone, at the start and while others run") {
    struct Row {
        std::string label;
        std::string change;
        bool breaks_schema;  // the check of a small file at the start finds it already
    };
    const Row table[] = {
        {"a receipt before a gate", "status = 'receipt_received', lane = 1", false},
        {"a decryption among the scheduled shares", "lane = 0", false},
        {"claims", "claims = -1", false},
        {"an end on the timer", "status = 'completed'", true},
        {"status", "status = 'inflight'", true},
    };
    for (const Row& row : table) {
        for (const bool in_between : {false, true}) {
            CAPTURE(row.label);
            CAPTURE(in_between);
            support::World world;
            world.gateway.on_check = [](const CheckOrder&) { return engine::NotReady{}; };
            const auto broken = world.submit(support::public_decrypt(1));
            const auto healthy = world.submit(support::public_decrypt(2));
            world.run_for(1s);
            if (!in_between) world.crash();
            world.tamper("pragma ignore_check_constraints = on; update request set " + row.change +
                         " where id = " + std::to_string(broken.sequence));
            if (!in_between && row.breaks_schema) {
                CHECK_THROWS_AS(world.engine.start(), store::StorageError);
                continue;
            }
            if (!in_between) world.engine.start();
            world.gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
            world.run_for(10s);
            world.gateway.answer(healthy, support::public_decrypted());
            world.run_for(2h);
            CHECK(world.status(healthy) == Status::completed);
            CHECK(world.status(broken) == Status::failure);
            CHECK(world.failure(broken).reason == Reason::undecodable);
            CHECK(world.failure(broken).text ==
                  "Processing Failed: The stored request can not be read");
            CHECK(world.engine.logger.count("request_broken row=" +
                                            std::to_string(broken.sequence)) == 1);
            CHECK(is<engine::Accepted>(world.engine.try_submit(support::public_decrypt(1))));
        }
    }
}

TEST_CASE("a payload that is gone, or of another kind, is as unreadable") {
    support::World world;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    world.gateway.on_check = [](const CheckOrder&) { return std::nullopt; };
    (void)world.submit(support::public_decrypt(1));
    const auto gone = world.submit(support::public_decrypt(2));
    const auto changed = world.submit(support::public_decrypt(3));
    world.crash();
    world.tamper("delete from payload where id = " + std::to_string(gone.sequence));
    const auto proof = domain::encode(support::input_proof(1));
    world.tamper("update payload set body = x'" + domain::to_hex(proof) +
                 "' where id = " + std::to_string(changed.sequence));
    world.gateway.on_check = [](const CheckOrder&) { return engine::Ready{}; };
    world.engine.start();
    world.run_for(5s);
    CHECK(world.failure(gone).reason == Reason::undecodable);
    CHECK(world.failure(gone).text == "Processing Failed: The stored request can not be read");
    CHECK(world.failure(changed).reason == Reason::undecodable);
    CHECK(world.engine.process().gates.checks_running(domain::Family::public_decrypt) == 0);
}

TEST_CASE("the furthest along go first, each group in order of acceptance") {
    support::World world;
    world.engine.options.sending.input_proof = {1, 3, 11'000, 1'000};
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    world.gateway.prepare_delay = 1h;
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 6; ++number) {
        if (number == 4) {
            world.run_for(1ms);
            world.gateway.prepare_delay = 1ms;
        }
        ids.push_back(world.submit(support::input_proof(number)));
    }
    // 1 to 3 are prepared for an hour; 4 and 5 get through and are in flight; 6 waits for a token.
    world.run_for(2s + 500ms);
    REQUIRE(world.status(ids[2]) == Status::processing);
    REQUIRE(world.status(ids[3]) == Status::tx_in_flight);
    REQUIRE(world.status(ids[4]) == Status::tx_in_flight);
    REQUIRE(world.status(ids[5]) == Status::processing);

    world.crash();
    world.engine.options.sending.input_proof = {1, 1, 11'000, 1'000};
    world.gateway.sends.clear();
    world.gateway.prepares.clear();
    world.gateway.on_send = [](const SendOrder& order) {
        return support::ScriptedGateway::receipt(order);
    };
    world.engine.start();
    world.run_for(20s);
    std::vector<domain::RequestId> order;
    for (const auto& sent : world.gateway.sends) order.push_back(sent.order.id);
    CHECK(order == std::vector{ids[3], ids[4], ids[0], ids[1], ids[2], ids[5]});
    CHECK(world.gateway.prepares.size() == 4);
}

TEST_CASE("readiness is not repeated for what passed it") {
    support::World world;
    world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
    const auto id = world.submit(support::user_decrypt(1));
    world.run_for(1s);
    REQUIRE(world.status(id) == Status::processing);
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    world.restart();
    world.run_for(1s);
    CHECK(world.status(id) == Status::receipt_received);
    CHECK(world.gateway.checks.size() == 1);
}

TEST_CASE("shares go back to queued with their attempts, and a pause outlives the restart") {
    support::World world;
    std::size_t tries = 0;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        if (++tries <= 3) {
            return engine::Rejected{{Reason::internal_error, "chain refused: code 5", {}}};
        }
        if (tries == 4) return std::nullopt;  // the process dies on it
        return engine::Plan{};
    };
    const auto id = world.submit(support::vote_share(1));
    world.run_for(7s);
    REQUIRE(tries == 3);
    world.restart();  // in the pause of 8 s
    world.run_for(6s);
    CHECK(tries == 3);
    CHECK(world.row(id).schedule.attempts == 3);
    world.run_for(2s);
    REQUIRE(tries == 4);
    world.restart();  // at work
    CHECK(world.status(id) == Status::queued);
    CHECK(world.row(id).schedule.attempts == 3);
    world.run_for(1s);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("a scheduled share keeps its second over restarts") {
    support::World world;
    const auto id = world.submit(support::vote_share(1, world.in_seconds(100)));
    for (int restart = 0; restart < 9; ++restart) {
        world.run_for(11s);
        world.restart();
    }
    CHECK(world.status(id) == Status::queued);
    world.run_for(999ms);
    CHECK(world.status(id) == Status::queued);
    world.run_for(100ms);
    CHECK(world.status(id) == Status::completed);
}

TEST_CASE("a response deadline that passed while nobody listened ends when what is there is read") {
    struct Row {
        std::string label;
        domain::Milliseconds down;
        domain::Milliseconds ahead;  // the wall clock, where the machine starts anew too
        bool is_answered;
    };
    for (const Row& row : {Row{"down", 31min, 0ms, true}, Row{"down, no answer", 31min, 0ms, false},
                           Row{"down until shortly before", 29min, 0ms, true},
                           Row{"a clock that is ahead", 0ms, 1h, true},
                           Row{"a clock that is ahead, no answer", 0ms, 1h, false}}) {
        for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt}) {
            CAPTURE(row.label);
            CAPTURE(domain::to_string(kind));
            support::World world;
            const auto id = world.submit(support::request_of(kind, 1));
            world.run_for(1s);
            world.crash();
            world.clock.advance(row.down);
            world.clock.step_wall(row.ahead);
            if (row.ahead > 0ms) world.clock.reboot();
            world.engine.start();
            world.run_for(1min);
            world.restart();  // nobody knows what the life before has read
            world.run_for(115s);
            CHECK(world.status(id) == Status::receipt_received);
            if (row.is_answered) support::answer_well(world.gateway, id, kind);
            world.run_for(10s);
            CHECK(world.status(id) == (row.is_answered ? Status::completed : Status::timed_out));
        }
    }
}

TEST_CASE("a start puts off no deadline that is shorter than what a start takes") {
    support::World world;
    world.engine.options.response_timeout.input_proof = 10s;
    const auto before = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.crash();
    world.clock.advance(1min);
    world.engine.start();
    const auto after = world.submit(support::input_proof(2));
    world.run_for(9s);
    CHECK(world.status(before) == Status::receipt_received);
    CHECK(world.status(after) == Status::receipt_received);
    world.run_for(2s);
    CHECK(world.status(before) == Status::timed_out);
    CHECK(world.status(after) == Status::timed_out);
}

TEST_CASE("a restart with a wall clock that went back does not freeze what waits") {
    support::World world;
    std::size_t checks = 0;
    world.gateway.on_check = [&](const CheckOrder&) -> CheckOutcome {
        if (++checks < 3) return engine::NotReady{};
        return engine::Ready{};
    };
    const auto pausing = world.submit(support::public_decrypt(1));
    const auto waiting = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.crash();
    world.clock.step_wall(-48h);
    world.engine.start();
    world.run_for(2min);
    CHECK(world.status(pausing) == Status::receipt_received);
    world.run_for(31min);
    CHECK(world.status(waiting) == Status::timed_out);
}

TEST_CASE("many innocent suspects are cleared in groups, not one by one") {
    support::World world;
    world.engine.options.sending.input_proof = {1'000'000, 0, 11'000, 1'000};
    world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 100; ++number) {
        ids.push_back(world.submit(support::input_proof(number)));
    }
    for (int crash = 0; crash < 3; ++crash) {
        world.run_for(1s);
        world.restart();
    }
    REQUIRE(world.engine.recovered.suspects == 100);
    // Something else kills the process for as long as a group of eight runs.
    world.gateway.prepares.clear();
    int answered = 0;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> std::optional<PrepareOutcome> {
        if (++answered > 10) return std::nullopt;
        return engine::Plan{};
    };
    world.run_for(5s);
    CHECK(world.gateway.prepares.size() == 15);  // 1, 2, 4 and 8
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    world.restart();
    CHECK(world.engine.recovered.quarantined == 0);
    world.run_for(1s);
    for (const auto& id : ids) CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("a row that turns out broken while it rests gives its place in flight back") {
    support::World world;
    world.engine.options.sends_max = 1;
    world.gateway.on_send = [](const SendOrder&) -> SendOutcome {
        return engine::unreached("no node");
    };
    const auto broken = world.submit(support::input_proof(1));
    world.run_for(1s);
    REQUIRE(world.status(broken) == Status::tx_in_flight);
    world.tamper(
        "pragma ignore_check_constraints = on; update request set claims = -1 where id = " +
        std::to_string(broken.sequence));
    world.gateway.on_send = [](const SendOrder& order) -> SendOutcome {
        return support::ScriptedGateway::receipt(order);
    };
    const auto healthy = world.submit(support::input_proof(2));
    world.run_for(1min);
    CHECK(world.status(broken) == Status::failure);
    CHECK(world.status(healthy) == Status::receipt_received);
    CHECK(world.engine.process().gates.sends_in_flight() == 0);
}

TEST_CASE(
    "while the process was down nobody was asked: what met no node before is tried once more") {
    for (const Kind kind : {Kind::public_decrypt, Kind::input_proof}) {
        for (const bool is_well : {true, false}) {
            CAPTURE(to_string(kind));
            CAPTURE(is_well);
            support::World world;
            const auto on_check = world.gateway.on_check;
            const auto on_prepare = world.gateway.on_prepare;
            world.gateway.on_check = [](const CheckOrder&) { return engine::unreached("no node"); };
            world.gateway.on_prepare = [](const engine::PrepareOrder&) {
                return engine::unreached("no node");
            };
            const auto id = world.submit(support::request_of(kind, 1));
            world.run_for(1min);
            world.crash();
            world.clock.advance(10h);
            if (is_well) {
                world.gateway.on_check = on_check;
                world.gateway.on_prepare = on_prepare;
            }
            world.engine.start();
            world.run_for(1min);
            CHECK(world.status(id) == (is_well ? Status::receipt_received : Status::failure));
            if (!is_well) CHECK(world.failure(id).reason == domain::Reason::unreachable);
        }
    }
}

TEST_CASE("a ciphertext that got ready while the process was down is found ready") {
    for (const bool is_ready : {true, false}) {
        CAPTURE(is_ready);
        support::World world;
        const auto on_check = world.gateway.on_check;
        world.gateway.on_check = [](const CheckOrder&) { return engine::NotReady{}; };
        const auto id = world.submit(support::public_decrypt(1));
        world.run_for(1min);
        world.crash();
        world.clock.advance(10h);
        if (is_ready) world.gateway.on_check = on_check;
        world.engine.start();
        world.run_for(1min);
        CHECK(world.status(id) == (is_ready ? Status::receipt_received : Status::timed_out));
    }
}

TEST_CASE("nobody waits for a suspect that can not begin") {
    SUBCASE("its kind is paused") {
        Dying world;
        const auto first = world.submit(support::public_decrypt(1));
        const auto second = world.submit(support::public_decrypt(2));
        const auto other = world.submit(support::user_decrypt(1));
        const auto share = world.submit(support::vote_share(1));
        world.die(3);
        REQUIRE(world.engine.recovered.suspects == 4);
        world.instruct(engine::Pause{domain::Family::public_decrypt});
        world.run_for(5s);
        CHECK(world.status(other) == Status::receipt_received);
        CHECK(world.status(share) == Status::completed);
        world.run_for(2h);
        CHECK(world.status(first) == Status::queued);
        world.instruct(engine::Unpause{domain::Family::public_decrypt});
        world.run_for(5s);
        CHECK(world.status(first) == Status::receipt_received);
        CHECK(world.status(second) == Status::receipt_received);
    }
    SUBCASE("no place in flight is free") {
        Dying world;
        world.engine.vote_end = world.clock.wall() + 20min;
        const auto stuck = world.submit(support::input_proof(1));
        const auto share = world.submit(support::vote_share(1));
        const auto other = world.submit(support::user_decrypt(1));
        world.die(3, [&world] { world.engine.options.sends_max = 0; });
        world.run_for(5s);
        CHECK(world.status(stuck) == Status::processing);
        CHECK(world.status(share) == Status::completed);
        CHECK(world.status(other) == Status::processing);  // it is ready
    }
    SUBCASE("the account is empty") {
        Dying world;
        const auto stuck = world.submit(support::input_proof(1));
        const auto share = world.submit(support::vote_share(1));
        world.die(3);
        world.engine.process().gates.hold_sending(world.clock.monotonic() + 30min);
        world.run_for(5s);
        CHECK(world.status(stuck) == Status::processing);
        CHECK(world.status(share) == Status::completed);
        world.run_for(31min);
        CHECK(world.status(stuck) == Status::receipt_received);
    }
}

TEST_CASE("suspects that a gate has let wait still run in small groups when it opens") {
    for (const domain::Milliseconds wait : {domain::Milliseconds{10s}, domain::Milliseconds{3h}}) {
        CAPTURE(wait.count());
        Dying world;
        world.gateway.prepare_delay = 100ms;
        std::vector<domain::RequestId> ids;
        for (std::uint64_t number = 1; number <= 6; ++number) {
            ids.push_back(world.submit(support::input_proof(number)));
        }
        world.die(4);
        REQUIRE(world.engine.recovered.suspects == 6);
        world.instruct(engine::Pause{domain::Family::input_proof});
        world.run_for(wait);
        world.gateway.prepares.clear();
        std::size_t answered = 0;
        std::vector<std::size_t> together;
        world.gateway.on_prepare = [&](const PrepareOrder&) {
            together.push_back(world.gateway.prepares.size() - answered++);
            return engine::Plan{};
        };
        world.instruct(engine::Unpause{domain::Family::input_proof});
        world.run_for(10s);
        // The last one, which was there at one crash more, runs alone.
        CHECK(together == std::vector<std::size_t>{1, 2, 1, 2, 1, 1});
        for (const auto& id : ids) CHECK(world.status(id) == Status::receipt_received);
    }
}

TEST_CASE("a suspect share that can not begin ends with its round") {
    Dying world;
    world.engine.vote_end = world.clock.wall() + 10min;
    world.engine.options.retention.share = 24h;
    const auto share = world.submit(support::vote_share(1));
    world.die(3);
    world.instruct(engine::Pause{domain::Family::share});
    world.run_for(9min);
    CHECK(world.status(share) == Status::queued);
    world.run_for(62s);
    CHECK(world.status(share) == Status::timed_out);
    CHECK(world.number("select closed from round") == 1);
}

TEST_CASE("a suspect that went on by itself is not begun once more") {
    // Held and released while its kind was paused, it waits in its queue.
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt}) {
        for (const auto moment : {0ms, 5ms, 15ms, 25ms, 35ms, 1'000ms}) {
            CAPTURE(domain::to_string(kind));
            CAPTURE(moment.count());
            Dying world;
            const auto first = world.submit(support::request_of(kind, 1));
            const auto second = world.submit(support::request_of(kind, 2));
            world.die(3);
            REQUIRE(world.engine.recovered.suspects == 2);
            world.instruct(engine::Pause{domain::family_of(kind)});
            world.run_for(1s);
            world.engine.process().inbox.account_found({"0xA", 7, true});
            world.run_for(1s);
            world.instruct(engine::Release{true, {}});
            world.run_for(1s);
            world.instruct(engine::Unpause{domain::family_of(kind)});
            world.run_for(moment);
            world.instruct(engine::Cancel{second});
            world.run_for(3h);
            CHECK(world.gateway.sends.size() <= 2);
            CHECK(world.status(first) == Status::timed_out);  // nobody answered the receipt
            CHECK(domain::is_terminal(world.status(second)));
        }
    }
}

TEST_CASE("a suspect waits for no other one's queue, however long that is") {
    Dying world;
    world.engine.options.sending.input_proof = {2, 2, 11'000, 1'000};
    const auto first = world.submit(support::input_proof(1));
    const auto second = world.submit(support::input_proof(2));
    world.die(3);
    REQUIRE(world.engine.recovered.suspects == 2);
    for (std::uint64_t number = 3; number <= 600; ++number) {
        world.engine.post(support::input_proof(number), [](const engine::AcceptOutcome&) {});
    }
    world.run_for(10s);
    CHECK(world.status(first) == Status::receipt_received);
    CHECK(world.status(second) == Status::receipt_received);
}

TEST_CASE("field 16: what a gateway turns away untouched keeps the count of its crashes") {
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt}) {
        CAPTURE(domain::to_string(kind));
        support::World world;
        bool dying = false;
        int claims = 0;
        domain::RequestId deadly{};
        domain::Monotonic ready_at = world.clock.monotonic() + 1s;
        world.gateway.on_prepare = [&](const PrepareOrder& order) -> std::optional<PrepareOutcome> {
            if (dying) return std::nullopt;
            if (world.clock.monotonic() < ready_at) {
                engine::Unreachable unreachable = engine::unreached("no chain yet");
                unreachable.untouched = true;
                return unreachable;
            }
            if (order.id != deadly) return engine::Plan{};
            ++claims;
            dying = true;
            return std::nullopt;
        };
        std::vector<domain::RequestId> others;
        for (std::uint64_t number = 1; number <= 9; ++number) {
            const auto id = world.submit(support::request_of(kind, number));
            if (number == 5) {
                deadly = id;
            } else {
                others.push_back(id);
            }
        }
        int restarts = 0;
        for (; restarts < 20; ++restarts) {
            for (int look = 0; look < 500 && !dying; ++look) world.run_for(200ms);
            if (!dying) break;
            world.crash();
            dying = false;
            ready_at = world.clock.monotonic() + 1s;
            world.engine.start();
        }
        CHECK(restarts == 5);
        CHECK(claims == 5);
        CHECK(world.failure(deadly).reason == Reason::recovered_too_often);
        world.run_for(10s);
        for (const auto& id : others) CHECK(world.status(id) == Status::receipt_received);
    }
}

TEST_CASE("what is turned away untouched, however often, is no suspect for that") {
    support::World world;
    world.gateway.on_prepare = [&](const PrepareOrder&) -> PrepareOutcome {
        engine::Unreachable unreachable = engine::unreached("no chain yet");
        unreachable.untouched = true;
        return unreachable;
    };
    const auto id = world.submit(support::input_proof(1));
    for (int start = 0; start < 10; ++start) {
        world.run_for(20s);
        CHECK(world.row(id).schedule.claims == 0);
        world.restart();
    }
    CHECK(world.engine.recovered.suspects == 0);
    world.gateway.on_prepare = [](const PrepareOrder&) { return engine::Plan{}; };
    world.run_for(1min);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("time in which nobody was there is none in which a transaction was refused") {
    struct Row {
        std::string label;
        bool is_at_work;
        bool ends_orderly;
        domain::Milliseconds ahead;  // the wall clock at the start
    };
    for (const Row& row : {Row{"resting", false, false, 0ms}, Row{"at work", true, false, 0ms},
                           Row{"resting at an orderly end", false, true, 0ms},
                           Row{"at work at an orderly end", true, true, 0ms},
                           Row{"a clock that is ahead", false, false, 1h}}) {
        CAPTURE(row.label);
        support::World world;
        world.gateway.refused = true;
        world.gateway.on_send = [](const SendOrder&) -> std::optional<SendOutcome> {
            return engine::Unreachable{"the stars are not right"};
        };
        const auto id = world.submit(support::input_proof(1));
        world.run_for(100s);
        const auto on_send = world.gateway.on_send;
        if (row.is_at_work) {
            world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
            world.run_for(10s);
        }
        if (row.ends_orderly) {
            world.engine.process().inbox.stop();
            world.engine.process().processor.run(0ms);
        }
        world.crash();
        if (row.ahead == 0ms) world.clock.advance(50min);
        world.clock.step_wall(row.ahead);
        world.gateway.on_send = on_send;
        world.engine.start();
        world.run_for(20s);
        REQUIRE(world.status(id) == Status::tx_in_flight);
        // All that it was refused before counts.
        CHECK(world.gateway.sends.back().order.refused_for > 100s);
        CHECK(world.gateway.sends.back().order.refused_for < 140s);
    }
}
