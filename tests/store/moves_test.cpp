#include "domain/moves.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "store/harness.hpp"

using domain::Cause;
using domain::Kind;
using domain::Status;
using store::Lane;

namespace {

const store::Schedule busy{Lane::timer, rows::at(70), rows::at(900), 1, 2, 3};

// Undone at the end of the scope.
using Trial = store::Store::Transaction;

// What the row of a step that was taken must look like.
store::Row expected_after(store::Row row, const domain::Move& move, domain::Timestamp now) {
    row.status = move.to;
    row.since = now;
    if (!domain::is_terminal(move.to)) {
        row.schedule = busy;
        if (move.to == Status::receipt_received) {
            row.schedule.claims = row.schedule.attempts = row.schedule.faults = 0;
        } else if (move.cause == Cause::reorganised) {
            row.schedule.claims = row.schedule.faults = 0;
            row.schedule.deadline.reset();
        }
        return row;
    }
    row.schedule.lane = store::ended_lane(domain::family_of(row.kind));
    row.schedule.wake = now;
    row.schedule.deadline.reset();
    row.schedule.claims = 0;
    return row;
}

std::string name_of(const domain::Move& move) {
    return std::string(to_string(move.from)) + " to " + std::string(to_string(move.to)) +
           " because " + std::to_string(static_cast<int>(move.cause));
}

}  // namespace

TEST_CASE("every legal move is taken from its status and from no other") {
    for (const Kind kind : domain::kinds) {
        CAPTURE(to_string(kind));
        Harness harness;
        std::map<Status, store::Row> standing;
        std::int64_t number = 0;
        for (const Status status : domain::statuses) {
            if (status == Status::queued && kind == Kind::input_proof) continue;
            standing.emplace(status, harness.bring(kind, ++number, status));
        }
        const std::string before = harness.contents();
        int taken = 0;
        for (const domain::Move& move : domain::moves) {
            if (!domain::covers(move, kind)) continue;
            CAPTURE(name_of(move));
            for (const auto& [status, row] : standing) {
                CAPTURE(to_string(status));
                const store::Row stored = harness.store->load(row.id.sequence).value();
                REQUIRE(stored.status == status);
                if (status == move.from) {
                    const Trial trial(*harness.store);
                    CHECK(take(*harness.store, row, move, busy, rows::at(50)));
                    CHECK(harness.store->load(row.id.sequence) ==
                          expected_after(stored, move, rows::at(50)));
                    ++taken;
                } else {
                    harness.commit([&, &at = row] {
                        CHECK_FALSE(take(*harness.store, at, move, busy, rows::at(50)));
                    });
                    CHECK(harness.contents() == before);
                }
            }
        }
        CHECK(taken > 0);
        CHECK(harness.contents() == before);
    }
}

TEST_CASE("a move touches its row only, and an unknown row is an answer") {
    Harness harness;
    const store::Row one = harness.bring(Kind::user_decrypt, 1, Status::queued);
    const store::Row other = harness.bring(Kind::user_decrypt, 2, Status::queued);
    const domain::Move claim = domain::moves.front();
    harness.commit([&] {
        CHECK(take(*harness.store, one, claim, busy, rows::at(1)));
        CHECK_FALSE(
            take(*harness.store, rows::row(Kind::user_decrypt, 3), claim, busy, rows::at(1)));
    });
    CHECK(harness.store->load(1)->status == Status::processing);
    CHECK(harness.store->load(2) == other);
    CHECK_FALSE(harness.store->load(3));
}

TEST_CASE("a reschedule needs its status and changes nothing but the schedule") {
    Harness harness;
    for (const Status status : domain::statuses) {
        CAPTURE(to_string(status));
        const auto number = 1 + static_cast<std::int64_t>(status);
        const store::Row row = harness.bring(Kind::public_decrypt, number, status);
        const store::Row stored = harness.store->load(number).value();
        for (const Status in : domain::statuses) {
            if (domain::is_terminal(in)) continue;
            CAPTURE(to_string(in));
            const Trial trial(*harness.store);
            CHECK(harness.store->reschedule(row, in, busy) == (in == status));
            store::Row expected = stored;
            if (in == status) expected.schedule = busy;
            CHECK(harness.store->load(number) == expected);
        }
    }
}

TEST_CASE("a receipt may come without a reference") {
    Harness harness;
    const store::Row row = harness.bring(Kind::share, 1, Status::tx_in_flight);
    harness.commit([&] {
        CHECK(harness.store->receive(row, std::nullopt, rows::in_lane(Lane::timer), rows::start));
    });
    CHECK(harness.store->load(1)->status == Status::receipt_received);
}

TEST_CASE("a move that was not committed never happened") {
    Harness harness;
    const store::Row row = harness.bring(Kind::public_decrypt, 1, Status::queued);
    const std::string before = harness.contents();
    {
        const Trial trial(*harness.store);
        CHECK(take(*harness.store, row, domain::moves.front(), busy, rows::at(1)));
        harness.store->set_cursor("chain", 9);
    }
    CHECK(harness.contents() == before);
    CHECK(harness.store->load(1) == row);
    CHECK_FALSE(harness.store->cursor("chain"));
}

TEST_CASE("the schema refuses what no code may write") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::queued);
    harness.bring(Kind::public_decrypt, 2, Status::completed);
    harness.bring(Kind::public_decrypt, 3, Status::failure);
    harness.commit([&] { CHECK(harness.store->round(rows::bytes32(1), rows::at(1)) == 1); });
    struct Row {
        std::string label;
        const char* sql;
    };
    const Row table[] = {
        {"unknown kind", "update request set kind = 'vote' where id = 1"},
        {"unknown status", "update request set status = 'inflight' where id = 1"},
        {"unknown lane", "update request set lane = 3 where id = 1"},
        {"ended lane, not ended", "update request set lane = 9 where id = 1"},
        {"ended, not in an ended lane", "update request set lane = 2 where id = 2"},
        {"completed without leaving the gate",
         "update request set status = 'completed' where id = 1"},
        {"reason without an end", "update request set reason = 'reverted' where id = 1"},
        {"failure without a reason", "update request set reason = null where id = 3"},
        {"reason of a completed row", "update request set reason = 'reverted' where id = 2"},
        {"wake before 1970", "update request set wake_ms = -1 where id = 1"},
        {"text for a number", "update request set attempts = 'many' where id = 1"},
        {"short key", "update request set identity_key = x'00' where id = 1"},
        {"missing key", "update request set identity_key = null where id = 1"},
        {"short content", "update request set identity_content = x'00' where id = 1"},
        {"short reference", "update request set reference = x'00' where id = 1"},
        {"round of a decryption", "update request set round = 1 where id = 1"},
        {"second row of an id", "insert into payload (id, body) values (1, x'00')"},
        {"short hash",
         "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms) values (1, 0, 1, "
         "x'00', x'00', 0)"},
        {"short round id", "insert into round (round_id, vote_end_ms) values (x'00', 0)"},
        {"answer to a short reference",
         "insert into answer (position, reference, slot, body, arrived_ms) values (1, x'00', 0, "
         "x'00', 0)"},
        {"cursor without a position", "insert into cursor values ('chain', null)"},
    };
    const std::string before = harness.contents();
    SQLite::Database database(store::database_path(harness.options).string(),
                              SQLite::OPEN_READWRITE);
    for (const Row& row : table) {
        CAPTURE(row.label);
        CHECK_THROWS_AS(database.exec(row.sql), SQLite::Exception);
    }
    CHECK(database.exec("update request set attempts = 1 where id = 1") == 1);
    database.exec("update request set attempts = 0 where id = 1");
    CHECK(harness.contents() == before);
}
