#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "domain/request_id.hpp"
#include "store/harness.hpp"

using domain::Kind;
using domain::Status;
using store::Lane;

namespace {

// As a bad disk or a foreign hand would: past the checks of the schema.
void tamper(const Harness& harness, const std::string& sql) {
    SQLite::Database database(store::database_path(harness.options).string(),
                              SQLite::OPEN_READWRITE, 2'000);
    database.exec("pragma ignore_check_constraints = on");
    REQUIRE(database.exec(sql) >= 0);
}

constexpr std::int64_t broken_number = 7;
constexpr std::int64_t healthy_number = 8;

// What reads of every lane give.
std::vector<std::int64_t> found(store::Store& store) {
    std::vector<std::int64_t> sequences;
    for (const Lane lane : {Lane::schedule, Lane::gate, Lane::timer}) {
        for (const store::Row& row : store.due(lane, rows::at(1'000'000), 100)) {
            sequences.push_back(row.id.sequence);
        }
    }
    std::ranges::sort(sequences);
    return sequences;
}

}  // namespace

TEST_CASE("a request stands only where its kind and status belong") {
    struct Row {
        Lane lane;
        bool (*allowed)(Kind, Status);
    };
    const Row table[] = {
        {Lane::schedule,
         [](Kind kind, Status status) { return kind == Kind::share && status == Status::queued; }},
        {Lane::gate,
         [](Kind kind, Status status) {
             return kind != Kind::share &&
                    (status == Status::queued || status == Status::processing ||
                     status == Status::tx_in_flight);
         }},
        {Lane::timer, [](Kind, Status status) { return !domain::is_terminal(status); }},
        {Lane::ended_input_proof,
         [](Kind kind, Status status) {
             return kind == Kind::input_proof && domain::is_terminal(status);
         }},
        {Lane::ended_public_decrypt,
         [](Kind kind, Status status) {
             return kind == Kind::public_decrypt && domain::is_terminal(status);
         }},
        {Lane::ended_user_decrypt,
         [](Kind kind, Status status) {
             return domain::family_of(kind) == domain::Family::user_decrypt &&
                    domain::is_terminal(status);
         }},
        {Lane::ended_share,
         [](Kind kind, Status status) {
             return kind == Kind::share && domain::is_terminal(status);
         }},
        {static_cast<Lane>(3), [](Kind, Status) { return false; }},
        {static_cast<Lane>(-1), [](Kind, Status) { return false; }},
    };
    for (const Row& row : table) {
        for (const Kind kind : domain::kinds) {
            for (const Status status : domain::statuses) {
                CAPTURE(static_cast<int>(row.lane));
                CAPTURE(to_string(kind));
                CAPTURE(to_string(status));
                CHECK(store::may_stand_in(row.lane, kind, status) == row.allowed(kind, status));
            }
        }
    }
}

TEST_CASE("a row whose parts contradict each other is left out, named and ended") {
    struct Row {
        std::string label;
        Kind kind;
        const char* change;
        std::string problem;
    };
    const Row table[] = {
        {"kind", Kind::public_decrypt, "kind = 'vote'", "its kind is unknown"},
        {"kind is nothing", Kind::public_decrypt, "kind = ''", "its kind is unknown"},
        {"status", Kind::public_decrypt, "status = 'inflight'", "its status is unknown"},
        {"an input proof that waits for readiness", Kind::input_proof, "status = 'queued'",
         "an input proof is never queued"},
        {"a decryption with a schedule", Kind::user_decrypt, "lane = 0",
         "user_decrypt with status queued stands in lane 0"},
        {"a share before a gate", Kind::share, "lane = 1",
         "share with status queued stands in lane 1"},
        {"a share with a receipt on schedule", Kind::share, "status = 'receipt_received'",
         "share with status receipt_received stands in lane 0"},
        {"a receipt before a gate", Kind::public_decrypt, "status = 'receipt_received'",
         "public_decrypt with status receipt_received stands in lane 1"},
        {"an end before a gate", Kind::public_decrypt, "status = 'completed'",
         "public_decrypt with status completed stands in lane 1"},
        {"wake", Kind::public_decrypt, "wake_ms = -5", "its wake is before 1970"},
        {"deadline", Kind::public_decrypt, "deadline_ms = -1", "its deadline is before 1970"},
        {"unreached", Kind::public_decrypt, "unreached_ms = -1",
         "it waits for nodes since before 1970"},
        {"refused", Kind::public_decrypt, "refused_ms = -9000000000000000000",
         "it waits for nodes since before 1970"},
        {"claims", Kind::public_decrypt, "claims = -1", "a count of its tries is out of range"},
        {"attempts", Kind::share, "attempts = 4294967296", "a count of its tries is out of range"},
        {"faults", Kind::input_proof, "faults = 9223372036854775807",
         "a count of its tries is out of range"},
        {"round", Kind::input_proof, "round = 1", "a round of what is no share"},
        {"random", Kind::public_decrypt, "random = -1", "its id is none of ours"},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Harness harness;
        store::Reader reader(harness.options, 1);
        const bool is_share = row.kind == Kind::share;
        harness.commit([&] { CHECK(harness.store->round(rows::bytes32(1), rows::at(1)) == 1); });
        const auto lane = rows::in_lane(is_share ? Lane::schedule : Lane::gate);
        const auto round = is_share ? std::optional<std::int64_t>{1} : std::nullopt;
        const domain::Bytes witness{1, 2, 3};
        const store::Row broken =
            harness.add(rows::row(row.kind, broken_number, lane, round), witness);
        const store::Row healthy =
            harness.add(rows::row(row.kind, healthy_number, lane, round), witness);
        tamper(harness, std::string("update request set ") + row.change +
                            " where id = " + std::to_string(broken_number));

        harness.commit([&] {
            CHECK(found(*harness.store) == std::vector{healthy_number});
            CHECK_FALSE(harness.store->load(broken_number));
            CHECK_FALSE(harness.store->find_duplicate(rows::identity(broken_number)));
            const std::vector<store::BrokenRow> all = harness.store->take_broken();
            REQUIRE(all.size() == 1);
            CHECK(all[0].sequence == broken_number);
            CHECK(all[0].problem == row.problem);
            CHECK(harness.store->take_broken().empty());
            harness.store->end_broken(all[0], "why", rows::at(10));
        });

        harness.commit([&] {
            CHECK(found(*harness.store) == std::vector{healthy_number});
            CHECK(harness.store->take_broken().empty());
            CHECK(harness.store->payload(broken_number).has_value() ==
                  (!is_share && row.label.find("kind") == std::string::npos));
            CHECK(harness.store->payload(healthy_number) == witness);
            if (is_share) CHECK(harness.store->find_round(1)->failed == 1);
        });
        // Its content is free again.
        harness.add(rows::row(row.kind, 9, lane, round), rows::identity(broken_number));
        CHECK(reader.find(healthy.id)->row == healthy);
        try {
            const auto view = reader.find(broken.id);
            if (!view) continue;  // its id is another now
            CHECK(view->row.status == Status::failure);
            CHECK(view->failure->reason == domain::Reason::undecodable);
            CHECK(view->failure->text == "why");
        } catch (const store::StorageError& error) {
            CHECK(error.kind() == store::StorageErrorKind::other);
            CHECK(std::string(error.what()).find(row.problem) != std::string::npos);
        }
    }
}

TEST_CASE("a poll of a broken row that nobody came upon yet is an error, and only that") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    const auto id = harness.bring(Kind::public_decrypt, 1, Status::queued).id;
    const auto other = harness.bring(Kind::public_decrypt, 2, Status::queued).id;
    tamper(harness, "update request set lane = 9 where id = 1");
    CHECK_THROWS_AS(static_cast<void>(reader.find(id)), store::StorageError);
    CHECK(reader.find(other));
}

TEST_CASE("a broken row that is rolled back is found again") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::queued);
    tamper(harness, "update request set status = 'completed' where id = 1");
    {
        const store::Store::Transaction undone(*harness.store);
        CHECK(found(*harness.store).empty());
        const auto broken = harness.store->take_broken();
        REQUIRE(broken.size() == 1);
        harness.store->end_broken(broken[0], "why", rows::at(10));
        CHECK(harness.store->take_changes().size() == 1);
    }
    harness.commit([&] {
        CHECK(found(*harness.store).empty());
        CHECK(harness.store->take_broken().size() == 1);
    });
}

TEST_CASE("an idempotency key of a broken row goes to the next request") {
    Harness harness;
    const auto row = harness.bring(Kind::public_decrypt, 1, Status::queued);
    harness.commit([&] { harness.store->remember_key(rows::bytes32(5), row.id.sequence); });
    tamper(harness, "update request set kind = 'vote' where id = 1");
    harness.commit([&] {
        CHECK_FALSE(harness.store->find_by_key(rows::bytes32(5), rows::identity(1)));
        harness.store->insert({rows::row(Kind::public_decrypt, 2), rows::identity(2), {}});
        harness.store->remember_key(rows::bytes32(5), 2);
    });
    const auto known = harness.store->find_by_key(rows::bytes32(5), rows::identity(2));
    REQUIRE(known);
    CHECK(known->row.id.sequence == 2);
}

TEST_CASE("what is broken is purged like everything else") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::completed);
    harness.bring(Kind::public_decrypt, 2, Status::failure);
    tamper(harness, "update request set kind = 'vote' where id = 1");
    harness.commit([&] {
        CHECK(harness.store->purge(Lane::ended_public_decrypt, rows::at(1'000'000), 10) == 2);
    });
    CHECK(harness.contents().find("request ") == std::string::npos);
}

TEST_CASE("32 bytes that are none are an error") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    harness.commit([&] {
        const auto round = harness.store->round(rows::bytes32(1), rows::at(1));
        harness.store->add_to_round(round, 1);
    });
    for (const char* blob : {"x''", "zeroblob(31)", "zeroblob(33)", "zeroblob(100000)"}) {
        CAPTURE(blob);
        tamper(harness, std::string("update round set round_id = ") + blob);
        CHECK_THROWS_AS(static_cast<void>(reader.round_queues()), store::StorageError);
        CHECK_THROWS_AS(static_cast<void>(harness.store->find_round(1)), store::StorageError);
    }
}
