// Shares of a reference helper's file come in beside the processor: waiting ones with what they
// used up, ended ones with nothing but what a resend is compared with.

#include <doctest/doctest.h>

#include <optional>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

namespace {

const domain::Failure used_up{domain::Reason::attempts_used_up, "five times refused", {}};

store::EndedShare ended(std::int64_t number, std::int64_t round,
                        std::optional<domain::Bytes32> content,
                        std::optional<domain::Failure> failure = {}) {
    store::EndedShare share;
    share.id = rows::id(number);
    share.round = round;
    share.since = rows::at(number);
    share.attempts = failure ? 5 : 2;
    share.key = domain::identify(support::vote_share(static_cast<std::uint64_t>(number))).key;
    share.content = content;
    share.failure = std::move(failure);
    return share;
}

}  // namespace

TEST_CASE("a waiting share comes in with its attempts, its time and its round") {
    Harness harness;
    std::int64_t round = 0;
    const domain::VoteShare share = support::vote_share(1);
    const domain::Bytes body = domain::encode(share);
    store::Schedule schedule = rows::in_lane(store::Lane::schedule, rows::at(60'000));
    schedule.attempts = 3;
    schedule.deadline = rows::at(100'000);
    harness.commit([&] {
        round = harness.store->round(share.round_id, rows::at(100'000));
        harness.store->insert({rows::row(Kind::share, 1, schedule, round), domain::identify(share),
                               domain::ByteView{body}});
        harness.store->add_to_round(round, 1);
    });
    harness.reopen();
    const store::Row row = harness.store->load(1).value();
    CHECK(row.status == Status::queued);
    CHECK(row.schedule == schedule);
    CHECK(row.round == round);
    CHECK(harness.store->payload(1) == body);
    CHECK(harness.store->find_duplicate(domain::identify(share))->same_content);
    CHECK(harness.store->due(store::Lane::schedule, rows::at(59'999), 10).empty());
    CHECK(harness.store->due(store::Lane::schedule, rows::at(60'000), 10).size() == 1);
    CHECK(harness.store->find_round(round)->total == 1);
}

TEST_CASE("an ended share is counted, holds no payload and is kept until its round is over") {
    Harness harness;
    store::Reader reader(harness.options, 1);
    std::int64_t round = 0;
    harness.commit([&] {
        round = harness.store->round(rows::bytes32(1), rows::at(100'000));
        harness.store->insert_ended(ended(1, round, {}));
        harness.store->insert_ended(ended(2, round, rows::bytes32(7), used_up));
    });
    harness.reopen();
    const store::RoundRow counts = harness.store->find_round(round).value();
    CHECK(counts.total == 2);
    CHECK(counts.submitted == 1);
    CHECK(counts.failed == 1);
    CHECK(reader.round_queues() == std::vector<store::RoundCounts>{{rows::bytes32(1), 2, 0, 1, 1}});

    const auto revealed = reader.find(rows::id(1));
    REQUIRE(revealed);
    CHECK(revealed->row.status == Status::completed);
    CHECK(revealed->row.since == rows::at(1));
    CHECK(revealed->row.schedule.attempts == 2);
    CHECK(revealed->row.schedule.lane == store::Lane::ended_share);
    CHECK_FALSE(revealed->result);
    CHECK_FALSE(harness.store->payload(1));
    const auto failed = reader.find(rows::id(2));
    REQUIRE(failed);
    CHECK(failed->row.status == Status::failure);
    CHECK(failed->failure == used_up);

    harness.commit([&] {
        harness.store->close_round(round);
        CHECK(harness.store->purge(store::Lane::ended_share, rows::at(100'000), 10) == 0);
        CHECK(harness.store->purge(store::Lane::ended_share, rows::at(100'001), 10) == 2);
    });
}

TEST_CASE("a resend of an ended share is compared with what is known of its content") {
    struct Row {
        const char* label;
        bool known;
        bool changed;
        bool same;
    };
    for (const Row& row : {Row{"unknown content, the same again", false, false, true},
                           Row{"unknown content, other content", false, true, true},
                           Row{"known content, the same again", true, false, true},
                           Row{"known content, other content", true, true, false}}) {
        CAPTURE(row.label);
        Harness harness;
        domain::VoteShare share = support::vote_share(1);
        const domain::Bytes32 content = domain::identify(share).content;
        harness.commit([&] {
            const std::int64_t round = harness.store->round(share.round_id, rows::at(100'000));
            harness.store->insert_ended(
                ended(1, round, row.known ? std::optional(content) : std::nullopt));
        });
        if (row.changed) share.shares_hash[0] ^= 1;
        const auto duplicate = harness.store->find_duplicate(domain::identify(share));
        REQUIRE(duplicate);
        CHECK(duplicate->same_content == row.same);
        CHECK(duplicate->row.id == rows::id(1));
        share.tree_position += 1;  // another key
        CHECK_FALSE(harness.store->find_duplicate(domain::identify(share)));
    }
}

TEST_CASE("the content of a share never equals its key: stored as unknown it means that") {
    for (std::uint64_t number = 1; number <= 1'000; ++number) {
        const domain::Identity identity = domain::identify(support::vote_share(number));
        REQUIRE(identity.key != identity.content);
    }
}
