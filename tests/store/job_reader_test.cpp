#include "store/job_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "store/harness.hpp"

namespace {

using domain::Kind;
using domain::Reason;
using domain::Status;
using store::JobFilter;
using store::JobPage;

std::string ids_of(const JobPage& page) {
    std::string ids;
    for (const store::Job& job : page.jobs) {
        ids +=
            (ids.empty() ? "" : " ") + std::to_string(job.row.id.sequence - rows::id(0).sequence);
    }
    return ids;
}

// 1 to 7: one of each status, an older client among them.
struct World : Harness {
    World() {
        bring(Kind::public_decrypt, 1, Status::queued);
        bring(Kind::user_decrypt, 2, Status::processing);
        bring(Kind::input_proof, 3, Status::tx_in_flight);
        commit([&] { store->add_attempt(rows::id(3).sequence, rows::attempt(1), rows::at(1)); });
        bring(Kind::user_decrypt, 4, Status::receipt_received);
        bring(Kind::public_decrypt, 5, Status::completed);
        bring(Kind::user_decrypt, 6, Status::timed_out);
        store::Row row = rows::row(Kind::input_proof, 7);
        row.client = 42;
        add(row);
        commit([&] {
            CHECK(store->fail(row,
                              {Status::processing, Status::failure, domain::Cause::transaction},
                              {Reason::no_contract_code, "no", 7}, rows::at(9)));
        });
    }
};

TEST_CASE("jobs come the newest first, in pages") {
    World world;
    store::JobReader reader(world.options);
    const auto step = rows::id(1).sequence - rows::id(0).sequence;
    REQUIRE(step == 1);
    CHECK(ids_of(reader.list({})) == "7 6 5 4 3 2 1");
    JobFilter filter{.limit = 3};
    std::string pages;
    for (;;) {
        const JobPage page = reader.list(filter);
        pages += "[" + ids_of(page) + "]";
        if (!page.further) break;
        filter.below = page.further;
    }
    CHECK(pages == "[7 6 5][4 3 2][1]");
    CHECK(reader.list({.limit = 7}).further == std::nullopt);
}

TEST_CASE("each filter leaves out what does not fit, and they are all needed at once") {
    World world;
    store::JobReader reader(world.options);
    struct Row {
        std::string label;
        JobFilter filter;
        std::string ids;
    };
    const auto sixth = domain::from_unix_ms(rows::id(6).sequence >> 12);
    for (const Row& row : {
             Row{"kind", {.kind = Kind::user_decrypt}, "6 4 2"},
             Row{"queued", {.status = Status::queued}, "1"},
             Row{"ended", {.status = Status::failure}, "7"},
             Row{"unfinished", {.unfinished = true}, "4 3 2 1"},
             Row{"unfinished, page", {.unfinished = true, .below = rows::id(3).sequence}, "2 1"},
             Row{"client", {.client = 42}, "7"},
             Row{"nobody's", {.client = 43}, ""},
             Row{"reason", {.reason = Reason::no_contract_code}, "7"},
             Row{"other reason", {.reason = Reason::host_acl_failed}, ""},
             Row{"kind and status",
                 {.kind = Kind::user_decrypt, .status = Status::receipt_received},
                 "4"},
             Row{"kind and other status",
                 {.kind = Kind::input_proof, .status = Status::queued},
                 ""},
             Row{"older than all", {.accepted_before = sixth}, ""},
             Row{"older than now",
                 {.accepted_before = sixth + std::chrono::seconds{1}},
                 "7 6 5 4 3 2 1"},
         }) {
        CAPTURE(row.label);
        CHECK(ids_of(reader.list(row.filter)) == row.ids);
    }
}

TEST_CASE("shares are in a list only when they are asked for") {
    Harness harness;
    std::int64_t round = 0;
    harness.commit([&] { round = harness.store->round(rows::bytes32(1), rows::at(1'000)); });
    harness.bring(Kind::share, 1, Status::queued, round);
    harness.bring(Kind::public_decrypt, 2, Status::queued);
    harness.bring(Kind::share, 3, Status::processing, round);
    harness.bring(Kind::share, 4, Status::completed, round);
    store::JobReader reader(harness.options);
    for (const bool unfinished : {false, true}) {
        CAPTURE(unfinished);
        const JobPage silent = reader.list({.unfinished = unfinished});
        CHECK(ids_of(silent) == "2");
        CHECK(silent.looked_at == 1);
    }
    CHECK(ids_of(reader.list({.kind = Kind::share})).empty());
    CHECK(ids_of(reader.list({.with_shares = true})) == "4 3 2 1");
    CHECK(ids_of(reader.list({.unfinished = true, .with_shares = true})) == "3 2 1");
}

TEST_CASE("a page looks at a bounded number of rows and says where to go on") {
    Harness harness;
    constexpr std::int64_t rows_before = 10;
    constexpr auto many = static_cast<std::int64_t>(store::JobReader::rows_max) + rows_before;
    harness.commit([&] {
        for (std::int64_t number = 1; number <= many; ++number) {
            harness.store->insert({rows::row(Kind::public_decrypt, number),
                                   rows::identity(static_cast<std::uint64_t>(number)),
                                   {}});
        }
    });
    harness.end(rows::row(Kind::public_decrypt, 5), Status::queued, Status::failure);
    store::JobReader reader(harness.options);
    // More are in work than a page may look at: they are looked at by their age.
    for (JobFilter filter : {JobFilter{.status = Status::failure}, JobFilter{.client = 1},
                             JobFilter{.kind = Kind::user_decrypt, .unfinished = true}}) {
        const JobPage page = reader.list(filter);
        CHECK(page.jobs.empty());
        CHECK(page.looked_at == store::JobReader::rows_max);
        REQUIRE(page.further);
        CHECK(*page.further == rows::id(rows_before + 1).sequence);
        filter.below = page.further;
        const JobPage rest = reader.list(filter);
        CHECK(ids_of(rest) == (filter.status ? "5" : ""));
        CHECK(rest.looked_at == rows_before);
        CHECK_FALSE(rest.further);
    }
}

TEST_CASE("one job with all that belongs to it") {
    World world;
    store::JobReader reader(world.options);
    const auto flight = reader.find(rows::id(3));
    REQUIRE(flight);
    CHECK(flight->job.row.status == Status::tx_in_flight);
    REQUIRE(flight->attempts.size() == 1);
    CHECK(flight->attempts[0].sealed.empty());
    const auto received = reader.find(rows::id(4));
    REQUIRE(received);
    REQUIRE(received->reference);
    CHECK(received->answers_held == 0);
    const auto failed = reader.find(rows::id(7));
    REQUIRE(failed);
    REQUIRE(failed->job.failure);
    CHECK(*failed->job.failure == domain::Failure{Reason::no_contract_code, "no", 7});
    CHECK(reader.find(rows::id(5))->result_bytes > 0);
    CHECK_FALSE(reader.find(rows::id(8)));
    CHECK_FALSE(reader.find({rows::id(7).sequence, rows::id(7).random + 1}));
}

TEST_CASE("a database of another version is named and left alone") {
    Harness harness;
    harness.close();
    for (const std::string version : {"1", "99"}) {
        CAPTURE(version);
        SQLite::Database(harness.file("posthouse.db").string(), SQLite::OPEN_READWRITE)
            .exec("pragma user_version = " + version);
        store::JobReader reader(harness.options);
        CHECK_THROWS_AS(static_cast<void>(reader.list({})), store::OpenError);
    }
    std::filesystem::remove(harness.file("posthouse.db"));
    store::JobReader reader(harness.options);
    CHECK_THROWS_AS(static_cast<void>(reader.list({})), store::StorageError);
}

}  // namespace
