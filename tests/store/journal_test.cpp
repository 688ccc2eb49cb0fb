// What a store gives to its journal, and what becomes of a commit that the journal does not take.

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/book.hpp"
#include "store/restore.hpp"
#include "store/script.hpp"
#include "support/contains.hpp"
#include "support/fault_vfs.hpp"

using domain::Cause;
using domain::Kind;
using domain::Status;
using store::Lane;
using support::FaultVfs;

namespace {

void move_cursor(store::Store& store, std::uint64_t to) {
    store::Store::Transaction transaction(store);
    store.set_cursor("chain", to);
    transaction.commit();
}

template <typename Error, typename Work>
std::string what_of(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

void sql(const store::Options& options, const std::string& statements) {
    SQLite::Database(store::database_path(options).string(), SQLite::OPEN_READWRITE)
        .exec(statements);
}

}  // namespace

TEST_CASE("each step of the script is one entry, upkeep and probes are none") {
    Book book;
    for (const script::Step& step : script::steps()) {
        CAPTURE(step.label);
        const std::size_t entries = book.journal.entries.size();
        step.run(*book.store);
        const bool is_local = step.label == "a checkpoint" || step.label == "a probe" ||
                              step.label == "the log cut to nothing";
        CHECK(book.journal.entries.size() == entries + (is_local ? 0 : 1));
        CHECK(book.journal.commits == book.journal.entries.size());
        CHECK(book.store->position() == book.journal.end());
        CHECK(store::stored_position(book.options)->position == book.journal.end());
    }
    CHECK(book.journal.entries.size() > 10);
}

TEST_CASE("what changes nothing in the end is not given to the journal") {
    Book book;
    const store::Row row = book.add(rows::row(Kind::public_decrypt, 1));
    const std::size_t entries = book.journal.entries.size();
    const std::string before = book.contents();
    book.commit([] {});
    book.commit([&] { book.store->drop_answers(rows::bytes32(1)); });
    book.commit([&] {
        const store::Store::Step wrong{Status::tx_in_flight, Status::failure, Cause::internal};
        CHECK_FALSE(book.store->fail(row, wrong, {domain::Reason::reverted, "", 0}, rows::start));
    });
    book.commit([&] {
        book.store->set_mark("short", 1);
        book.store->drop_mark("short");
    });
    book.commit(
        [&] { CHECK(book.store->reschedule(row, Status::queued, rows::first_of(row.kind))); });
    { const store::Store::Transaction undone(*book.store); }
    CHECK(book.journal.entries.size() == entries);
    CHECK(book.contents() == before);
}

TEST_CASE("what nobody decided rolls back, and the same is decided later") {
    Book book;
    move_cursor(*book.store, 1);
    const std::string before = book.contents();
    book.journal.before = [] { throw store::NotDecided("no connection"); };
    for (int i = 0; i < 3; ++i) {
        CHECK_THROWS_WITH_AS(move_cursor(*book.store, 2), "no connection", store::NotDecided);
        CHECK(book.contents() == before);
        CHECK(book.store->cursor("chain") == 1);
    }
    book.store->probe();
    book.journal.before = [] {};
    move_cursor(*book.store, 2);
    CHECK(book.journal.entries.size() == 2);
    CHECK(book.journal.commits == 2);
    book.follow();
    book.check_equal();
}

TEST_CASE("an outcome that is not known ends every transaction of the store") {
    struct Row {
        std::string label;
        std::function<void()> fault;
        bool is_written;  // to the journal, for all the store knows it may be or not
    };
    const Row table[] = {
        {"the sink says so", [] { throw store::OwnershipLost("fenced"); }, false},
        {"the sink says so, and the entry is there", [] { throw store::OwnershipLost("fenced"); },
         true},
        {"whatever else it throws", [] { throw std::runtime_error("fenced"); }, true},
        {"also what a disk throws",
         [] { throw store::StorageError(store::StorageErrorKind::busy, "fenced"); }, true},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Book book;
        move_cursor(*book.store, 1);
        const std::string before = book.contents();
        (row.is_written ? book.journal.after : book.journal.before) = row.fault;
        CHECK_THROWS_WITH_AS(move_cursor(*book.store, 2), "fenced", store::OwnershipLost);
        book.journal.before = book.journal.after = [] {};
        CHECK_THROWS_WITH_AS(move_cursor(*book.store, 3), "fenced", store::OwnershipLost);
        CHECK_THROWS_WITH_AS(book.store->probe(), "fenced", store::OwnershipLost);
        CHECK(book.contents() == before);
        CHECK(book.store->cursor("chain") == 1);
        CHECK(book.journal.commits == 1);
        // The file goes on as whose owner is another.
        book.close();
        book.follower_options = book.options;
        book.open_follower();
        book.follow();
        CHECK(book.follower->position() == book.journal.end());
        book.follower.reset();
        book.open_owner();
        CHECK(book.store->cursor("chain") == (row.is_written ? 2 : 1));
        move_cursor(*book.store, 4);
    }
}

TEST_CASE("a local commit that fails after the decision is one the file gets from the journal") {
    std::uint64_t lost = 0;
    for (std::uint64_t nth = 1;; ++nth) {
        CAPTURE(nth);
        FaultVfs vfs;
        store::Options options;
        options.vfs = vfs.name();
        options.reserve_bytes = 0;
        Book book(options);
        move_cursor(*book.store, 1);
        book.journal.after = [&] { vfs.fail({FaultVfs::Operation::any, nth, SQLITE_FULL, true}); };
        bool is_lost = false;
        try {
            book.commit([&] {
                book.store->insert({rows::row(Kind::user_decrypt, 1), rows::identity(1),
                                    domain::Bytes(300'000, 1)});
            });
        } catch (const store::OwnershipLost&) {
            is_lost = true;
        }
        const bool has_struck = vfs.struck();
        vfs.heal();
        CHECK(is_lost == has_struck);
        if (!has_struck) break;
        ++lost;
        CHECK_THROWS_AS(move_cursor(*book.store, 2), store::OwnershipLost);
        CHECK(book.journal.entries.size() == 2);
        CHECK(book.journal.commits == 1);
        book.follow();
        book.close();
        {
            store::Follower own(book.options);
            for (const store::Entry& entry : book.journal.entries) {
                if (entry.position.seq > own.position().seq) own.apply(entry);
            }
        }
        book.check_equal();
        CHECK(integrity(book.options) == "ok");
    }
    CHECK(lost > 0);
}

TEST_CASE("a disk without room for a transaction says so before anything is decided") {
    std::uint64_t full = 0;
    std::uint64_t lost = 0;
    bool is_done = false;
    for (std::uint64_t room = 0; !is_done; room += 4'120) {
        CAPTURE(room);
        FaultVfs vfs;
        store::Options options;
        options.vfs = vfs.name();
        options.reserve_bytes = 0;
        Book book(options);
        move_cursor(*book.store, 1);
        const std::string before = book.contents();
        const auto insert = [&] {
            book.commit([&] {
                book.store->insert({rows::row(Kind::user_decrypt, 1), rows::identity(1),
                                    domain::Bytes(100'000, 1)});
            });
        };
        vfs.limit_growth(room);
        try {
            insert();
            is_done = true;
        } catch (const store::OwnershipLost&) {
            ++lost;
        } catch (const store::StorageError& error) {
            ++full;
            CHECK(error.kind() == store::StorageErrorKind::full);
            CHECK(book.journal.entries.size() == 1);
            CHECK(book.contents() == before);
            vfs.release_growth();
            insert();
            book.follow();
            book.check_equal();
        }
    }
    CHECK(full > 20);
    CHECK(lost <= 3);  // of the pages that the commit itself adds
}

TEST_CASE("a transaction larger than an entry is not committed, and can be seen to be") {
    Book book;
    const auto insert = [&](std::int64_t number, std::size_t size) {
        book.store->insert({rows::row(Kind::user_decrypt, number),
                            rows::identity(static_cast<std::uint64_t>(number)),
                            domain::Bytes(size, 1)});
    };
    const std::string before = book.contents();
    CHECK_THROWS_AS(book.commit([&] {
        CHECK(book.store->changed_bytes() == 0);
        insert(1, store::patchset_bytes_max);
        CHECK(book.store->changed_bytes() > store::patchset_bytes_max);
    }),
                    store::StepTooLarge);
    CHECK(book.contents() == before);
    CHECK(book.journal.entries.empty());
    for (const std::size_t size : {0UL, 10UL, 1'000UL, 200'000UL, 1'000'000UL}) {
        CAPTURE(size);
        std::uint64_t counted = 0;
        book.commit([&] {
            insert(static_cast<std::int64_t>(2 + size), size);
            counted = book.store->changed_bytes();
        });
        CHECK(counted >= book.journal.changes.back().patchset.size());
        CHECK(counted < book.journal.changes.back().patchset.size() + 200);
    }
    Harness alone;
    alone.commit([&] {
        alone.store->set_cursor("chain", 1);
        CHECK(alone.store->changed_bytes() == 0);
    });
    CHECK_FALSE(alone.store->position());
}

TEST_CASE("what is deleted counts with its key") {
    Book book;
    constexpr std::size_t size = 300'000;
    book.commit([&] {
        for (std::int64_t number = 1; number <= 3; ++number) {
            book.store->insert({rows::row(Kind::input_proof, number),
                                rows::identity(static_cast<std::uint64_t>(number)),
                                domain::Bytes(size, 1)});
            CHECK(book.store->has_room() == (number < 2));
        }
    });
    CHECK(book.store->value_bytes_max() == store::value_bytes_max);
    book.commit([&] {
        for (std::int64_t number = 1; number <= 3; ++number) {
            REQUIRE(book.store->fail(rows::row(Kind::input_proof, number),
                                     {Status::processing, Status::failure, Cause::internal},
                                     {domain::Reason::internal_error, "why", {}}, rows::at(1)));
        }
    });
    book.commit([&] {
        CHECK(book.store->purge(Lane::ended_input_proof, rows::at(2), 10) == 3);
        CHECK(book.store->has_room());
        CHECK(book.store->changed_bytes() < 1'000);
    });
    CHECK(book.journal.changes.back().patchset.size() < 1'000);
    book.follow();
    book.check_equal();
}

TEST_CASE("rows that are deleted all at once are recorded one by one") {
    Book book;
    book.commit([&] {
        book.store->set_cursor("chain", 1);
        CHECK(book.store->hold_answer(rows::bytes32(1), {0, {1}}, rows::start));
        book.store->add_own({"0xA", 1, rows::bytes32(1), {}, {1}, {}}, rows::start);
    });
    book.commit([&] {
        book.store->forget_listening(1'000);
        book.store->forget_own(1'000);
    });
    CHECK(book.store->cursors().empty());
    book.follow();
    book.check_equal();
}

TEST_CASE("a file that belongs to a book is opened only by who knows its journal") {
    Book book;
    move_cursor(*book.store, 1);
    book.close();
    const std::string said = what_of<store::OpenError>([&] { book.open(); });
    CHECK(support::contains(said, store::database_path(book.options).string()));
    CHECK(support::contains(said, "belongs to a book"));
    CHECK_THROWS_AS(store::join_book(book.options, beginning()), store::OpenError);

    store::leave_book(book.options);
    CHECK_FALSE(store::stored_position(book.options));
    CHECK_THROWS_AS(store::leave_book(book.options), store::OpenError);
    CHECK(support::contains(what_of<store::OpenError>([&] { book.open_owner(); }),
                            "belongs to no book"));
    CHECK_THROWS_AS(store::Follower{book.options}, store::OpenError);
    book.open();
    CHECK(book.store->cursor("chain") == 1);
}

TEST_CASE("a file that can not be one of a book is refused and left as it is") {
    struct Row {
        std::string label;
        std::string spoil;
        std::string problem;
        bool follows = false;  // waits for the entry that migrates it
    };
    const Row table[] = {
        {"of an older schema", "pragma user_version = 6", "has schema 6, this posthouse has 7",
         true},
        {"of a newer schema", "pragma user_version = 8", "made by a newer posthouse"},
        {"of another program", "pragma application_id = 7", "another program"},
        {"with a table nobody can record", "create table note (text, more)", "no primary key"},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Book book;
        book.close();
        sql(book.options, row.spoil);
        const std::string before = book.contents();
        CHECK(
            support::contains(what_of<store::OpenError>([&] { book.open_owner(); }), row.problem));
        if (row.follows) {
            CHECK(store::Follower(book.options).schema() == 6);
        } else {
            CHECK(support::contains(
                what_of<store::OpenError>([&] { store::Follower follower(book.options); }),
                row.problem));
        }
        CHECK(book.contents() == before);
    }
    store::Options nowhere;
    const support::TempDirectory temporary;
    nowhere.directory = temporary.path() / "none";
    CHECK(support::contains(what_of<store::OpenError>([&] { store::Follower follower(nowhere); }),
                            "is missing"));
    CHECK_FALSE(std::filesystem::exists(store::database_path(nowhere)));
}

TEST_CASE("what is restored belongs to no book") {
    Book book;
    move_cursor(*book.store, 1);
    const support::TempDirectory temporary;
    store::RestoreOptions restore{store::database_path(book.options), {}, rows::start, {}, false};
    restore.into.directory = temporary.path();
    static_cast<void>(store::restore(
        restore, [](const ports::Done&) {}, [](const store::Fault&) {}));
    CHECK_FALSE(store::stored_position(restore.into));
    CHECK(store::Store(restore.into).cursor("chain") == 1);
}

TEST_CASE("a checkpoint says how far the file is on the disk") {
    Book book;
    CHECK_FALSE(book.store->synced_position());
    move_cursor(*book.store, 1);
    CHECK_FALSE(book.store->synced_position());
    book.store->checkpoint();
    CHECK(book.store->synced_position() == book.journal.end());
    {
        SQLite::Database reader(store::database_path(book.options).string());
        SQLite::Transaction old_moment(reader);
        CHECK(reader.execAndGet("select count(*) from cursor").getInt() == 1);
        move_cursor(*book.store, 2);
        book.store->checkpoint();  // not past the reader
        book.store->truncate_wal();
        CHECK(book.store->synced_position()->seq == 1);
    }
    book.store->truncate_wal();
    CHECK(book.store->synced_position()->seq == 2);
    Harness alone;
    alone.store->checkpoint();
    CHECK_FALSE(alone.store->synced_position());
}
