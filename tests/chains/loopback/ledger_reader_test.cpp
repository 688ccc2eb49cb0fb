#include "chains/loopback/ledger_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>

#include "chains/loopback/ledger.hpp"
#include "support/temp_directory.hpp"

using namespace chains::loopback;

namespace {

const std::array effects{Effect::included, Effect::reverted, Effect::already};

// Three shares, one of each effect.
void fill(Ledger& ledger) {
    Ledger::Batch batch(ledger);
    std::int64_t number = 0;
    for (const Effect effect : effects) {
        ++number;
        Transaction transaction;
        transaction.draft.kind = domain::Kind::share;
        transaction.draft.id = {number, 7};
        const domain::Bytes subject(4, static_cast<std::uint8_t>(number));
        const domain::Bytes32 hash{static_cast<std::uint8_t>(number)};
        (void)batch.include({.transaction = transaction,
                             .subject = subject,
                             .bytes = subject,
                             .hash = hash,
                             .reference = std::nullopt,
                             .included = domain::from_unix_ms(1'000 * number),
                             .effect = effect});
    }
    batch.commit();
}

void tamper(const std::string& path, const std::string& sql) {
    SQLite::Database{path, SQLite::OPEN_READWRITE}.exec(sql);
}

}  // namespace

TEST_CASE("whoever reads a ledger sees each transaction, also beside its writer") {
    const support::TempDirectory directory;
    const std::string path = directory.file("ledger.db");
    const auto check = [&path] {
        const auto entries = read_ledger(path);
        REQUIRE(entries.size() == effects.size());
        for (std::size_t i = 0; i < effects.size(); ++i) {
            CAPTURE(i);
            CHECK(entries[i].request_sequence == static_cast<std::int64_t>(i) + 1);
            CHECK(entries[i].kind == domain::Kind::share);
            CHECK(entries[i].subject == domain::Bytes(4, static_cast<std::uint8_t>(i + 1)));
            CHECK(domain::unix_ms(entries[i].included) ==
                  1'000 * (static_cast<std::int64_t>(i) + 1));
            CHECK(entries[i].effect == effects[i]);
        }
    };
    {
        Ledger ledger(path, LedgerSynchronous::off, {});
        CHECK(read_ledger(path).empty());
        fill(ledger);
        check();
    }
    check();
}

TEST_CASE("what was put into the file from outside is seen as well") {
    const support::TempDirectory directory;
    const std::string path = directory.file("ledger.db");
    {
        Ledger ledger(path, LedgerSynchronous::off, {});
        fill(ledger);
    }
    tamper(path,
           "insert into inclusion select 9, randomblob(32), request_sequence, request_random, "
           "kind, subject, nonce, reference, bytes, included_ms, reverted, already "
           "from inclusion where block = 1");
    const auto entries = read_ledger(path);
    REQUIRE(entries.size() == 4);
    CHECK(entries[3].subject == entries[0].subject);
    CHECK(entries[3].effect == Effect::included);

    tamper(path, "update inclusion set kind = 'shares', reference = x'00' where block = 9");
    CHECK_THROWS_AS(static_cast<void>(read_ledger(path)), std::runtime_error);
}

TEST_CASE("a ledger that is not there is not made") {
    const support::TempDirectory directory;
    const std::string path = directory.file("ledger.db");
    CHECK_THROWS_AS(static_cast<void>(read_ledger(path)), SQLite::Exception);
    CHECK(std::filesystem::is_empty(directory.path()));
}
