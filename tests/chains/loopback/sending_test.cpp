#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "chains/loopback/harness.hpp"

using domain::Milliseconds;
using namespace engine;

namespace {

// How many transactions the write-ahead log of a ledger holds: a frame that commits tells the size
// of the database (SQLite file format, 4.1).
int commits(const std::string& ledger) {
    std::ifstream file{ledger + "-wal", std::ios::binary};
    const std::vector<char> log{std::istreambuf_iterator<char>{file}, {}};
    const auto number = [&log](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t byte = 0; byte < 4; ++byte) {
            value = value << 8U | static_cast<std::uint8_t>(log[at + byte]);
        }
        return value;
    };
    if (log.size() < 32) return 0;
    const std::size_t batch = number(8);
    int count = 0;
    for (std::size_t at = 32; at + 24 <= log.size(); at += 24 + batch) {
        count += number(at + 4) != 0 ? 1 : 0;
    }
    return count;
}

std::vector<SendOrder> orders_of(Harness& harness, std::uint32_t count) {
    std::vector<SendOrder> orders;
    for (std::uint32_t number = 0; number < count; ++number) {
        orders.push_back(harness.order(support::request_id(number), support::any_request(number)));
    }
    return orders;
}

}  // namespace

TEST_CASE("a receipt comes after the confirmation, with the reference of its kind") {
    Harness harness;
    for (std::uint32_t number = 0; number < 6; ++number) {
        CAPTURE(number);
        const SendOrder order =
            harness.order(support::request_id(number), support::any_request(number));
        const std::size_t before = harness.events.sends.size();
        harness.gateway->send({order});
        harness.run_for(Milliseconds{249});
        CHECK(harness.events.sends.size() == before);
        CHECK(harness.gateway->inclusions() == number + 1);
        harness.run_for(Milliseconds{1});
        REQUIRE(harness.events.sends.size() == before + 1);
        const Sent& sent = harness.events.sends.back();
        CHECK(sent.id == support::request_id(number));
        REQUIRE(is<Receipt>(sent.outcome));
        const auto& receipt = std::get<Receipt>(sent.outcome);
        CHECK(receipt.hash == order.sealed[0].hash);
        const bool share = order.kind == domain::Kind::share;
        CHECK(receipt.reference.has_value() != share);
        CHECK(receipt.revealed.has_value() == share);
        if (share) {
            CHECK(receipt.revealed->tx_hash.size() == 64);
            CHECK_FALSE(receipt.revealed->already);
        }
    }
}

TEST_CASE("the same bytes again are the same inclusion") {
    for (const bool look_up_first : {false, true}) {
        CAPTURE(look_up_first);
        Harness harness{instant()};
        for (std::uint32_t number = 0; number < 6; ++number) {
            CAPTURE(number);
            SendOrder order =
                harness.order(support::request_id(number), support::any_request(number));
            const auto first = std::get<Receipt>(harness.send(order));
            order.look_up_first = look_up_first;
            const auto second = std::get<Receipt>(harness.send(order));
            CHECK(second.hash == first.hash);
            CHECK(second.reference == first.reference);
            CHECK(second.revealed == first.revealed);
            CHECK(harness.gateway->inclusions() == number + 1);
        }
        CHECK(harness.gateway->double_inclusions() == 0);
    }
}

TEST_CASE("looking up first finds any transaction of the request, the oldest receipt wins") {
    Harness harness{instant()};
    const auto request = support::public_decrypt(1);
    const SendOrder first = harness.order(support::request_id(1), request);
    const SendOrder second = harness.order(support::request_id(1), request);
    const SendOrder third = harness.order(support::request_id(1), request);
    const std::vector<Sealed> all{first.sealed[0], second.sealed[0], third.sealed[0]};

    SendOrder none = first;
    none.look_up_first = true;
    none.sealed = {first.sealed[0], second.sealed[0]};
    CHECK(std::get<Receipt>(harness.send(none)).hash == second.sealed[0].hash);
    CHECK(harness.gateway->inclusions() == 1);

    SendOrder middle = first;
    middle.look_up_first = true;
    middle.sealed = all;
    CHECK(std::get<Receipt>(harness.send(middle)).hash == second.sealed[0].hash);
    CHECK(harness.gateway->inclusions() == 1);
    CHECK(harness.gateway->double_inclusions() == 0);

    SendOrder blind = middle;
    blind.look_up_first = false;
    CHECK(std::get<Receipt>(harness.send(blind)).hash == third.sealed[0].hash);
    CHECK(harness.gateway->double_inclusions() == 1);
    CHECK(std::get<Receipt>(harness.send(middle)).hash == second.sealed[0].hash);
}

TEST_CASE("a double inclusion of a relayer request is shown, not prevented") {
    Harness harness{instant()};
    for (std::uint32_t number = 0; number < 5; ++number) {
        const auto request = support::any_request(number);
        (void)harness.send(harness.order(support::request_id(number), request));
        CHECK(harness.gateway->double_inclusions() == number);
        (void)harness.send(harness.order(support::request_id(number), request));
        CHECK(harness.gateway->double_inclusions() == number + 1);
    }
    CHECK(harness.gateway->inclusions() == 10);
    CHECK(harness.logger.count("event=loopback_double_inclusion") == 5);
    CHECK(harness.logger.count(domain::to_string(support::request_id(0))) == 1);
    harness.crash();
    harness.start(0);
    CHECK(harness.gateway->double_inclusions() == 5);
}

TEST_CASE("the chain refuses to reveal a share twice") {
    Harness harness{instant()};
    const auto share = support::vote_share(1);
    const auto first =
        std::get<Receipt>(harness.send(harness.order(support::request_id(1), share)));
    const auto second =
        std::get<Receipt>(harness.send(harness.order(support::request_id(2), share)));
    CHECK_FALSE(first.revealed->already);
    CHECK(second.revealed->already);
    CHECK(harness.gateway->inclusions() == 1);
    CHECK(harness.gateway->double_inclusions() == 0);

    SQLite::Database ledger{harness.options.ledger};
    CHECK(ledger.execAndGet("select count(*) from inclusion where already = 1").getInt() == 1);
}

TEST_CASE("a share another helper was faster with counts as revealed already") {
    auto options = instant();
    options.shares_already_revealed = 1000;
    Harness harness{options};
    const auto share = std::get<Receipt>(
        harness.send(harness.order(support::request_id(1), support::vote_share(1))));
    CHECK(share.revealed->already);
    CHECK(harness.gateway->inclusions() == 0);
    CHECK(is<Receipt>(
        harness.send(harness.order(support::request_id(2), support::public_decrypt(2)))));
}

TEST_CASE("a revert on chain is recorded and answers the same when asked again") {
    auto options = instant();
    options.reverts = 1000;
    Harness harness{options};
    for (std::uint32_t number = 0; number < 6; ++number) {
        CAPTURE(number);
        SendOrder order = harness.order(support::request_id(number), support::any_request(number));
        const auto outcome = harness.send(order);
        REQUIRE(is<Rejected>(outcome));
        const domain::Failure failure = std::get<Rejected>(outcome).failure;
        CHECK(failure.reason == domain::Reason::reverted);
        CHECK(failure.selector.has_value() == (order.kind != domain::Kind::share));
        order.look_up_first = true;
        CHECK(std::get<Rejected>(harness.send(order)).failure == failure);
    }
    CHECK(harness.gateway->inclusions() == 0);
    CHECK(harness.events.answers.empty());
    SQLite::Database ledger{harness.options.ledger};
    CHECK(ledger.execAndGet("select count(*) from inclusion where reverted = 1").getInt() == 6);
}

TEST_CASE("a reverted transaction does not hide a later one of the same request") {
    auto options = instant();
    options.reverts = 500;
    Harness harness{options};
    int rescued = 0;
    for (std::int64_t number = 0; number < 40; ++number) {
        const auto request = support::vote_share(static_cast<std::uint32_t>(number));
        SendOrder order = harness.order(support::request_id(number), request);
        if (!is<Rejected>(harness.send(order))) continue;
        order.sealed.push_back(harness.order(support::request_id(number), request).sealed[0]);
        order.look_up_first = true;
        rescued += is<Receipt>(harness.send(order));
    }
    CHECK(rescued > 0);
}

TEST_CASE("an unreachable chain includes nothing") {
    auto options = instant();
    options.unreachable_sends = 1000;
    Harness harness{options};
    CHECK(is<Unreachable>(
        harness.send(harness.order(support::request_id(1), support::public_decrypt(1)))));
    CHECK(harness.gateway->inclusions() == 0);
}

TEST_CASE("a lost reply hides an inclusion that looking up finds") {
    auto options = instant();
    options.lost_replies = 1000;
    Harness harness{options};
    for (std::uint32_t number = 0; number < 6; ++number) {
        CAPTURE(number);
        SendOrder order = harness.order(support::request_id(number), support::any_request(number));
        CHECK(is<Unreachable>(harness.send(order)));
        CHECK(harness.gateway->inclusions() == number + 1);
        order.look_up_first = true;
        CHECK(is<Receipt>(harness.send(order)));
        CHECK(harness.gateway->inclusions() == number + 1);
    }
    CHECK(harness.gateway->double_inclusions() == 0);
}

TEST_CASE("bytes that are no transaction or have another hash are refused") {
    Harness harness{instant()};
    SendOrder order = harness.order(support::request_id(1), support::public_decrypt(1));
    SendOrder forged = order;
    forged.sealed[0].hash[0] ^= 1;
    SendOrder garbage = order;
    garbage.sealed[0].bytes = {1, 2, 3};
    garbage.sealed[0].hash = domain::sha256(garbage.sealed[0].bytes);
    for (const SendOrder& bad : {forged, garbage}) {
        const auto outcome = harness.send(bad);
        REQUIRE(is<Rejected>(outcome));
        CHECK(std::get<Rejected>(outcome).failure.reason == domain::Reason::undecodable);
    }
    CHECK(harness.gateway->inclusions() == 0);
    CHECK(is<Receipt>(harness.send(order)));
}

TEST_CASE("without latency a batch is one ledger transaction and two events") {
    Harness harness{instant()};
    const auto orders = orders_of(harness, 300);
    const int commits_before = commits(harness.options.ledger);
    const int events_before = harness.events.calls;
    harness.gateway->send(orders);
    harness.executor.run_due();
    CHECK(harness.events.sends.size() == 300);
    CHECK(harness.events.answers.size() == 50 * 2 + 150 * 13);
    CHECK(harness.events.order == "sa");
    CHECK(harness.events.calls == events_before + 2);
    CHECK(commits(harness.options.ledger) == commits_before + 1);
}

TEST_CASE("sends that arrive before the batch is written join it") {
    Harness harness{instant()};
    const auto orders = orders_of(harness, 30);
    const int commits_before = commits(harness.options.ledger);
    for (const SendOrder& order : orders) harness.gateway->send({order});
    harness.executor.run_due();
    CHECK(harness.events.sends.size() == 30);
    CHECK(harness.events.order == "sa");
    CHECK(commits(harness.options.ledger) == commits_before + 1);
}

TEST_CASE("a ledger that can not be written is trouble, not a loss") {
    Harness harness{instant()};
    const SendOrder order = harness.order(support::request_id(1), support::public_decrypt(1));
    SQLite::Database other{harness.options.ledger, SQLite::OPEN_READWRITE};
    other.exec("alter table inclusion rename to elsewhere");

    CHECK(is<Unreachable>(harness.send(order)));
    CHECK(is<Unreachable>(harness.send(order)));
    CHECK(harness.gateway->problem().value_or("").starts_with(
        "the loopback ledger can not be written: "));
    CHECK(harness.logger.count("loopback_ledger_failed error=\"") == 1);

    other.exec("alter table elsewhere rename to inclusion");
    CHECK(is<Receipt>(harness.send(order)));
    CHECK_FALSE(harness.gateway->problem());
    CHECK(harness.gateway->inclusions() == 1);
}
