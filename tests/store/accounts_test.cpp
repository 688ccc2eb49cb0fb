#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "store/harness.hpp"
#include "store/job_reader.hpp"

using domain::Kind;
using domain::Status;

namespace {

const std::string first_account = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf";
const std::string second_account = "0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF";

store::Attempt of(const std::string& account, std::uint64_t number) {
    store::Attempt attempt = rows::attempt(number);
    attempt.account = account;
    return attempt;
}

domain::Block block_of(std::uint64_t number) {
    return {number, rows::bytes32(1'000 + number)};
}

void include(Harness& harness, std::int64_t id, std::uint64_t attempt, std::uint64_t block) {
    harness.commit([&] {
        harness.store->include(
            {id, rows::attempt(attempt).hash, block_of(block), rows::bytes32(block), false});
    });
}

using Accounts = std::set<std::string>;

}  // namespace

TEST_CASE("a transaction remembers whose it is, wherever it is read") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::tx_in_flight);
    harness.bring(Kind::public_decrypt, 2, Status::receipt_received);
    harness.commit([&] {
        harness.store->add_attempt(1, of(first_account, 5), rows::at(1));
        harness.store->add_attempt(1, of(first_account, 6), rows::at(2));
        harness.store->add_attempt(2, of(second_account, 5), rows::at(3));
    });
    include(harness, 2, 5, 7);
    harness.reopen();
    for (const auto& attempt : harness.store->attempts(1)) CHECK(attempt.account == first_account);
    CHECK(harness.store->attempts(2).front().account == second_account);
    const auto in_work = harness.store->attempts_in_work();
    REQUIRE(in_work.size() == 2);
    for (const auto& attempt : in_work) {
        CHECK(attempt.account == first_account);
        CHECK(attempt.sealed.empty());
    }
    const auto used = harness.store->nonces_included();
    REQUIRE(used.size() == 1);
    CHECK(used[0].nonce == 5);
    CHECK(used[0].account == second_account);
    CHECK(used[0].sealed.empty());
    store::JobReader reader(harness.options);
    const auto job = reader.find(rows::id(1)).value();
    REQUIRE(job.attempts.size() == 2);
    CHECK(job.attempts[1].account == first_account);
    CHECK(job.attempts[1].nonce == 6);
}

TEST_CASE("each account is one row, however many transactions it has") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::tx_in_flight);
    for (std::uint64_t number = 0; number < 5; ++number) {
        harness.commit([&] {
            harness.store->add_attempt(1, of(number == 3 ? second_account : first_account, number),
                                       rows::at(1));
        });
    }
    SQLite::Database database(store::database_path(harness.options).string());
    CHECK(database.execAndGet("select count(*) from account").getInt() == 2);
    CHECK(database.execAndGet("select count(distinct account) from attempt").getInt() == 2);
}

TEST_CASE("a transaction of nobody known says so, and its bytes come along") {
    Harness harness;
    harness.bring(Kind::public_decrypt, 1, Status::tx_in_flight);
    harness.bring(Kind::public_decrypt, 2, Status::completed);
    harness.commit([&] {
        harness.store->add_attempt(1, rows::attempt(5), rows::at(1));
        harness.store->add_attempt(2, rows::attempt(6), rows::at(1));
    });
    include(harness, 2, 6, 7);
    const auto in_work = harness.store->attempts_in_work();
    REQUIRE(in_work.size() == 1);
    CHECK(in_work[0].account.empty());
    CHECK(in_work[0].sealed == rows::attempt(5).sealed);
    const auto used = harness.store->nonces_included();
    REQUIRE(used.size() == 1);
    CHECK(used[0].account.empty());
    CHECK(used[0].sealed == rows::attempt(6).sealed);
    SQLite::Database database(store::database_path(harness.options).string());
    CHECK(database.execAndGet("select count(*) from account").getInt() == 0);
}

TEST_CASE("an account is settled when nothing of it is on its way or in a block that may change") {
    struct Row {
        const char* label;
        Status status;
        bool is_included;
        bool is_settled;
    };
    for (const Row& row :
         {Row{"signed", Status::processing, false, false},
          Row{"on its way", Status::tx_in_flight, false, false},
          Row{"final, waits for its answer", Status::receipt_received, false, true},
          Row{"in a new block", Status::receipt_received, true, false},
          Row{"answered in a new block", Status::completed, true, false},
          Row{"answered and final", Status::completed, false, true},
          Row{"failed", Status::failure, false, true}}) {
        CAPTURE(row.label);
        Harness harness;
        harness.bring(Kind::user_decrypt, 1, row.status);
        harness.bring(Kind::user_decrypt, 2, Status::processing);  // nothing is signed for it
        harness.commit([&] { harness.store->add_attempt(1, of(first_account, 5), rows::at(1)); });
        if (row.is_included) include(harness, 1, 5, 7);
        CHECK(harness.store->unsettled_accounts() ==
              (row.is_settled ? Accounts{} : Accounts{first_account}));
        if (!row.is_included) continue;
        harness.commit([&] { harness.store->exclude(1); });
        CHECK(harness.store->unsettled_accounts() == Accounts{first_account});
        include(harness, 1, 5, 8);
        harness.commit([&] { CHECK(harness.store->bury(block_of(8), 100)); });
        CHECK(harness.store->unsettled_accounts().empty());
    }
}

TEST_CASE("of an account that is not known nothing is settled before its request has ended") {
    for (const auto& [status, is_settled] :
         {std::pair{Status::tx_in_flight, false}, std::pair{Status::receipt_received, false},
          std::pair{Status::completed, true}, std::pair{Status::timed_out, true}}) {
        CAPTURE(to_string(status));
        Harness harness;
        harness.bring(Kind::input_proof, 1, status);
        harness.commit([&] { harness.store->add_attempt(1, rows::attempt(5), rows::at(1)); });
        CHECK(harness.store->unsettled_accounts() == (is_settled ? Accounts{} : Accounts{""}));
    }
}

TEST_CASE(
    "vote shares are no account's, and own transactions are until the chain has settled them") {
    Harness harness;
    harness.bring(Kind::share, 1, Status::tx_in_flight);
    harness.commit([&] { harness.store->add_attempt(1, rows::attempt(5), rows::at(1)); });
    CHECK(harness.store->unsettled_accounts().empty());
    SQLite::Database database(store::database_path(harness.options).string(),
                              SQLite::OPEN_READWRITE);
    database.exec("insert into account (id, address) values (9, '" + second_account + "')");
    database.exec(
        "insert into own_transaction (account, nonce, hash, purpose, sealed, sealed_ms) "
        "values (9, 4, zeroblob(32), 'approval', x'01', 5)");
    CHECK(harness.store->unsettled_accounts() == Accounts{second_account});
    database.exec("update own_transaction set fate = 'included', fate_ms = 6");
    CHECK(harness.store->unsettled_accounts().empty());
}
