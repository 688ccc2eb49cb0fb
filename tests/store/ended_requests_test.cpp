#include "store/ended_requests.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "store/filled_store.hpp"

using domain::Kind;
using domain::Status;

namespace {

std::vector<store::EndedRequest> all_of(const Harness& harness, domain::Timestamp since,
                                        bool with_shares) {
    store::EndedRequests requests(store::database_path(harness.options), since, with_shares);
    std::vector<store::EndedRequest> all;
    for (auto some = requests.next(); !some.empty(); some = requests.next()) {
        all.insert(all.end(), some.begin(), some.end());
    }
    CHECK(requests.next().empty());
    return all;
}

}  // namespace

TEST_CASE("what has ended is read with its transactions, and nothing that goes on") {
    const FilledStore filled;
    for (const bool with_shares : {false, true}) {
        CAPTURE(with_shares);
        std::map<Kind, std::map<Status, int>> counts;
        for (const auto& request : all_of(filled, rows::start, with_shares)) {
            ++counts[request.row.kind][request.row.status];
            CHECK(request.row.since == rows::at(30));
            CHECK(request.failure.has_value() == (request.row.status != Status::completed));
            if (request.failure) CHECK(request.failure->text == "why not");
            const bool is_share = request.row.kind == Kind::share;
            CHECK(request.round_id.has_value() == is_share);
            const bool was_sent = request.row.status == Status::completed && !is_share;
            CHECK(request.attempts.size() == (was_sent ? 1 : request.attempts.size()));
            if (!was_sent) continue;
            const auto number = static_cast<std::uint64_t>(request.row.id.sequence);
            CHECK(request.attempts[0].nonce == number);
            CHECK(request.attempts[0].sealed.empty());
            CHECK(request.reference == rows::bytes32(number));
        }
        CHECK(counts.contains(Kind::share) == with_shares);
        CHECK(counts.size() == (with_shares ? 6 : 5));
        for (const auto& [kind, statuses] : counts) {
            CAPTURE(to_string(kind));
            CHECK(statuses.size() == 3);
            for (const auto& [status, count] : statuses) CHECK(count == 1);
        }
    }
    CHECK(all_of(filled, rows::at(30), true).size() == 18);
    CHECK(all_of(filled, rows::at(31), true).empty());
}

TEST_CASE("many that ended in the same millisecond are read once each, also beside a writer") {
    Harness harness;
    constexpr std::int64_t many = 1'203;
    harness.commit([&] {
        for (std::int64_t number = 1; number <= many; ++number) {
            const store::Row row = rows::row(Kind::public_decrypt, number);
            harness.store->insert({row, rows::identity(static_cast<std::uint64_t>(number)), {}});
            REQUIRE(harness.store->fail(row, {row.status, Status::failure, domain::Cause::refused},
                                        {domain::Reason::reverted, "why", {}},
                                        rows::at(number < 1'100 ? 5 : 6)));
        }
    });
    store::EndedRequests requests(store::database_path(harness.options), rows::at(5), false);
    CHECK(requests.count() == many);
    std::int64_t expected = 1;
    for (auto some = requests.next(); !some.empty(); some = requests.next()) {
        for (const auto& request : some) CHECK(request.row.id.sequence == expected++);
        harness.bring(Kind::user_decrypt, many + expected, Status::queued);
    }
    CHECK(expected == many + 1);
    CHECK(requests.unreadable() == 0);
}
