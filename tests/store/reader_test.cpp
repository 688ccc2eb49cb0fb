#include "store/reader.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

TEST_CASE("a reader sees what is committed and nothing else") {
    Harness harness;
    store::Reader reader(harness.options, 4);
    const store::Row row = rows::row(Kind::public_decrypt, 1);
    CHECK_FALSE(reader.find(row.id));
    {
        store::Store::Transaction transaction(*harness.store);
        harness.store->insert({row, rows::identity(1), {}});
        CHECK_FALSE(reader.find(row.id));
        transaction.commit();
    }
    REQUIRE(reader.find(row.id));
    CHECK(reader.find(row.id)->row == row);
    {
        const store::Store::Transaction undone(*harness.store);
        CHECK(take(*harness.store, row, domain::moves.front(), row.schedule, rows::at(1)));
        CHECK(reader.find(row.id)->row.status == Status::queued);
    }
    CHECK(reader.find(row.id)->row == row);
}

TEST_CASE("an id is found by both of its parts only") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    const domain::RequestId id = harness.bring(Kind::user_decrypt, 5, Status::processing).id;
    struct Row {
        std::string label;
        domain::RequestId id;
        bool found;
    };
    const Row table[] = {
        {"the id", id, true},
        {"wrong random part", {id.sequence, id.random + 1}, false},
        {"no random part", {id.sequence, 0}, false},
        {"wrong sequence", {id.sequence + 1, id.random}, false},
        {"parts exchanged", {id.random, id.sequence}, false},
        {"nothing", {}, false},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        CHECK(reader.find(row.id).has_value() == row.found);
    }
}

TEST_CASE("a view holds the result of a completed request and the failure of a failed one") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    for (const Status status : domain::statuses) {
        CAPTURE(to_string(status));
        const auto number = 1 + static_cast<std::int64_t>(status);
        const domain::RequestId id = harness.bring(Kind::public_decrypt, number, status).id;
        const auto view = reader.find(id);
        REQUIRE(view);
        CHECK(view->row == harness.store->load(number));
        CHECK(view->result.has_value() == (status == Status::completed));
        CHECK(view->failure.has_value() ==
              (status == Status::failure || status == Status::timed_out));
        if (view->result) {
            const domain::Bytes32 body = rows::bytes32(1);
            CHECK(*view->result == domain::Bytes(body.begin(), body.end()));
        }
        if (view->failure) {
            CHECK(*view->failure == domain::Failure{domain::Reason::reverted, "why", 0x08c379a0});
        }
    }
}

TEST_CASE("a failure without text and selector is read back as such") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    const store::Row row = harness.bring(Kind::public_decrypt, 1, Status::queued);
    harness.commit([&] {
        CHECK(harness.store->fail(row, {Status::queued, Status::failure, domain::Cause::internal},
                                  {domain::Reason::undecodable, "", std::nullopt}, rows::at(1)));
    });
    CHECK(reader.find(row.id)->failure ==
          domain::Failure{domain::Reason::undecodable, "", std::nullopt});
}

TEST_CASE("the end of a round is known from its first commit on, also after the round") {
    Harness harness;
    store::Reader reader(harness.options, 2);
    const domain::Bytes32 id = rows::bytes32(1);
    const auto store_round = [&](std::int64_t end) {
        std::int64_t round = 0;
        harness.commit([&] { round = harness.store->round(id, rows::at(end)); });
        return round;
    };
    CHECK_FALSE(reader.vote_end(id));
    {
        const store::Store::Transaction undone(*harness.store);
        CHECK(harness.store->round(id, rows::at(50)) > 0);
        CHECK_FALSE(reader.vote_end(id));
    }
    CHECK_FALSE(reader.vote_end(id));
    const std::int64_t round = store_round(100);
    CHECK(reader.vote_end(id) == rows::at(100));
    CHECK_FALSE(reader.vote_end(rows::bytes32(2)));

    CHECK(store_round(900) == round);
    CHECK(reader.vote_end(id) == rows::at(100));
    harness.commit([&] { harness.store->close_round(round); });
    CHECK(reader.vote_end(id) == rows::at(100));
    harness.reopen();
    CHECK(store::Reader(harness.options, 1).vote_end(id) == rows::at(100));
}

TEST_CASE("the queues are the rounds that are not closed, and nobody who timed out is in them") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    CHECK(reader.round_queues().empty());
    std::int64_t rounds[4]{};
    harness.commit([&] {
        for (std::uint64_t i = 0; i < 4; ++i) {
            rounds[i] = harness.store->round(rows::bytes32(i), rows::at(900 - static_cast<int>(i)));
        }
    });
    CHECK(reader.round_queues().empty());
    std::int64_t number = 0;
    for (const Status status :
         {Status::queued, Status::processing, Status::tx_in_flight, Status::receipt_received,
          Status::completed, Status::completed, Status::failure, Status::timed_out}) {
        harness.bring(Kind::share, ++number, status, rounds[0]);
    }
    harness.bring(Kind::share, ++number, Status::queued, rounds[1]);
    harness.bring(Kind::share, ++number, Status::timed_out, rounds[2]);
    harness.bring(Kind::share, ++number, Status::failure, rounds[3]);
    harness.commit([&] { harness.store->close_round(rounds[3]); });
    CHECK(reader.round_queues() == std::vector<store::RoundCounts>{{rows::bytes32(1), 1, 1, 0, 0},
                                                                   {rows::bytes32(0), 7, 4, 2, 1}});
}

TEST_CASE("a reader that can not read says so, and reads again when it can") {
    Harness harness;
    const domain::RequestId id = harness.bring(Kind::public_decrypt, 1, Status::queued).id;
    harness.close();
    const std::filesystem::path path = store::database_path(harness.options);
    store::Reader reader(harness.options, 1);
    struct Row {
        std::string label;
        std::string content;
    };
    const Row table[] = {
        {"no file", ""}, {"no database", std::string(8'192, 'x')}, {"an empty file", ""}};
    std::ifstream stream(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>()};
    std::filesystem::remove(path);
    for (const Row& row : table) {
        CAPTURE(row.label);
        CHECK_THROWS_AS(static_cast<void>(reader.find(id)), store::StorageError);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << row.content;
        CHECK_THROWS_AS(static_cast<void>(reader.find(id)), store::StorageError);
        CHECK_THROWS_AS(static_cast<void>(reader.vote_end(rows::bytes32(1))), store::StorageError);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
    harness.open();
    CHECK(reader.find(id));
    CHECK_FALSE(reader.vote_end(rows::bytes32(1)));
}

TEST_CASE("many threads read while rows are made, completed and purged") {
    constexpr std::int64_t requests = 400;
    constexpr std::int64_t kept = 20;  // numbers behind the newest that no purge takes
    Harness harness;
    // Fewer connections than threads: some calls wait for one.
    store::Reader reader(harness.options, 3);
    std::atomic<std::int64_t> committed = 0;
    std::atomic<bool> done = false;
    std::atomic<int> missing = 0;
    std::atomic<int> halves = 0;
    std::atomic<int> found = 0;
    std::atomic<int> gone = 0;

    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&, i] {
            for (std::int64_t round = i; !done; ++round) {
                const std::int64_t newest = committed;
                if (newest == 0) continue;
                const auto newest_view = reader.find(rows::id(newest));
                if (!newest_view && committed < newest + kept) ++missing;
                const auto view = reader.find(rows::id(1 + round % newest));
                ++(view ? found : gone);
                if (!view) continue;
                if (view->result.has_value() != (view->row.status == Status::completed)) ++halves;
            }
        });
    }
    for (std::int64_t number = 1; number <= requests; ++number) {
        const store::Row row = harness.bring(Kind::public_decrypt, number, Status::queued);
        committed = number;
        harness.end(row, Status::queued, Status::failure, rows::at(number));
        const store::Row other =
            harness.bring(Kind::public_decrypt, requests + number, Status::completed);
        CHECK(reader.find(other.id)->result);
        if (number % kept != 0) continue;
        harness.commit([&] {
            static_cast<void>(harness.store->purge(store::Lane::ended_public_decrypt,
                                                   rows::at(number - kept), 1'000));
        });
        harness.store->checkpoint();
    }
    done = true;
    threads.clear();
    CHECK(missing == 0);
    CHECK(halves == 0);
    CHECK(found > 0);
    CHECK(gone > 0);
    CHECK(integrity(harness.options) == "ok");
}
