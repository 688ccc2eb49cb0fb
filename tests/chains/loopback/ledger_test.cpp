#include "chains/loopback/ledger.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <stdexcept>

#include "chains/loopback/harness.hpp"
#include "store/errors.hpp"
#include "support/resume.hpp"

using chains::loopback::Ledger;
using chains::loopback::LedgerSynchronous;

namespace {

mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

}  // namespace

TEST_CASE("the ledger is private to its owner, its side files too") {
    const mode_t before = ::umask(0);
    {
        Harness harness{instant()};
        (void)harness.send(harness.order(support::request_id(1), support::public_decrypt(1)));
        for (const char* suffix : {"", "-wal", "-shm"}) {
            CAPTURE(suffix);
            CHECK(mode_of(harness.options.ledger + suffix) == 0600);
        }
    }
    ::umask(before);
}

TEST_CASE("a ledger knows how often it was opened") {
    const support::TempDirectory directory;
    const std::string path = directory.file("ledger.db");
    for (const std::uint64_t run : {1U, 2U, 3U}) {
        CHECK(Ledger(path, LedgerSynchronous::off, {}).run() == run);
    }
}

TEST_CASE("a file that is no ledger of this version is refused by name") {
    const support::TempDirectory directory;
    const std::string path = directory.file("ledger.db");
    SQLite::Database{path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
        "pragma user_version = 7");
    const std::string expected = "the ledger " + path +
                                 " has version 7, this program reads version 1; "
                                 "move the file away";
    CHECK_THROWS_WITH_AS(Ledger(path, LedgerSynchronous::off, {}), expected.c_str(),
                         store::OpenError);
}

TEST_CASE("a ledger that can not be created says which") {
    CHECK_THROWS_AS(Ledger("/nowhere/at/all/ledger.db", LedgerSynchronous::off, {}),
                    store::OpenError);
}

TEST_CASE("a shared ledger in memory lasts as long as somebody holds it") {
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    auto options = instant();
    options.ledger = "file:ledger_test?mode=memory&cache=shared";
    {
        const Ledger keeper{options.ledger, LedgerSynchronous::off, {}};
        for (const std::uint64_t expected : {1U, 2U}) {
            support::RecordingEvents events;
            chains::loopback::Gateway gateway{options, clock, executor, logger};
            gateway.listen(events, support::resume_from(0));
            const domain::RequestId id = support::request_id(static_cast<std::int64_t>(expected));
            gateway.prepare({{id, std::make_shared<domain::Request>(support::public_decrypt(1))}});
            executor.run_due();
            const auto plan = std::get<engine::Plan>(events.preparations[0].outcome);
            gateway.send({{id,
                           domain::Kind::public_decrypt,
                           {gateway.seal(id, domain::Kind::public_decrypt, plan)},
                           false}});
            executor.run_due();
            CHECK(gateway.inclusions() == expected);
            CHECK(events.answers.size() == expected);
        }
    }
    chains::loopback::Gateway fresh{options, clock, executor, logger};
    CHECK(fresh.inclusions() == 0);
}

TEST_CASE("the synchronous option reaches the ledger") {
    const support::TempDirectory directory;
    for (const auto mode :
         {LedgerSynchronous::full, LedgerSynchronous::normal, LedgerSynchronous::off}) {
        const std::string path = directory.file(std::string{chains::loopback::to_string(mode)});
        Ledger ledger{path, mode, {}};
        CHECK(ledger.inclusions() == 0);
        CHECK(ledger.synchronous() == mode);
    }
}
