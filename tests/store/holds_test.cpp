#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "store/harness.hpp"
#include "store/job_reader.hpp"

using domain::Kind;
using domain::Status;

TEST_CASE("holds outlive a restart, say who is released, and go with their request") {
    Harness harness;
    for (const std::int64_t number : {1, 2, 3}) {
        harness.bring(Kind::public_decrypt, number, Status::queued);
    }
    store::Reader reader(harness.options, 1);
    harness.commit([&] {
        for (const std::int64_t number : {1, 2, 3}) harness.store->hold(number, rows::at(number));
        harness.store->release_hold(2);
    });
    harness.reopen();
    CHECK(harness.store->holds() == std::vector<store::Hold>{{1, rows::at(1), false},
                                                             {2, rows::at(2), true},
                                                             {3, rows::at(3), false}});
    CHECK(reader.find(rows::id(1))->held);
    CHECK_FALSE(reader.find(rows::id(2))->held);
    CHECK(reader.backlog().held == 2);
    store::JobReader jobs(harness.options);
    CHECK(jobs.find(rows::id(1))->job.is_held);
    CHECK_FALSE(jobs.find(rows::id(2))->job.is_held);

    // Held again, for another reason.
    harness.commit([&] { harness.store->hold(2, rows::at(9)); });
    CHECK(reader.find(rows::id(2))->held);
    CHECK(harness.store->holds()[1] == store::Hold{2, rows::at(9), false});

    harness.end(rows::row(Kind::public_decrypt, 1), Status::queued, Status::failure);
    CHECK(harness.store->holds().size() == 2);
    CHECK(reader.backlog().held == 2);
    harness.commit([&] {
        CHECK(harness.store->purge(store::Lane::ended_public_decrypt, rows::at(1'000), 10) == 1);
    });
    CHECK(harness.contents().find("hold 1 ") == std::string::npos);
    CHECK(integrity(harness.options) == "ok");
}

TEST_CASE("marks are no cursors, and are never purged") {
    Harness harness;
    harness.commit([&] {
        harness.store->set_cursor("gateway", 5);
        harness.store->set_mark("nonce 0xA", 7);
        harness.store->set_mark(store::restored_mark, 8);
    });
    harness.reopen();
    using Numbers = std::map<std::string, std::uint64_t>;
    CHECK(harness.store->cursors() == Numbers{{"gateway", 5}});
    CHECK(harness.store->marks() == Numbers{{"nonce 0xA", 7}, {"restored", 8}});
    CHECK(harness.store->mark("nonce 0xA") == 7);
    CHECK_FALSE(harness.store->mark("gateway"));
    CHECK_FALSE(harness.store->mark("nonce 0xB"));
}
