#include "store/row_counter.hpp"

#include <doctest/doctest.h>

#include <stop_token>
#include <thread>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

namespace {

std::uint64_t total(const store::RowCounts& counts) {
    std::uint64_t rows = 0;
    for (const Kind kind : domain::kinds) {
        for (const Status status : domain::statuses) rows += counts.at(kind, status);
    }
    return rows;
}

}  // namespace

TEST_CASE("a count counts every row under its kind and status") {
    Harness harness;
    CHECK(total(store::RowCounter(harness.options).count().value()) == 0);
    std::int64_t number = 0;
    for (const Kind kind : domain::kinds) {
        for (const Status status : domain::statuses) {
            if (kind == Kind::input_proof && status == Status::queued) continue;
            for (int times = 0; times <= static_cast<int>(status) % 3; ++times) {
                static_cast<void>(harness.bring(kind, ++number, status));
            }
        }
    }
    const store::RowCounts counts = store::RowCounter(harness.options).count().value();
    for (const Kind kind : domain::kinds) {
        for (const Status status : domain::statuses) {
            CAPTURE(to_string(kind));
            CAPTURE(to_string(status));
            const bool none = kind == Kind::input_proof && status == Status::queued;
            CHECK(counts.at(kind, status) == (none ? 0U : 1U + static_cast<unsigned>(status) % 3U));
        }
    }
    CHECK(total(counts) == static_cast<std::uint64_t>(number));
}

TEST_CASE("a count is of its moment, whatever is committed until it counts") {
    Harness harness;
    static_cast<void>(harness.bring(Kind::public_decrypt, 1, Status::queued));
    static_cast<void>(harness.bring(Kind::public_decrypt, 2, Status::completed));
    store::RowCounter counter(harness.options);

    std::vector<store::Change> since;
    const auto commit = [&](auto work) {
        harness.commit(work);
        for (const store::Change& change : harness.store->take_changes()) since.push_back(change);
    };
    commit([&] {
        const store::Row row = rows::row(Kind::input_proof, 3);
        harness.store->insert({row, rows::identity(3), {}});
    });
    commit([&] {
        CHECK(harness.store->purge(store::Lane::ended_public_decrypt, rows::at(1'000'000), 10) ==
              1);
    });
    // A checkpoint copies what it may; the moment stays readable.
    harness.store->checkpoint();

    store::RowCounts counts = counter.count().value();
    CHECK(total(counts) == 2);
    CHECK(counts.at(Kind::public_decrypt, Status::queued) == 1);
    CHECK(counts.at(Kind::public_decrypt, Status::completed) == 1);

    for (const store::Change& change : since) {
        if (change.from) --counts.at(change.kind, *change.from);
        if (change.to) ++counts.at(change.kind, *change.to);
    }
    const store::RowCounts later = store::RowCounter(harness.options).count().value();
    for (const Kind kind : domain::kinds) {
        for (const Status status : domain::statuses) {
            CHECK(counts.at(kind, status) == later.at(kind, status));
        }
    }
}

TEST_CASE("a count can be counted by another thread while the writer goes on") {
    Harness harness;
    for (std::int64_t i = 1; i <= 200; ++i) harness.add(rows::row(Kind::user_decrypt, i));
    std::vector<std::unique_ptr<store::RowCounter>> all;
    for (std::int64_t i = 201; i <= 204; ++i) {
        all.push_back(std::make_unique<store::RowCounter>(harness.options));
        harness.add(rows::row(Kind::user_decrypt, i));
    }
    std::vector<std::uint64_t> found(all.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < all.size(); ++i) {
            threads.emplace_back([&, i] { found[i] = total(all[i]->count().value()); });
        }
        for (std::int64_t i = 300; i < 400; ++i) harness.add(rows::row(Kind::user_decrypt, i));
    }
    CHECK(found == std::vector<std::uint64_t>{200, 201, 202, 203});
}

TEST_CASE("a count that is stopped says nothing and gives its moment back") {
    Harness harness;
    harness.add(rows::row(Kind::user_decrypt, 1));
    store::RowCounter counter(harness.options);
    harness.add(rows::row(Kind::user_decrypt, 2));
    harness.store->truncate_wal();
    CHECK(harness.store->wal_bytes() > 0);  // the moment is in the way
    std::stop_source stop;
    stop.request_stop();
    CHECK_FALSE(counter.count(stop.get_token()));
    harness.store->truncate_wal();
    CHECK(harness.store->wal_bytes() == 0);
}
