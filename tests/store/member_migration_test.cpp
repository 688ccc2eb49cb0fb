// A file of a book is migrated by an entry of its journal, and in no other way.

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "store/book.hpp"
#include "store/database.hpp"
#include "store/digest.hpp"

using domain::Kind;

namespace {

const std::string next_schema =
    "alter table request add column hint text;"
    "update request set hint = 'old';"
    "create table extra (id integer primary key, value text) strict;"
    "insert into extra select id, kind from request;"
    "drop index inclusion_block;";

store::Options newer(store::Options options) {
    options.further_migrations.push_back(next_schema);
    return options;
}

int schema_of(const store::Options& options) {
    SQLite::Database database(store::database_path(options).string());
    return store::schema_of(database);
}

// Some rows in both files, which are closed then.
struct OldBook : Book {
    OldBook() {
        for (std::int64_t number = 1; number <= 3; ++number) add(*store, number);
        follow();
        close();
        follower.reset();
    }

    static void add(store::Store& store, std::int64_t number) {
        store::Store::Transaction transaction(store);
        store.insert({rows::row(Kind::input_proof, number),
                      rows::identity(static_cast<std::uint64_t>(number)), domain::Bytes(20, 1)});
        transaction.commit();
    }

    // The entry that migrates is the next one.
    store::JournalPosition decide(int schema) {
        CHECK(schema == 8);
        migration = {journal.end(), journal.end().hash, {}};
        ++migration.position.seq;
        migration.position.hash = rows::bytes32(88);
        journal.entries.push_back(migration);
        return migration.position;
    }

    store::Entry migration;
};

}  // namespace

TEST_CASE("owner and follower migrate their files at the same entry") {
    OldBook book;
    const store::Options owner = newer(book.options);
    const store::Options other = newer(book.follower_options);
    CHECK_THROWS_AS(store::Store(owner, book.journal), store::OpenError);
    CHECK(store::stored_position(owner)->position == book.journal.end());

    store::Follower follower(other);
    CHECK(follower.schema() == 7);
    CHECK(store::migrate_book(owner, [&](int schema) { return book.decide(schema); }));
    CHECK(schema_of(owner) == 8);
    CHECK_FALSE(store::migrate_book(owner, [&](int schema) { return book.decide(schema); }));
    CHECK_THROWS_AS(follower.migrate(book.migration, 9), store::EntryRefused);
    CHECK_THROWS_AS(follower.migrate(book.migration, 7), store::EntryRefused);
    follower.migrate(book.migration, 8);
    CHECK(follower.schema() == 8);
    CHECK(follower.position() == book.journal.end());
    CHECK_THROWS_AS(follower.migrate(book.migration, 8), store::EntryRefused);
    CHECK(store::digest_of_rows(owner) == store::digest_of_rows(other));

    store::Store store(owner, book.journal);
    OldBook::add(store, 4);
    follower.apply(book.journal.entries.back());
    CHECK(store::digest_of_rows(owner) == store::digest_of_rows(other));
}

TEST_CASE("a follower of an older version refuses the entry and stays what it was") {
    OldBook book;
    static_cast<void>(
        store::migrate_book(newer(book.options), [&](int schema) { return book.decide(schema); }));
    {
        store::Follower older(book.follower_options);
        const auto before = older.position();
        CHECK_THROWS_AS(older.migrate(book.migration, 8), store::EntryRefused);
        CHECK(older.position() == before);
    }
    CHECK(schema_of(book.follower_options) == 7);
    CHECK_THROWS_AS(store::Follower{book.options}, store::OpenError);
    store::Follower follower(newer(book.follower_options));
    follower.migrate(book.migration, 8);
    CHECK(store::digest_of_rows(newer(book.options)) ==
          store::digest_of_rows(newer(book.follower_options)));
}

TEST_CASE("a migration that is not decided, or fails, leaves the file as it was") {
    OldBook book;
    const domain::Bytes32 before = store::digest_of_rows(book.options);
    CHECK_THROWS_AS(store::migrate_book(newer(book.options),
                                        [](int) -> store::JournalPosition {
                                            throw store::NotDecided("no connection");
                                        }),
                    store::NotDecided);
    CHECK_THROWS_AS(store::migrate_book(newer(book.options),
                                        [](int) -> store::JournalPosition {
                                            throw std::runtime_error("no answer");
                                        }),
                    store::OwnershipLost);
    store::Options broken = book.options;
    broken.further_migrations.emplace_back("create table request (id integer primary key)");
    bool was_asked = false;
    CHECK_THROWS_AS(store::migrate_book(broken,
                                        [&](int) {
                                            was_asked = true;
                                            return book.journal.end();
                                        }),
                    store::StorageError);
    CHECK_FALSE(was_asked);
    CHECK(schema_of(book.options) == 7);
    CHECK(store::digest_of_rows(book.options) == before);
    CHECK(store::stored_position(book.options)->position == book.journal.end());
}

TEST_CASE("a file of an older schema is migrated before it joins a book") {
    const support::TempDirectory temporary;
    store::Options options;
    options.directory = temporary.path();
    {
        std::ostringstream schema;
        schema << std::ifstream(SCHEMAS "/schema-6.sql").rdbuf();
        SQLite::Database old(store::database_path(options).string(),
                             SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        old.exec(schema.str());
        old.exec("pragma application_id = 0x50484f55; pragma user_version = 6");
    }
    store::join_book(options, beginning());
    CHECK(schema_of(options) == 7);
    store::Follower follower(options);
    CHECK(follower.position() == beginning());
    CHECK(follower.schema() == store::newest_schema());
}
