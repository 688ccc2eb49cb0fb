#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <tuple>

#include "store/harness.hpp"

using domain::Kind;

namespace {

std::uint64_t wal_file_bytes(const Harness& harness) {
    return std::filesystem::file_size(harness.file("posthouse.db-wal"));
}

// About 40 KiB of log each.
void work(Harness& harness, std::int64_t& number, int commits) {
    const domain::Bytes body(30'000, std::uint8_t{1});
    for (int i = 0; i < commits; ++i) harness.add(rows::row(Kind::input_proof, ++number), body);
}

// Somebody's shell with an open read transaction.
class LongRead {
public:
    explicit LongRead(const Harness& harness)
        : database_(store::database_path(harness.options).string(), SQLite::OPEN_READONLY) {
        database_.exec("begin");
        seen = rows();
    }
    [[nodiscard]] int rows() {
        return database_.execAndGet("select count(*) from request").getInt();
    }

    int seen = 0;

private:
    SQLite::Database database_;
};

}  // namespace

TEST_CASE("a checkpoint lets the log start again, so that it stays within its bound") {
    store::Options options;
    options.wal_bytes_max = 256 << 10;
    Harness harness(options);
    std::int64_t number = 0;
    std::uint64_t largest = 0;
    for (int i = 0; i < 200; ++i) {
        work(harness, number, 1);
        largest = std::max(largest, harness.store->wal_bytes());
        if (harness.store->wal_bytes() > options.wal_bytes_max) {
            harness.store->checkpoint();
            CHECK(harness.store->wal_bytes() == 0);
        }
    }
    CHECK(largest > options.wal_bytes_max);
    CHECK(largest < 2 * options.wal_bytes_max);
    CHECK(wal_file_bytes(harness) < 2 * options.wal_bytes_max);
}

TEST_CASE("a long read makes the log grow, and its end lets it shrink to nothing") {
    store::Options options;
    options.wal_bytes_max = 256 << 10;
    Harness harness(options);
    std::int64_t number = 0;
    work(harness, number, 2);
    {
        LongRead reader(harness);
        std::uint64_t before = 0;
        for (int i = 0; i < 5; ++i) {
            work(harness, number, 10);
            harness.store->checkpoint();
            CHECK(harness.store->wal_bytes() > before);
            before = harness.store->wal_bytes();
            harness.store->truncate_wal();
        }
        CHECK(before > options.wal_bytes_max);
        CHECK(wal_file_bytes(harness) > options.wal_bytes_max);
        CHECK(reader.rows() == reader.seen);
    }
    harness.store->truncate_wal();
    CHECK(harness.store->wal_bytes() == 0);
    CHECK(wal_file_bytes(harness) == 0);
    CHECK(harness.store->last_sequence() == number);
}

// Whoever leaves a statement open keeps its snapshot, and the log grows for as long.
TEST_CASE("no read keeps the log from starting again") {
    Harness harness;
    const store::Row row = harness.bring(Kind::user_decrypt, 7, domain::Status::receipt_received);
    const store::Row share = harness.bring(Kind::share, 8, domain::Status::queued, 1);
    store::Store& store = *harness.store;
    const std::int64_t id = row.id.sequence;
    const std::function<void()> reads[] = {
        [&] { std::ignore = store.last_sequence(); },
        [&] { std::ignore = store.find_duplicate(rows::identity(7)); },
        [&] { std::ignore = store.find_by_key(rows::bytes32(7), rows::identity(7)); },
        [&] { REQUIRE(store.load(id)); },
        [&] { REQUIRE(store.find_by_reference(rows::bytes32(7))); },
        [&] { REQUIRE(store.reference(id)); },
        [&] { REQUIRE(store.payload(id)); },
        [&] { std::ignore = store.due(store::Lane::timer, rows::at(1'000'000), 1); },
        [&] { std::ignore = store.standing_in(store::Lane::gate); },
        [&] { std::ignore = store.earliest_wake(store::Lane::timer); },
        [&] { std::ignore = store.attempts(id); },
        [&] { std::ignore = store.attempts_in_work(); },
        [&] { std::ignore = store.held_answers(rows::bytes32(7)); },
        [&] { std::ignore = store.cursor("chain"); },
        [&] { std::ignore = store.cursors(); },
        [&] { std::ignore = store.find_round(*share.round); },
        [&] { std::ignore = store.is_closed(*share.round); },
        [&] { std::ignore = store.rounds_over(rows::at(1'000'000), 1); },
        [&] { std::ignore = store.next_round_end(rows::at(0)); },
        [&] { std::ignore = store.waiting_in_round(*share.round, 1); },
        [&] { std::ignore = store.closed_with_waiting(); },
        [&] { std::ignore = store.open_alerts(); },
        [&] { std::ignore = store.unlogged_alerts(); },
        [&] { std::ignore = store.settings(); },
    };
    std::int64_t number = 100;
    int place = 0;
    for (const auto& read : reads) {
        CAPTURE(place++);
        read();
        work(harness, number, 1);
        store.checkpoint();
        CHECK(store.wal_bytes() == 0);
    }
}

TEST_CASE("the log's size is counted from the first commit and nothing from a rolled back one") {
    Harness harness;
    harness.store->truncate_wal();
    CHECK(harness.store->wal_bytes() == 0);
    {
        const store::Store::Transaction undone(*harness.store);
        harness.store->set_cursor("chain", 1);
    }
    CHECK(harness.store->wal_bytes() == 0);
    harness.store->probe();
    CHECK(harness.store->wal_bytes() > 0);
    CHECK(harness.store->wal_bytes() <= wal_file_bytes(harness));
}

TEST_CASE("an orderly end writes the log back and removes it") {
    Harness harness;
    std::int64_t number = 0;
    work(harness, number, 3);
    harness.close();
    CHECK_FALSE(std::filesystem::exists(harness.file("posthouse.db-wal")));
    harness.open();
    CHECK(harness.store->last_sequence() == 3);
}

TEST_CASE("the version says whether the WAL-reset bug is in range and why it does no harm") {
    const std::string version = store::Store::version();
    CHECK(version.starts_with("SQLite 3."));
    const bool fixed = version.find("WAL-reset bug fixed") != std::string::npos;
    const bool immune = version.find("one connection writes and checkpoints") != std::string::npos;
    CHECK(fixed != immune);
}
