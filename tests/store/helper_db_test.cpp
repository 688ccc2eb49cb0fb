// What a reference helper left behind: copied whole, read in every layout it ever had, and never
// written to.

#include "store/helper_db.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/errors.hpp"
#include "store/helper_copy.hpp"
#include "support/temp_directory.hpp"

namespace {

namespace fs = std::filesystem;

constexpr domain::Timestamp today = domain::from_unix_ms(1'780'272'000'000);  // 2026-06-01

const std::string oldest_columns =
    "round_id text not null, share_index integer not null, shares_hash text not null, "
    "proposal_id integer not null, vote_decision integer not null, enc_share_c1 text not null, "
    "enc_share_c2 text not null, tree_position integer not null, ";
const std::string progress =
    "state integer not null default 0, attempts integer not null default 0, ";
const std::string commitments =
    "share_comms text not null default '[]', primary_blind text not null default '', ";
const std::string old_key = "primary key (round_id, share_index, proposal_id)";
const std::string new_key = "primary key (round_id, share_index, proposal_id, tree_position)";

// The layouts by their age.
const std::string oldest = "create table shares (" + oldest_columns +
                           "all_enc_shares text not null default '[]', " + progress + old_key + ")";
const std::string with_rounds = "create table shares (" + oldest_columns +
                                "all_enc_shares text not null default '[]', share_blinds text not "
                                "null default '[]', " +
                                progress + "vote_end_time integer not null default 0, " + new_key +
                                "); create table rounds (round_id text primary key, vote_end_time "
                                "integer not null)";
const std::string with_commitments =
    "create table shares (" + oldest_columns + commitments + progress +
    "vote_end_time integer not null default 0, " + new_key +
    "); create table rounds (round_id text primary key, vote_end_time integer not null)";
const std::string specified =
    "create table shares (" + oldest_columns + commitments + progress +
    "vote_end_time integer not null default 0, submit_at integer not null default 0, " + new_key +
    "); create table rounds (round_id text primary key, vote_end_time integer not null)";
const std::string newest =
    "create table shares (" + oldest_columns + commitments + progress +
    "vote_end_time integer not null default 0, submit_at integer not null default 0, "
    "original_submit_at integer not null default 0, received_at integer not null default 0, "
    "retry_state text not null default '', pending_reveal_json text not null default '', " +
    new_key +
    "); create table rounds (round_id text primary key, vote_end_time integer not null, "
    "created_at_time integer not null default 0)";

const std::string insert_share =
    "insert into shares (round_id, share_index, shares_hash, proposal_id, vote_decision, "
    "enc_share_c1, enc_share_c2, tree_position, state, attempts) values ('aa', 3, 'hash', 2, 1, "
    "'c1', 'c2', 77, 1, 4)";

struct Directory {
    support::TempDirectory temporary;
    fs::path original = temporary.path() / "helper" / "helper.db";
    fs::path data = temporary.path() / "data";

    Directory() {
        fs::create_directory(original.parent_path());
        fs::create_directory(data);
    }

    void make(const std::string& sql) const {
        SQLite::Database database(original.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec(sql);
    }

    // As a process leaves it that was killed: what it committed stands in the log alone.
    void make_with_log(const std::string& sql) const {
        const fs::path live = temporary.path() / "live.db";
        SQLite::Database database(live.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 0");
        database.exec(sql);
        for (const char* suffix : {"", "-wal", "-shm"}) {
            fs::copy_file(live.string() + suffix, original.string() + suffix);
        }
    }

    [[nodiscard]] store::HelperCopy copy(domain::Timestamp now = today) const {
        return store::copy_helper_db(original, data, now);
    }

    [[nodiscard]] std::vector<store::HelperRow> rows() const {
        store::HelperDb database(copy().path);
        std::vector<store::HelperRow> rows;
        while (auto row = database.next()) rows.push_back(*std::move(row));
        return rows;
    }

    // Name and content of every file there.
    [[nodiscard]] std::map<std::string, std::string> helper_files() const {
        std::map<std::string, std::string> files;
        for (const auto& entry : fs::directory_iterator(original.parent_path())) {
            std::ifstream file(entry.path(), std::ios::binary);
            files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
        }
        return files;
    }

    [[nodiscard]] std::vector<std::string> data_files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(data)) {
            names.push_back(entry.path().filename().string());
        }
        return names;
    }
};

std::string refusal(const Directory& directory) {
    try {
        static_cast<void>(directory.rows());
    } catch (const store::OpenError& error) {
        return error.what();
    }
    return "taken";
}

}  // namespace

TEST_CASE("every layout is read, with what it has") {
    struct Layout {
        const char* label;
        const std::string& sql;
        const char* more;
        std::int64_t vote_end_time;
        std::int64_t submit_at;
        const char* share_comms;
    };
    for (const Layout& layout : {
             Layout{"oldest", oldest, "", 0, 0, ""},
             Layout{"with rounds", with_rounds, "update shares set vote_end_time = 900", 900, 0,
                    ""},
             Layout{"with commitments", with_commitments, "update shares set share_comms = '[1]'",
                    0, 0, "[1]"},
             Layout{"specified", specified,
                    "update shares set submit_at = 850, vote_end_time = 900, share_comms = '[1]'",
                    900, 850, "[1]"},
             Layout{
                 "newest", newest,
                 "update shares set submit_at = 850, original_submit_at = 840, received_at = 830, "
                 "vote_end_time = 900, retry_state = '{}', share_comms = '[1]'",
                 900, 850, "[1]"},
             Layout{"unknown columns", specified,
                    "alter table shares add column delay_seconds integer not null default 7", 0, 0,
                    "[]"},
         }) {
        CAPTURE(layout.label);
        const Directory directory;
        directory.make(layout.sql + ";" + insert_share + ";" + layout.more);
        const auto rows = directory.rows();
        REQUIRE(rows.size() == 1);
        const store::HelperRow& row = rows[0];
        CHECK(row.round_id == "aa");
        CHECK(row.share_index == 3);
        CHECK(row.proposal_id == 2);
        CHECK(row.tree_position == 77);
        CHECK(row.vote_decision == 1);
        CHECK(row.state == 1);
        CHECK(row.attempts == 4);
        CHECK(row.shares_hash == "hash");
        CHECK(row.enc_share_c1 == "c1");
        CHECK(row.enc_share_c2 == "c2");
        CHECK(row.share_comms == layout.share_comms);
        CHECK(row.primary_blind.empty());
        CHECK(row.vote_end_time == layout.vote_end_time);
        CHECK(row.submit_at == layout.submit_at);
    }
}

TEST_CASE("a row that does not know the end of its round gets it from the round, or its siblings") {
    struct Row {
        const char* label;
        const char* sql;
        std::int64_t vote_end_time;
    };
    for (const Row& row : {
             Row{"its own goes first",
                 "update shares set vote_end_time = 900; insert into rounds values ('aa', 800)",
                 900},
             Row{"the round's", "insert into rounds values ('AA', 800)", 800},
             Row{"a sibling's",
                 "insert into shares select round_id, 9, shares_hash, proposal_id, vote_decision, "
                 "enc_share_c1, enc_share_c2, tree_position, share_comms, primary_blind, state, "
                 "attempts, 700, submit_at from shares",
                 700},
             Row{"a round without one", "insert into rounds values ('aa', 0)", 0},
             Row{"another round's", "insert into rounds values ('bb', 800)", 0},
         }) {
        CAPTURE(row.label);
        const Directory directory;
        directory.make(specified + ";" + insert_share + ";" + row.sql);
        CHECK(directory.rows().at(0).vote_end_time == row.vote_end_time);
    }
}

TEST_CASE("what is no number has no value, not zero") {
    const Directory directory;
    directory.make(specified + ";" + insert_share +
                   "; update shares set share_index = 'x', submit_at = 1.5, attempts = x'00'");
    const store::HelperRow row = directory.rows().at(0);
    CHECK_FALSE(row.share_index);
    CHECK_FALSE(row.submit_at);
    CHECK_FALSE(row.attempts);
    CHECK(row.proposal_id == 2);
}

TEST_CASE("what is no database of a helper is refused with the reason") {
    const Directory directory;
    CHECK(refusal(directory).find("is no file") != std::string::npos);

    std::ofstream(directory.original) << std::string(9'000, 'x');
    CHECK(refusal(directory).find("is no SQLite database") != std::string::npos);

    fs::remove(directory.original);
    directory.make("create table other (id integer)");
    CHECK(refusal(directory).find("has no table shares") != std::string::npos);

    fs::remove(directory.original);
    directory.make("create view shares as select 1 as round_id");
    CHECK(refusal(directory).find("has no table shares") != std::string::npos);

    fs::remove(directory.original);
    directory.make(
        "create table shares (round_id text, share_index integer, shares_hash text, "
        "vote_decision integer, enc_share_c1 text, enc_share_c2 text, "
        "tree_position integer, attempts integer)");
    CHECK(refusal(directory).find("its table shares has no proposal_id, state") !=
          std::string::npos);
}

TEST_CASE("a damaged file is refused before anything is taken") {
    const Directory directory;
    directory.make(specified);
    {
        SQLite::Database database(directory.original.string(), SQLite::OPEN_READWRITE);
        for (int i = 0; i < 100; ++i) {
            database.exec(
                "insert into shares (round_id, share_index, shares_hash, proposal_id, "
                "vote_decision, enc_share_c1, enc_share_c2, tree_position) values ('r" +
                std::to_string(i) + "', 1, hex(randomblob(500)), 1, 1, '', '', 1)");
        }
    }
    std::fstream file(directory.original, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5 * 4096);
    file << std::string(4096, 'x');
    file.close();
    CHECK(refusal(directory).find("damaged") != std::string::npos);
    CHECK(directory.data_files().empty());
}

TEST_CASE("a log that a crash left is read, and the original stays as it is to the byte") {
    const Directory directory;
    directory.make_with_log(specified + ";" + insert_share);
    REQUIRE(fs::file_size(directory.original.string() + "-wal") > 0);
    const auto before = directory.helper_files();
    REQUIRE(before.size() == 3);
    const auto rows = directory.rows();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].tree_position == 77);
    CHECK(directory.helper_files() == before);
}

TEST_CASE("through a symbolic link the log beside the real file is found") {
    Directory directory;
    directory.make_with_log(specified + ";" + insert_share);
    const fs::path link = directory.temporary.path() / "link.db";
    fs::create_symlink(directory.original, link);
    directory.original = link;
    CHECK(directory.rows().size() == 1);
}

TEST_CASE("the copy is one private file of its own") {
    const Directory directory;
    directory.make_with_log(specified + ";" + insert_share);
    const store::HelperCopy copy = directory.copy();
    CHECK(copy.made);
    CHECK(directory.data_files() == std::vector<std::string>{"helper-imported-20260601.db"});
    struct stat facts {};
    REQUIRE(::stat(copy.path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    store::HelperDb database(copy.path);
    CHECK(database.next());
    CHECK_FALSE(database.next());
    CHECK_FALSE(database.next());
    CHECK(directory.data_files().size() == 1);
}

TEST_CASE("the same content is not copied twice, other content gets another name") {
    const Directory directory;
    directory.make(specified + ";" + insert_share);
    const store::HelperCopy first = directory.copy();
    const store::HelperCopy again = directory.copy(today + std::chrono::days{3});
    CHECK(first.made);
    CHECK_FALSE(again.made);
    CHECK(again.path == first.path);
    directory.make("update shares set attempts = 5");
    const store::HelperCopy other = directory.copy();
    CHECK(other.made);
    CHECK(other.path.filename() == "helper-imported-20260601-2.db");
    CHECK(directory.data_files().size() == 2);
}

TEST_CASE("what an import left that was cut off is in nobody's way") {
    const Directory directory;
    directory.make(specified + ";" + insert_share);
    for (const char* name : {"helper-import.unfinished", "helper-import.unfinished-wal"}) {
        std::ofstream(directory.data / name) << "half";
    }
    CHECK(directory.rows().size() == 1);
    CHECK(directory.data_files() == std::vector<std::string>{"helper-imported-20260601.db"});
}

TEST_CASE("a helper that runs is refused: by its lock file, or by its open database") {
    SUBCASE("lock file") {
        const Directory directory;
        directory.make(specified);
        const std::string lock = directory.original.string() + ".lock";
        const int descriptor = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        REQUIRE(::flock(descriptor, LOCK_EX | LOCK_NB) == 0);
        CHECK(refusal(directory).find("is in use by another process") != std::string::npos);
        ::close(descriptor);
        CHECK(refusal(directory) == "taken");
    }
    SUBCASE("open in WAL mode") {
        const Directory directory;
        directory.make("pragma journal_mode = wal;" + specified);
        SQLite::Database open(directory.original.string(), SQLite::OPEN_READWRITE);
        open.exec("select * from shares");
        CHECK(refusal(directory).find("is in use by another process") != std::string::npos);
        CHECK(directory.data_files().empty());
    }
    SUBCASE("open with a transaction that runs") {
        const Directory directory;
        directory.make(specified);
        SQLite::Database open(directory.original.string(), SQLite::OPEN_READWRITE);
        open.exec("begin immediate");
        CHECK(refusal(directory).find("is in use by another process") != std::string::npos);
    }
}
