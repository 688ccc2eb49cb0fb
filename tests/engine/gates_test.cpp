#include "engine/gates.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <utility>

using domain::Family;
using domain::Monotonic;
using domain::Stage;
using domain::Status;
using engine::Gates;
using engine::Options;
using engine::Task;
using engine::Work;
using namespace std::chrono_literals;

namespace {

constexpr Monotonic start{std::chrono::seconds{1'000}};

Options small() {
    Options options;
    options.readiness.public_decrypt = {3, 10, 2};
    options.readiness.user_decrypt = {2, 10, 2};
    for (auto* sending : {&options.sending.input_proof, &options.sending.public_decrypt,
                          &options.sending.user_decrypt}) {
        *sending = {10, 0, 10, 2};
    }
    options.sends_max = 4;
    return options;
}

store::Row row_of(Family family, Gates::Id id, std::int64_t client = 0) {
    store::Row row;
    row.id = {id, 1};
    row.kind = family == Family::input_proof      ? domain::Kind::input_proof
               : family == Family::public_decrypt ? domain::Kind::public_decrypt
                                                  : domain::Kind::user_decrypt;
    row.client = client;
    return row;
}

// The same behind the gate of readiness.
store::Row checked_row_of(Family family, Gates::Id id, std::int64_t client = 0) {
    store::Row row = row_of(family, id, client);
    row.status = Status::processing;
    return row;
}

}  // namespace

TEST_CASE("T-141 capacity 10 with margin 2 refuses from 8 on and still takes what is inside") {
    const Options options = small();
    struct Row {
        const char* label;
        Family family;
        bool check_queue;
    };
    for (const Row& row : {Row{"public readiness", Family::public_decrypt, true},
                           Row{"user readiness", Family::user_decrypt, true},
                           Row{"public sending", Family::public_decrypt, false},
                           Row{"user sending", Family::user_decrypt, false},
                           Row{"proof sending", Family::input_proof, false}}) {
        CAPTURE(row.label);
        Gates gates{options, start};
        for (Gates::Id id = 0; id < 12; ++id) {
            CHECK(gates.is_full(row.family, 0) == (id >= 8));
            row.check_queue ? gates.enqueue_check(row_of(row.family, id))
                            : gates.enqueue_send(checked_row_of(row.family, id));
        }
        for (const Family other :
             {Family::input_proof, Family::public_decrypt, Family::user_decrypt, Family::share}) {
            if (other != row.family) CHECK_FALSE(gates.is_full(other, 0));
        }
        for (Gates::Id id = 0; id < 12; ++id) {
            CHECK(gates.holds(id, row.family));
            gates.leave(id, row.family);
            CHECK_FALSE(gates.holds(id, row.family));
            CHECK(gates.is_full(row.family, 0) == (12 - id - 1 >= 8));
        }
    }
}

TEST_CASE("a margin as large as the capacity refuses everything and one of none nothing early") {
    Options options = small();
    options.sending.input_proof = {10, 0, 5, 5};
    options.sending.public_decrypt = {10, 0, 1, 0};
    const Gates gates{options, start};
    CHECK(gates.is_full(Family::input_proof, 0));
    CHECK_FALSE(gates.is_full(Family::public_decrypt, 0));
}

TEST_CASE("as many checks run as there are permits, never more, and each family has its own") {
    Gates gates{small(), start};
    for (Gates::Id id = 0; id < 6; ++id) {
        gates.enqueue_check(row_of(Family::public_decrypt, id));
        gates.enqueue_check(row_of(Family::user_decrypt, 100 + id));
    }
    for (Gates::Id id = 0; id < 3; ++id)
        CHECK(gates.pass_check(Family::public_decrypt, start) == id);
    CHECK_FALSE(gates.pass_check(Family::public_decrypt, start));
    CHECK(gates.checks_running(Family::public_decrypt) == 3);
    CHECK(gates.pass_check(Family::user_decrypt, start) == 100);
    CHECK(gates.pass_check(Family::user_decrypt, start) == 101);
    CHECK_FALSE(gates.pass_check(Family::user_decrypt, start));

    gates.give_back_check(Family::public_decrypt);
    CHECK(gates.pass_check(Family::public_decrypt, start) == 3);
    CHECK_FALSE(gates.pass_check(Family::public_decrypt, start));
}

TEST_CASE("an empty line takes no permit and no token") {
    Gates gates{small(), start};
    CHECK_FALSE(gates.pass_check(Family::user_decrypt, start));
    CHECK(gates.checks_running(Family::user_decrypt) == 0);
    CHECK_FALSE(gates.pass_sending(Family::input_proof, start));
    CHECK(gates.sends_in_flight() == 0);
    CHECK_FALSE(gates.next_token(start));
}

TEST_CASE("sends stop at the tokens of their kind and at the places in flight of all") {
    Options options = small();
    options.sends_max = 25;
    Gates gates{options, start};
    for (Gates::Id id = 0; id < 30; ++id) {
        gates.enqueue_send(checked_row_of(Family::input_proof, id));
        gates.enqueue_send(checked_row_of(Family::user_decrypt, 100 + id));
    }
    for (Gates::Id id = 0; id < 10; ++id)
        CHECK(gates.pass_sending(Family::input_proof, start) == id);
    CHECK_FALSE(gates.pass_sending(Family::input_proof, start));
    CHECK(gates.pass_sending(Family::user_decrypt, start) == 100);
    CHECK(gates.next_token(start) == start);  // the user line still has tokens
    for (int i = 0; i < 9; ++i) CHECK(gates.pass_sending(Family::user_decrypt, start));
    CHECK(gates.next_token(start) == start + 100ms);

    CHECK(gates.sends_in_flight() == 20);
    for (int i = 0; i < 5; ++i) CHECK(gates.pass_sending(Family::input_proof, start + 10s));
    CHECK_FALSE(gates.pass_sending(Family::input_proof, start + 10s));
    CHECK_FALSE(gates.next_token(start + 10s));  // only an answer makes room
    gates.give_back_sending();
    CHECK(gates.next_token(start + 10s) == start + 10s);
    CHECK(gates.pass_sending(Family::input_proof, start + 10s) == 15);
}

TEST_CASE("who comes back from a pause goes before the others of its client") {
    Gates gates{small(), start};
    gates.enqueue_send(checked_row_of(Family::input_proof, 1));
    gates.enqueue_send(checked_row_of(Family::input_proof, 2));
    gates.enqueue_send_again(checked_row_of(Family::input_proof, 3));
    CHECK(gates.pass_sending(Family::input_proof, start) == 3);
    CHECK(gates.pass_sending(Family::input_proof, start) == 1);
}

TEST_CASE("permits are counted anew from what is really in work") {
    Gates gates{small(), start};
    for (Gates::Id id = 0; id < 3; ++id) {
        gates.enqueue_check(row_of(Family::public_decrypt, id));
        gates.enqueue_send(checked_row_of(Family::input_proof, 10 + id));
        REQUIRE(gates.pass_check(Family::public_decrypt, start));
        REQUIRE(gates.pass_sending(Family::input_proof, start));
        if (gates.free_share_slots() > 0) gates.take_share_slot();
    }
    CHECK(gates.free_share_slots() == 0);
    Work work;
    work.begin(1, {Task::check, Family::public_decrypt});
    work.begin(2, {Task::check, Family::user_decrypt});
    work.begin(3, {Task::prepare, Family::user_decrypt});
    work.begin(4, {Task::send, Family::input_proof});
    work.begin(5, {Task::prepare, Family::share});
    gates.restore_permits(work);
    CHECK(gates.checks_running(Family::public_decrypt) == 1);
    CHECK(gates.checks_running(Family::user_decrypt) == 1);
    CHECK(gates.sends_in_flight() == 2);
    CHECK(gates.shares_in_work() == 1);
    CHECK(gates.free_share_slots() == 1);
}

TEST_CASE("no proofs at once is read as one") {
    Options options = small();
    options.shares.max_concurrent_proofs = 0;
    Gates gates{options, start};
    CHECK(gates.free_share_slots() == 1);
    gates.take_share_slot();
    CHECK(gates.free_share_slots() == 0);
    gates.give_back_share_slot();
    CHECK(gates.free_share_slots() == 1);
}

TEST_CASE("a position tells where a request is, not what its status is called") {
    Gates gates{small(), start};
    for (Gates::Id id = 0; id < 3; ++id) gates.enqueue_check(row_of(Family::user_decrypt, id));
    for (Gates::Id id = 10; id < 15; ++id)
        gates.enqueue_send(checked_row_of(Family::user_decrypt, id));

    struct Row {
        const char* label;
        Status status;
        Gates::Id id;
        Stage stage;
        std::uint64_t position;
    };
    for (const Row& row :
         {Row{"waits for readiness", Status::queued, 2, Stage::readiness_queue, 2},
          Row{"check runs", Status::queued, 99, Stage::readiness_check, 0},
          Row{"waits for a token", Status::processing, 13, Stage::tx_queue, 3},
          Row{"is prepared", Status::processing, 99, Stage::tx_queue, 0},
          Row{"is sent", Status::tx_in_flight, 99, Stage::sending, 0},
          Row{"waits for the answer", Status::receipt_received, 99, Stage::response, 0},
          Row{"ended", Status::completed, 99, Stage::done, 0}}) {
        CAPTURE(row.label);
        store::Row at = row_of(Family::user_decrypt, row.id);
        at.status = row.status;
        const auto queue_position = gates.position_of(at, 42);
        CHECK(queue_position.stage == row.stage);
        CHECK(queue_position.ahead == row.position);
        CHECK(queue_position.tx_queue_size == 5);
        CHECK(queue_position.tx_per_second == 10);
        CHECK(queue_position.readiness_concurrency == 2);
        CHECK(queue_position.seconds_in_status == 42);
    }
    const auto decrypt = gates.position_of_new(Family::user_decrypt, 0);
    CHECK(decrypt.stage == Stage::readiness_queue);
    CHECK(decrypt.ahead == 3);
    CHECK(decrypt.tx_queue_size == 5);
    const auto proof = gates.position_of_new(Family::input_proof, 0);
    CHECK(proof.stage == Stage::tx_queue);
    CHECK(proof.ahead == 0);
}

TEST_CASE("cleared lines are empty; permits stay") {
    Gates gates{small(), start};
    gates.enqueue_check(row_of(Family::public_decrypt, 1));
    REQUIRE(gates.pass_check(Family::public_decrypt, start));
    gates.enqueue_check(row_of(Family::public_decrypt, 2));
    gates.enqueue_send(checked_row_of(Family::public_decrypt, 3));
    gates.clear_queues();
    CHECK_FALSE(gates.holds(2, Family::public_decrypt));
    CHECK_FALSE(gates.holds(3, Family::public_decrypt));
    CHECK(gates.checks_running(Family::public_decrypt) == 1);
}

TEST_CASE("nobody passes while the chain asked to wait, and the end of the wait is known") {
    Gates gates{small(), start};
    gates.enqueue_send(checked_row_of(Family::input_proof, 1));
    gates.enqueue_check(row_of(Family::user_decrypt, 2));
    const auto sends = start + std::chrono::seconds{7};
    const auto checks = start + std::chrono::seconds{3};
    gates.hold_sending(sends);
    gates.hold_checks(checks);
    gates.hold_sending(start);  // a shorter wait changes nothing
    const auto tick = domain::Nanoseconds{1};
    CHECK_FALSE(gates.pass_sending(Family::input_proof, sends - tick));
    CHECK_FALSE(gates.pass_check(Family::user_decrypt, checks - tick));
    CHECK(gates.next_token(start) == checks);
    CHECK(gates.pass_check(Family::user_decrypt, checks) == 2);
    CHECK(gates.next_token(checks) == sends);
    CHECK(gates.pass_sending(Family::input_proof, sends) == 1);
}

TEST_CASE("whom a gate would let through is known before, and asking takes nothing") {
    Gates gates{small(), start};
    const store::Row check = row_of(Family::user_decrypt, 1);
    const store::Row send = checked_row_of(Family::user_decrypt, 2);
    const auto passing = [&](domain::Monotonic now) {
        return std::pair{gates.lets_through(check, now), gates.lets_through(send, now)};
    };
    using Passing = std::pair<bool, bool>;
    CHECK(passing(start) == Passing{true, true});

    gates.hold_checks(start + 1s);
    CHECK(passing(start) == Passing{false, true});
    gates.hold_sending(start + 2s);
    CHECK(passing(start + 1s) == Passing{true, false});
    CHECK(passing(start + 2s) == Passing{true, true});

    for (int sending = 0; sending < 4; ++sending) gates.take_sending();
    CHECK(passing(start + 2s) == Passing{true, false});
    gates.give_back_sending();
    for (Gates::Id id = 3; id < 5; ++id) gates.enqueue_check(row_of(Family::user_decrypt, id));
    while (gates.pass_check(Family::user_decrypt, start + 2s)) continue;
    CHECK(passing(start + 2s) == Passing{false, true});
    gates.give_back_check(Family::user_decrypt);

    gates.pause(Family::user_decrypt, {});
    CHECK(passing(start + 2s) == Passing{false, false});
    CHECK(gates.lets_through(checked_row_of(Family::input_proof, 5), start + 2s));
    CHECK(gates.permits() == 4);
}

TEST_CASE("who is lined up for a check again goes before the others") {
    Gates gates{small(), start};
    for (Gates::Id id = 1; id <= 3; ++id) gates.enqueue_check(row_of(Family::public_decrypt, id));
    gates.enqueue_check_again(row_of(Family::public_decrypt, 4));
    CHECK(gates.pass_check(Family::public_decrypt, start) == 4);
    CHECK(gates.pass_check(Family::public_decrypt, start) == 1);
}
