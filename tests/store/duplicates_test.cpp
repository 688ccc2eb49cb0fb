#include <doctest/doctest.h>

#include <optional>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

namespace {

// Equal in the first 8 bytes, which is all the index holds.
domain::Bytes32 key(std::uint8_t last) {
    domain::Bytes32 bytes = rows::bytes32(0xfedc'ba98'7654'3210);
    bytes[31] = last;
    return bytes;
}

domain::Identity identity(std::uint8_t key_end, std::uint8_t content_end) {
    return {key(key_end), key(content_end)};
}

}  // namespace

TEST_CASE("keys that share their first eight bytes are told apart") {
    Harness harness;
    harness.add(rows::row(Kind::public_decrypt, 1), identity(1, 1));
    harness.add(rows::row(Kind::public_decrypt, 2), identity(2, 2));
    harness.add(rows::row(Kind::public_decrypt, 3), identity(3, 3));
    struct Row {
        std::uint8_t key_end;
        std::optional<std::int64_t> expected;
    };
    const Row table[] = {{1, 1}, {2, 2}, {3, 3}, {4, std::nullopt}, {0, std::nullopt}};
    for (const Row& row : table) {
        CAPTURE(row.key_end);
        const auto duplicate = harness.store->find_duplicate(identity(row.key_end, row.key_end));
        REQUIRE(duplicate.has_value() == row.expected.has_value());
        if (!duplicate) continue;
        CHECK(duplicate->row.id == rows::id(*row.expected));
        CHECK(duplicate->same_content);
    }
}

TEST_CASE("a share with the same key and other content is a conflict, not a duplicate") {
    Harness harness;
    harness.add(rows::row(Kind::share, 1), identity(1, 7));
    struct Row {
        std::string label;
        domain::Identity identity;
        bool found;
        bool same_content;
    };
    const Row table[] = {
        {"the same again", identity(1, 7), true, true},
        {"another content", identity(1, 8), true, false},
        {"content that equals the key", identity(1, 1), true, false},
        {"another key", identity(2, 7), false, false},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        const auto duplicate = harness.store->find_duplicate(row.identity);
        CHECK(duplicate.has_value() == row.found);
        if (duplicate) CHECK(duplicate->same_content == row.same_content);
    }
}

TEST_CASE("what a repeat finds depends on how the first one ended") {
    struct Row {
        std::string label;
        Kind kind;
        Status status;
        bool found;
    };
    const Row table[] = {
        {"request in line", Kind::public_decrypt, Status::queued, true},
        {"request in work", Kind::public_decrypt, Status::tx_in_flight, true},
        {"request completed", Kind::public_decrypt, Status::completed, true},
        {"request failed", Kind::public_decrypt, Status::failure, false},
        {"request timed out", Kind::public_decrypt, Status::timed_out, false},
        {"proof completed", Kind::input_proof, Status::completed, true},
        {"proof failed", Kind::input_proof, Status::failure, false},
        {"share in line", Kind::share, Status::queued, true},
        {"share completed", Kind::share, Status::completed, true},
        {"share failed", Kind::share, Status::failure, true},
        {"share of a round that is over", Kind::share, Status::timed_out, false},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Harness harness;
        harness.bring(row.kind, 1, row.status);
        const auto duplicate = harness.store->find_duplicate(rows::identity(1));
        CHECK(duplicate.has_value() == row.found);
        if (duplicate) CHECK(duplicate->row.status == row.status);
        if (row.found) continue;
        // Asked again it is a request of its own, and the only one found from then on.
        harness.add(rows::row(row.kind, 2), rows::identity(1));
        CHECK(harness.store->find_duplicate(rows::identity(1))->row.id == rows::id(2));
        CHECK(harness.store->load(1)->status == row.status);
    }
}

TEST_CASE("four shares of one round that differ in proposal or position are four rows") {
    Harness harness;
    std::int64_t number = 0;
    for (const std::uint32_t proposal : {1U, 2U}) {
        for (const std::uint32_t position : {5U, 6U}) {
            domain::VoteShare share = support::vote_share(5);
            share.proposal_id = proposal;
            share.tree_position = position;
            const domain::Identity identity = domain::identify(share);
            CHECK_FALSE(harness.store->find_duplicate(identity));
            harness.add(rows::row(Kind::share, ++number), identity);
            CHECK(harness.store->find_duplicate(identity)->row.id == rows::id(number));
        }
    }
    CHECK(number == 4);
}

TEST_CASE("a request not committed is found by its own transaction and by no later one") {
    Harness harness;
    {
        const store::Store::Transaction trial(*harness.store);
        harness.store->insert({rows::row(Kind::public_decrypt, 1), rows::identity(1), {}});
        CHECK(harness.store->find_duplicate(rows::identity(1)));
    }
    CHECK_FALSE(harness.store->find_duplicate(rows::identity(1)));
}
