#include <chrono>

#include "support/world.hpp"

using domain::Kind;
using domain::Status;
using engine::Accepted;
using engine::CheckOrder;
using engine::CheckOutcome;
using engine::Pending;
using namespace std::chrono_literals;

namespace {

// The parameters of relayer-api 5.3.
void use_worked_values(engine::Options& options) {
    options.readiness.public_decrypt = {50, 11'000, 0};
    options.readiness.user_decrypt = {50, 11'000, 0};
    options.sending.input_proof = {10, 1, 11'000, 0};
    options.sending.public_decrypt = {10, 1, 11'000, 0};
    options.sending.user_decrypt = {10, 1, 11'000, 0};
    options.retry_after.readiness_check = 2'000ms;
    options.retry_after.input_proof_processing = 2'000ms;
    options.retry_after.public_decrypt_processing = 4'000ms;
    options.retry_after.user_decrypt_processing = 4'000ms;
    options.retry_after.tx_confirmation = 100ms;
}

Pending poll(support::World& world, const domain::RequestId& id) {
    const auto outcome = world.engine.process().service.find(id);
    REQUIRE(is<Pending>(outcome));
    return std::get<Pending>(outcome);
}

Accepted hand_in(support::World& world, const domain::Request& request) {
    const auto outcome = world.engine.try_submit(request);
    REQUIRE(is<Accepted>(outcome));
    return std::get<Accepted>(outcome);
}

void hand_in_many(support::World& world, Kind kind, std::uint64_t first, std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) {
        world.engine.post(support::request_of(kind, first + i), [](engine::AcceptOutcome) {});
    }
    world.engine.turn();
}

struct Worked {
    std::size_t ahead;
    std::uint32_t seconds;
};

}  // namespace

TEST_CASE("an input proof with p others ahead of it") {
    for (const Worked& row : {Worked{0, 3}, {1, 3}, {10, 4}, {100, 15}, {1'000, 123}}) {
        CAPTURE(row.ahead);
        support::World world;
        use_worked_values(world.engine.options);
        world.engine.options.sends_max = 0;  // the line stands still
        hand_in_many(world, Kind::input_proof, 1, row.ahead);
        const Accepted fresh = hand_in(world, support::input_proof(9'999));
        CHECK(fresh.retry_after_seconds == row.seconds);
        CHECK(poll(world, fresh.id).retry_after_seconds == row.seconds);
        const Accepted again = hand_in(world, support::input_proof(9'999));
        CHECK(again.duplicate);
        CHECK(again.retry_after_seconds == row.seconds);
    }
}

TEST_CASE("a decrypt in the readiness line, p ahead of it and as many in the sending line") {
    for (const Kind kind : {Kind::public_decrypt, Kind::unified_user_decrypt}) {
        for (const Worked& row : {Worked{0, 5}, {1, 6}, {10, 7}, {100, 20}, {1'000, 149}}) {
            CAPTURE(to_string(kind));
            CAPTURE(row.ahead);
            support::World world;
            use_worked_values(world.engine.options);
            world.engine.options.sends_max = 0;
            bool ready = true;
            world.gateway.on_check = [&](const CheckOrder&) -> std::optional<CheckOutcome> {
                if (!ready) return std::nullopt;
                return engine::Ready{};
            };
            hand_in_many(world, kind, 1, row.ahead);
            world.run_for(10s);
            ready = false;
            hand_in_many(world, kind, 2'001, 50);  // every permit is taken
            hand_in_many(world, kind, 4'001, row.ahead);
            const Accepted fresh = hand_in(world, support::request_of(kind, 9'999));
            CHECK(fresh.retry_after_seconds == row.seconds);
            CHECK(poll(world, fresh.id).retry_after_seconds == row.seconds);
            const Accepted again = hand_in(world, support::request_of(kind, 9'999));
            CHECK(again.duplicate);
            CHECK(again.retry_after_seconds == row.seconds);
        }
    }
}

TEST_CASE("a decrypt whose check runs or pauses, with Q in the sending line") {
    for (const bool pauses : {false, true}) {
        for (const Worked& row : {Worked{0, 8}, {1, 8}, {10, 9}, {100, 20}, {1'000, 128}}) {
            CAPTURE(pauses);
            CAPTURE(row.ahead);
            support::World world;
            use_worked_values(world.engine.options);
            world.engine.options.sends_max = 0;
            bool ready = true;
            world.gateway.on_check = [&](const CheckOrder&) -> std::optional<CheckOutcome> {
                if (ready) return engine::Ready{};
                if (pauses) return engine::NotReady{};
                return std::nullopt;
            };
            hand_in_many(world, Kind::public_decrypt, 1, row.ahead);
            world.run_for(10s);
            ready = false;
            const Accepted fresh = hand_in(world, support::public_decrypt(9'999));
            world.run_for(100ms);
            CHECK(poll(world, fresh.id).retry_after_seconds == row.seconds);
            CHECK(hand_in(world, support::public_decrypt(9'999)).retry_after_seconds ==
                  row.seconds);
        }
    }
}

TEST_CASE("a decrypt in the sending line with p ahead of it") {
    for (const Worked& row : {Worked{0, 5}, {1, 6}, {10, 7}, {100, 17}, {1'000, 125}}) {
        CAPTURE(row.ahead);
        support::World world;
        use_worked_values(world.engine.options);
        world.engine.options.sends_max = 0;
        hand_in_many(world, Kind::user_decrypt, 1, row.ahead);
        world.run_for(10s);
        const Accepted fresh = hand_in(world, support::user_decrypt(9'999));
        world.run_for(100ms);
        CHECK(poll(world, fresh.id).status == Status::processing);
        CHECK(poll(world, fresh.id).retry_after_seconds == row.seconds);
    }
}

TEST_CASE("places shrink as the line moves, and the waits with them") {
    support::World world;
    use_worked_values(world.engine.options);
    world.engine.start();
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 101; ++number) {
        world.engine.post(support::input_proof(number), [&](engine::AcceptOutcome outcome) {
            ids.push_back(std::get<Accepted>(outcome).id);
        });
    }
    world.engine.turn();
    // The first left at once: its successor heads the line.
    CHECK(poll(world, ids[100]).retry_after_seconds == 15);  // 99 ahead: 9.9 s + 2.1 s, and 20 %
    std::uint32_t last = 15;
    for (std::size_t second = 1; second <= 9; ++second) {
        world.run_for(1s);
        const std::uint64_t ahead = 99 - 10 * second;
        const std::uint32_t wanted =
            static_cast<std::uint32_t>((ahead * 100 + 2'100) * 12 / 10 + 999) / 1'000;
        const auto now = poll(world, ids[100]);
        CHECK(now.retry_after_seconds == wanted);
        CHECK(now.retry_after_seconds <= last);
        CHECK(now.elapsed_seconds == second);
        last = now.retry_after_seconds;
    }
}

TEST_CASE("in flight the wait is what processing takes") {
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt}) {
        CAPTURE(to_string(kind));
        support::World world;
        use_worked_values(world.engine.options);
        world.gateway.on_send = [](const engine::SendOrder&) { return std::nullopt; };
        const auto id = world.submit(support::request_of(kind, 1));
        world.run_for(7s + 100ms);
        const Pending pending = poll(world, id);
        CHECK(pending.status == Status::tx_in_flight);
        CHECK(pending.retry_after_seconds == (kind == Kind::input_proof ? 3 : 5));
        CHECK(pending.elapsed_seconds == 7);
    }
}

TEST_CASE("after the receipt polls slow down with the seconds that passed") {
    support::World world;
    world.gateway.check_delay = world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(0ms);
    world.run_for(0ms);
    REQUIRE(world.status(id) == Status::receipt_received);
    const auto start = world.clock.monotonic();
    struct Row {
        std::int64_t elapsed;
        std::uint32_t seconds;
    };
    for (const Row& row : {Row{0, 4},
                           {59, 4},
                           {60, 10},
                           {119, 10},
                           {120, 30},
                           {299, 30},
                           {300, 60},
                           {899, 60},
                           {900, 300},
                           {1'799, 300}}) {
        CAPTURE(row.elapsed);
        world.run_for(start + std::chrono::seconds{row.elapsed} - world.clock.monotonic());
        const Pending pending = poll(world, id);
        CHECK(pending.status == Status::receipt_received);
        CHECK(pending.elapsed_seconds == static_cast<std::uint64_t>(row.elapsed));
        CHECK(pending.retry_after_seconds == row.seconds);
        CHECK(hand_in(world, support::input_proof(1)).retry_after_seconds == row.seconds);
    }
}

TEST_CASE("a wall clock that went back makes no negative age") {
    support::World world;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.clock.step_wall(-1h);
    CHECK(poll(world, id).elapsed_seconds == 0);
    CHECK(poll(world, id).retry_after_seconds == 4);
    CHECK(hand_in(world, support::input_proof(1)).retry_after_seconds == 4);
}

TEST_CASE("waits stay within their bounds, also when nothing moves") {
    support::World world;
    use_worked_values(world.engine.options);
    world.engine.options.sends_max = 0;
    world.engine.options.sending.input_proof.per_seconds = 0;
    world.engine.options.retry_after.max_seconds = 60;
    hand_in_many(world, Kind::input_proof, 1, 100);
    CHECK(hand_in(world, support::input_proof(9'999)).retry_after_seconds == 60);
}

TEST_CASE("a share tells the shortest wait: nobody polls it") {
    support::World world;
    world.engine.options.retry_after.min_seconds = 2;
    CHECK(hand_in(world, support::vote_share(1, world.in_seconds(3600))).retry_after_seconds == 2);
    CHECK(hand_in(world, support::vote_share(1, world.in_seconds(3600))).retry_after_seconds == 2);
}
