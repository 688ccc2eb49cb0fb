#include <doctest/doctest.h>

#include "store/harness.hpp"
#include "store/reader.hpp"

using domain::Kind;
using domain::Status;
using store::Lane;

TEST_CASE("an empty database has no backlog") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    const store::Backlog backlog = reader.backlog();
    for (const Kind kind : domain::kinds) {
        for (const Status status : domain::statuses) CHECK_FALSE(backlog.oldest.at(kind, status));
    }
    CHECK_FALSE(backlog.oldest_at_gate);
    CHECK_FALSE(backlog.earliest_scheduled);
    CHECK_FALSE(backlog.earliest_timer);
}

TEST_CASE("the backlog knows the oldest of each kind and status, and what is due first") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    const auto add = [&](Kind kind, std::int64_t number, Lane lane, std::int64_t since,
                         std::int64_t wake) {
        store::Row row = rows::row(kind, number, rows::in_lane(lane, rows::at(wake)));
        row.since = rows::at(since);
        harness.add(row);
    };
    add(Kind::public_decrypt, 1, Lane::gate, 500, 9'000);
    add(Kind::public_decrypt, 2, Lane::timer, 300, 7'000);
    add(Kind::public_decrypt, 3, Lane::timer, 400, 6'000);
    add(Kind::user_decrypt, 4, Lane::gate, 450, 9'000);
    add(Kind::share, 5, Lane::schedule, 100, 8'000);
    add(Kind::share, 6, Lane::schedule, 200, 5'000);
    static_cast<void>(harness.bring(Kind::input_proof, 7, Status::failure));

    const store::Backlog backlog = reader.backlog();
    CHECK(backlog.oldest.at(Kind::public_decrypt, Status::queued) == rows::at(300));
    CHECK(backlog.oldest.at(Kind::user_decrypt, Status::queued) == rows::at(450));
    CHECK_FALSE(backlog.oldest.at(Kind::share, Status::queued));
    CHECK_FALSE(backlog.oldest.at(Kind::input_proof, Status::failure));
    CHECK(backlog.oldest_at_gate == rows::at(450));
    CHECK(backlog.earliest_scheduled == rows::at(5'000));
    CHECK(backlog.earliest_timer == rows::at(6'000));
}
