// Idempotency keys, settings and the changes a transaction made.

#include <doctest/doctest.h>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;

TEST_CASE("an Idempotency-Key finds its request whatever became of it, and only its content") {
    Harness harness;
    const store::Row row = harness.add(rows::row(Kind::input_proof, 1), rows::identity(1));
    harness.commit([&] { harness.store->remember_key(rows::bytes32(70), row.id.sequence); });

    const auto find = [&](std::uint64_t content) {
        return harness.store->find_by_key(rows::bytes32(70), rows::identity(content));
    };
    REQUIRE(find(1));
    CHECK(find(1)->same_content);
    CHECK(find(1)->row.id == row.id);
    REQUIRE(find(2));
    CHECK_FALSE(find(2)->same_content);
    CHECK_FALSE(harness.store->find_by_key(rows::bytes32(71), rows::identity(1)));

    harness.end(row, Status::processing, Status::failure);
    CHECK_FALSE(harness.store->find_duplicate(rows::identity(1)));
    REQUIRE(find(1));
    CHECK(find(1)->row.status == Status::failure);

    harness.reopen();
    CHECK(find(1)->row.id == row.id);
}

TEST_CASE("a purged request takes its Idempotency-Keys along") {
    Harness harness;
    const store::Row row = harness.add(rows::row(Kind::input_proof, 1), rows::identity(1));
    harness.commit([&] {
        harness.store->remember_key(rows::bytes32(70), row.id.sequence);
        harness.store->remember_key(rows::bytes32(71), row.id.sequence);
    });
    harness.end(row, Status::processing, Status::failure);
    harness.commit(
        [&] { CHECK(harness.store->purge(store::Lane::ended_input_proof, rows::at(1), 10) == 1); });
    CHECK_FALSE(harness.store->find_by_key(rows::bytes32(70), rows::identity(1)));
    CHECK(integrity(harness.options) == "ok");
}

TEST_CASE("notes of the program are no settings") {
    Harness harness;
    CHECK_FALSE(harness.store->note("a"));
    {
        store::Store::Transaction transaction(*harness.store);
        harness.store->set({"a", "1"});
        harness.store->keep_note("a", "x");
        harness.store->keep_note("a", "y");
        transaction.commit();
    }
    CHECK(harness.store->note("a") == "y");
    REQUIRE(harness.store->settings().size() == 1);
    CHECK(harness.store->settings().front().value == "1");
    {
        store::Store::Transaction transaction(*harness.store);
        harness.store->unset("a");
        transaction.commit();
    }
    CHECK(harness.store->note("a") == "y");
    {
        store::Store::Transaction transaction(*harness.store);
        harness.store->drop_note("a");
        transaction.commit();
    }
    CHECK_FALSE(harness.store->note("a"));
}

TEST_CASE("settings are remembered, replaced and forgotten") {
    Harness harness;
    harness.commit([&] {
        harness.store->set({"b", "1"});
        harness.store->set({"a", "[1,2]"});
        harness.store->set({"b", "2"});
    });
    harness.reopen();
    auto settings = harness.store->settings();
    REQUIRE(settings.size() == 2);
    CHECK(settings[0].name == "a");
    CHECK(settings[0].value == "[1,2]");
    CHECK(settings[1].value == "2");
    harness.commit([&] { harness.store->unset("a"); });
    CHECK(harness.store->settings().size() == 1);
}

TEST_CASE("a transaction tells which status changes it made, with the time spent and the reason") {
    Harness harness;
    store::Row row = rows::row(Kind::input_proof, 1);
    harness.commit([&] { harness.store->insert({row, rows::identity(1), {}}); });
    auto changes = harness.store->take_changes();
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].sequence == row.id.sequence);
    CHECK_FALSE(changes[0].from);
    CHECK(changes[0].to == Status::processing);
    CHECK(harness.store->take_changes().empty());

    harness.commit([&] {
        const domain::Failure failure{domain::Reason::reverted, "no", 0xd93c0665};
        REQUIRE(harness.store->fail(
            row, {Status::processing, Status::failure, domain::Cause::transaction}, failure,
            rows::at(250)));
        // Too late: nothing changes, nothing is told.
        CHECK_FALSE(harness.store->fail(
            row, {Status::processing, Status::failure, domain::Cause::transaction}, failure,
            rows::at(300)));
    });
    changes = harness.store->take_changes();
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].from == Status::processing);
    CHECK(changes[0].to == Status::failure);
    CHECK(changes[0].spent == domain::Milliseconds{250});
    CHECK(changes[0].reason == domain::Reason::reverted);
    CHECK(changes[0].selector == 0xd93c0665);
}

TEST_CASE("a transaction that was rolled back tells nothing") {
    Harness harness;
    {
        store::Store::Transaction transaction(*harness.store);
        harness.store->insert({rows::row(Kind::input_proof, 1), rows::identity(1), {}});
    }
    CHECK(harness.store->take_changes().empty());
}
