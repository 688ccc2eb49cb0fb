#include "store/backup.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "domain/identity.hpp"
#include "store/filled_store.hpp"
#include "store/owner_lock.hpp"
#include "store/restore.hpp"
#include "support/contains.hpp"
#include "support/requests.hpp"

using domain::Kind;
using domain::Status;
using support::contains;

namespace {

constexpr domain::Bytes32 key_of_backups{1, 2, 3};

void watch_nothing(const ports::Done&) {}

domain::Bytes counted_bytes(std::size_t count) {
    static std::uint8_t next = 0;
    domain::Bytes bytes(count);
    for (std::uint8_t& byte : bytes) byte = ++next;
    return bytes;
}

struct Copies {
    explicit Copies(const Harness& harness) : of(harness) {}

    store::BackupReport back_up(std::optional<domain::Bytes32> key = {},
                                const ports::Progress& progress = watch_nothing) {
        return store::back_up(store::database_path(of.options),
                              {file(), rows::at(50), wal_bytes_max, key, counted_bytes}, progress,
                              [this](const store::Fault& fault) { faults.push_back(fault); });
    }

    store::RestoreReport restore(std::optional<domain::Bytes32> key = {},
                                 domain::Timestamp now = rows::at(100), bool without_shares = false,
                                 const ports::Progress& progress = watch_nothing) {
        store::RestoreOptions options{from, of.options, now, key, without_shares};
        options.into.directory = directory();
        return store::restore(options, progress,
                              [this](const store::Fault& fault) { faults.push_back(fault); });
    }

    [[nodiscard]] std::filesystem::path file() const { return home.path() / "backup"; }
    [[nodiscard]] std::filesystem::path directory() const { return home.path() / "restored"; }
    [[nodiscard]] store::Options restored() const {
        store::Options options = of.options;
        options.directory = directory();
        return options;
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(home.path())) {
            names.push_back(entry.path().filename().string());
        }
        std::ranges::sort(names);
        return names;
    }

    const Harness& of;
    support::TempDirectory home;
    std::filesystem::path from = file();
    std::optional<std::uint64_t> wal_bytes_max{};
    std::vector<store::Fault> faults;
};

std::string text_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

template <typename Work>
std::string refusal(Work work) {
    try {
        static_cast<void>(work());
        return "";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

// The rows of one table.
std::string lines_of(const std::string& contents, const std::string& table) {
    std::string found;
    std::size_t begin = 0;
    while (begin < contents.size()) {
        const std::size_t end = contents.find('\n', begin) + 1;
        if (contents.compare(begin, table.size() + 1, table + " ") == 0) {
            found += contents.substr(begin, end - begin);
        }
        begin = end;
    }
    return found;
}

// What must never be in a file: of every share that is not over the body and the reveal.
std::vector<std::string> secrets_of(FilledStore& filled) {
    std::vector<std::string> secrets;
    for (const Status status : {Status::queued, Status::processing, Status::tx_in_flight}) {
        const std::int64_t number = filled.number_of(Kind::share, status);
        const domain::Bytes body = filled.store->payload(number).value();
        secrets.emplace_back(body.begin(), body.end());
    }
    const auto reveals =
        filled.store->attempts(filled.number_of(Kind::share, Status::tx_in_flight));
    secrets.emplace_back(reveals.at(0).sealed.begin(), reveals.at(0).sealed.end());
    return secrets;
}

}  // namespace

TEST_CASE("a backup holds every row of one moment, beside a writer that goes on") {
    FilledStore filled;
    Copies copies(filled);
    bool written = false;
    const auto write_once = [&](const ports::Done& done) {
        if (done.what != "rows" || std::exchange(written, true)) return;
        filled.bring(Kind::public_decrypt, 900, Status::queued);
    };
    const store::BackupReport report = copies.back_up(key_of_backups, write_once);
    CHECK(written);
    CHECK(report.requests == static_cast<std::uint64_t>(filled.requests()));
    CHECK(report.shares_sealed == 4);
    CHECK(report.shares_left_out == 0);
    CHECK(report.faults == 0);
    CHECK(report.bytes == std::filesystem::file_size(copies.file()));
    CHECK(copies.faults.empty());
    CHECK(copies.names() == std::vector<std::string>{"backup"});
    struct stat facts {};
    REQUIRE(::stat(copies.file().c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777U) == 0600);
}

TEST_CASE("secrets of shares are sealed, or not in the backup at all") {
    for (const bool with_key : {true, false}) {
        CAPTURE(with_key);
        FilledStore filled;
        Copies copies(filled);
        const auto secrets = secrets_of(filled);
        const auto report = copies.back_up(with_key ? std::optional{key_of_backups} : std::nullopt);
        const std::string bytes = text_of(copies.file());
        for (const std::string& secret : secrets) CHECK_FALSE(contains(bytes, secret));
        CHECK(report.shares_left_out == (with_key ? 0 : 4));
        CHECK(report.requests ==
              static_cast<std::uint64_t>(filled.requests() - (with_key ? 0 : 4)));

        const auto restored =
            copies.restore(with_key ? std::optional{key_of_backups} : std::nullopt);
        CHECK(copies.faults.empty());
        CHECK(restored.shares == (with_key ? 4 : 0));
        CHECK(restored.shares_left_out == (with_key ? 0 : 4));
        store::Store store(copies.restored());
        const std::int64_t waiting = filled.number_of(Kind::share, Status::queued);
        CHECK(store.payload(waiting) == (with_key ? filled.store->payload(waiting) : std::nullopt));
        // Left out, it may come again, and the alert of its round tells of it.
        const auto round = store.find_round(filled.round).value();
        CHECK(round.total == 7);
        CHECK(round.failed == (with_key ? 1 : 5));
        const auto identity =
            domain::identify(support::request_of(Kind::share, static_cast<std::uint64_t>(waiting)));
        CHECK(store.find_duplicate(identity).has_value() == with_key);
    }
}

TEST_CASE("what is restored is what was there, but for the mark") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up(key_of_backups));
    const store::RestoreReport report = copies.restore(key_of_backups);
    CHECK(report.made == rows::at(50));
    CHECK(report.requests == static_cast<std::uint64_t>(filled.requests()));
    const std::string before = filled.contents();
    const std::string after = contents(copies.restored());
    for (const std::string table :
         {"payload", "attempt", "result", "answer", "idempotency", "round", "setting"}) {
        CAPTURE(table);
        CHECK(lines_of(after, table) == lines_of(before, table));
        CHECK((table == "setting" || !lines_of(before, table).empty()));
    }
    CHECK_FALSE(contains(after, "backup "));
    CHECK(integrity(copies.restored()) == "ok");
    const store::Store opens(copies.restored());
}

TEST_CASE("requests that nothing was signed for are held, and nothing else") {
    FilledStore filled;
    filled.commit([&] { filled.store->set_mark("nonce 0xabc", 17); });
    Copies copies(filled);
    static_cast<void>(copies.back_up(key_of_backups));
    const store::RestoreReport report = copies.restore(key_of_backups);
    store::Store store(copies.restored());
    std::vector<std::int64_t> held;
    for (const store::Hold& hold : store.holds()) {
        CHECK_FALSE(hold.released);
        CHECK(hold.since == rows::at(100));
        held.push_back(hold.sequence);
    }
    std::vector<std::int64_t> expected;
    std::size_t sealed = 0;
    for (const Kind kind : support::relayer_kinds) {
        if (kind != Kind::input_proof) expected.push_back(filled.number_of(kind, Status::queued));
        expected.push_back(filled.number_of(kind, Status::processing));
        ++sealed;
    }
    std::ranges::sort(expected);
    CHECK(held == expected);
    CHECK(report.held == expected.size());
    CHECK(report.sealed == sealed);
    CHECK(store.mark(store::restored_mark) == static_cast<std::uint64_t>(filled.requests()));
    CHECK_FALSE(store.mark("nonce 0xabc"));
    CHECK(store.cursors() == filled.store->cursors());
    CHECK(store.standing_in(store::Lane::gate).empty());
    // Nothing is lost of what they were.
    for (const std::int64_t number : expected) {
        store::Row before = filled.store->load(number).value();
        store::Row after = store.load(number).value();
        before.schedule.lane = after.schedule.lane = store::Lane::timer;
        before.schedule.wake = after.schedule.wake;
        CHECK(before == after);
    }
}

TEST_CASE("between a backup and its restore no deadline comes nearer") {
    for (const bool is_backup : {true, false}) {
        CAPTURE(is_backup);
        FilledStore filled;
        const std::int64_t numbers[] = {
            filled.number_of(Kind::user_decrypt, Status::processing),
            filled.number_of(Kind::public_decrypt, Status::receipt_received),
            filled.number_of(Kind::share, Status::processing)};
        filled.commit([&] {
            for (const std::int64_t number : numbers) {
                const store::Row row = filled.store->load(number).value();
                store::Schedule schedule = row.schedule;
                schedule.wake = *(schedule.deadline = rows::at(1'070));
                schedule.unreached_since = schedule.refused_since = rows::at(40);
                CHECK(filled.store->reschedule(row, row.status, schedule));
            }
        });
        Copies copies(filled);
        if (is_backup) {
            static_cast<void>(copies.back_up(key_of_backups));
        } else {
            for (const char* suffix : {"", "-wal"}) {
                std::filesystem::copy_file(store::database_path(filled.options).string() + suffix,
                                           copies.file().string() + suffix);
            }
        }
        static_cast<void>(copies.restore(key_of_backups));
        // A copy does not say when it was made: when something happened in it last.
        const auto newest =
            domain::from_unix_ms(SQLite::Database(store::database_path(filled.options).string())
                                     .execAndGet("select max(status_ms) from request")
                                     .getInt64());
        const auto by = rows::at(100) - (is_backup ? rows::at(50) : newest);
        CHECK(by > domain::Milliseconds{0});
        store::Store store(copies.restored());
        for (const std::int64_t number : numbers) {
            const store::Row before = filled.store->load(number).value();
            const store::Row after = store.load(number).value();
            const bool is_share = before.kind == Kind::share;
            const auto later = is_share ? domain::Milliseconds{0} : by;
            CHECK(after.schedule.deadline == *before.schedule.deadline + later);
            CHECK(after.schedule.unreached_since == *before.schedule.unreached_since + later);
            CHECK(after.schedule.refused_since == *before.schedule.refused_since + later);
            if (before.status == Status::receipt_received) {
                CHECK(after.schedule.wake == before.schedule.wake + later);
            }
        }
    }
}

TEST_CASE("shares of a round that is over end before anything secret of them is on the disk") {
    FilledStore filled;
    Copies copies(filled);
    const auto secrets = secrets_of(filled);
    static_cast<void>(copies.back_up(key_of_backups));
    const domain::Timestamp end = filled.store->find_round(filled.round).value().vote_end;
    const store::RestoreReport report =
        copies.restore(key_of_backups, end + std::chrono::seconds{1});
    CHECK(report.shares == 0);
    CHECK(report.shares_over == 4);
    CHECK(copies.faults.empty());
    const std::string bytes = text_of(store::database_path(copies.restored()));
    for (const std::string& secret : secrets) CHECK_FALSE(contains(bytes, secret));
    store::Store store(copies.restored());
    const store::Row row = store.load(filled.number_of(Kind::share, Status::processing)).value();
    CHECK(row.status == Status::timed_out);
    CHECK(row.schedule.lane == store::Lane::ended_share);
    const auto round = store.find_round(filled.round).value();
    CHECK(round.timed_out == 5);
    CHECK(round.submitted + round.failed + round.timed_out == round.total);
    // The engine closes the round, and tells.
    CHECK(store.rounds_over(end, 10).size() == 1);
}

TEST_CASE("a second earlier they wait on") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up(key_of_backups));
    const domain::Timestamp end = filled.store->find_round(filled.round).value().vote_end;
    CHECK(copies.restore(key_of_backups, end + domain::Milliseconds{999}).shares == 4);
}

TEST_CASE("without their key shares are refused, or left behind when that is asked for") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up(key_of_backups));
    CHECK(contains(refusal([&] { return copies.restore(); }), "holds 4 vote shares; name their"));
    CHECK(contains(refusal([&] { return copies.restore(domain::Bytes32{9}); }),
                   "was sealed with another key"));
    CHECK_FALSE(std::filesystem::exists(copies.directory() / "posthouse.db"));
}

TEST_CASE("shares may be left behind without the key") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up(key_of_backups));
    const auto report = copies.restore({}, rows::at(100), true);
    CHECK(report.shares_left_out == 4);
    CHECK(copies.faults.empty());
    store::Store store(copies.restored());
    CHECK(store.find_round(filled.round).value().failed == 5);
}

TEST_CASE("a copy of a database is restored like a backup, with what stands in its log") {
    FilledStore filled;
    Copies copies(filled);
    for (const char* suffix : {"", "-wal"}) {
        std::filesystem::copy_file(store::database_path(filled.options).string() + suffix,
                                   copies.file().string() + suffix);
    }
    const auto report = copies.restore();
    CHECK(report.requests == static_cast<std::uint64_t>(filled.requests()));
    CHECK(report.held > 0);
    CHECK(report.shares == 4);
}

TEST_CASE("a backup of an older schema is brought to the newest") {
    const support::TempDirectory home;
    {
        std::ifstream stream(SCHEMAS "/schema-3.sql");
        SQLite::Database old(home.file("old"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        old.exec(std::string{std::istreambuf_iterator<char>(stream), {}});
        old.exec(
            "pragma application_id = 0x50484f55; pragma user_version = 3;"
            "insert into request (id, random, kind, status, lane, wake_ms, status_ms, "
            "identity_key, dedup) values (7, 9, 'public_decrypt', 'queued', 1, 5, 5, "
            "zeroblob(32), 0)");
    }
    Harness harness;
    Copies copies(harness);
    copies.from = home.path() / "old";
    CHECK(copies.restore().held == 1);
    CHECK(copies.faults.size() == 1);  // its content is missing: a row's fault stops nobody
    const store::Store opens(copies.restored());
}

TEST_CASE("a directory that is in use or holds a database is left alone") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up());
    static_cast<void>(copies.restore());
    CHECK(contains(refusal([&] { return copies.restore(); }), "is there already"));
    std::filesystem::rename(copies.directory() / "posthouse.db", copies.home.path() / "moved");
    std::ofstream(copies.directory() / "posthouse.db-wal") << "x";
    CHECK(contains(refusal([&] { return copies.restore(); }), "posthouse.db-wal is there already"));
    std::filesystem::remove(copies.directory() / "posthouse.db-wal");
    {
        const store::OwnerLock lock(copies.directory());
        CHECK(contains(refusal([&] { return copies.restore(); }), "is in use by another process"));
    }
    CHECK(copies.restore().requests > 0);
}

TEST_CASE("the service opens no backup, it has to be restored") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up());
    std::filesystem::create_directory(copies.directory());
    std::filesystem::rename(copies.file(), copies.directory() / "posthouse.db");
    CHECK(contains(refusal([&] {
                       const store::Store store(copies.restored());
                       return 0;
                   }),
                   "is a backup; take it back with posthouse restore"));
}

TEST_CASE("a backup that can not be made leaves nothing behind and says why") {
    struct Enough : std::runtime_error {
        Enough() : std::runtime_error("enough") {}
    };
    FilledStore filled;
    Copies copies(filled);
    for (const std::string part : {"rows", "pages", "requests"}) {
        CAPTURE(part);
        const auto stop = [&part](const ports::Done& done) {
            if (done.what == part) throw Enough();
        };
        CHECK_THROWS_AS(static_cast<void>(copies.back_up({}, stop)), Enough);
        CHECK(copies.names().empty());
    }
    copies.wal_bytes_max = 10;
    CHECK(contains(refusal([&] { return copies.back_up(); }), "gave up: the write-ahead log"));
    CHECK(copies.names().empty());
    copies.wal_bytes_max = 1ULL << 30U;
    CHECK(copies.back_up().requests > 0);
    CHECK(contains(refusal([&] { return copies.back_up(); }), "is there already"));
    CHECK(copies.names() == std::vector<std::string>{"backup"});
    CHECK(
        contains(refusal([&] {
                     return store::back_up(
                         store::database_path(filled.options),
                         {copies.home.path() / "no" / "where", rows::start, {}, {}, counted_bytes},
                         watch_nothing, [](const store::Fault&) {});
                 }),
                 "let this user write to its directory"));
}

TEST_CASE("in the data directory a backup has no name that a start would take for its own") {
    namespace fs = std::filesystem;
    FilledStore filled;
    Copies copies(filled);
    const fs::path& data = filled.options.directory;
    fs::create_directory_symlink(data, copies.home.path() / "link");
    const auto back_up_to = [&](const fs::path& file) {
        return store::back_up(store::database_path(filled.options),
                              {file, rows::start, {}, {}, counted_bytes}, watch_nothing,
                              [](const store::Fault&) {});
    };
    for (const std::string name : {"posthouse.crashed", "posthouse.db-journal", "posthouse.sock",
                                   "loopback.db", "loopback.db-journal"}) {
        for (const fs::path& directory :
             {data, data / ".." / data.filename(), copies.home.path() / "link"}) {
            CAPTURE(directory / name);
            CHECK(contains(refusal([&] { return back_up_to(directory / name); }),
                           "are those of the service in its data directory; name another file"));
            CHECK_FALSE(fs::exists(directory / name));
        }
    }
    CHECK(back_up_to(data / "posthouse-2026-06-01").requests > 0);
    CHECK(back_up_to(copies.home.path() / "posthouse.crashed").requests > 0);
}

TEST_CASE("a backup that the disk spoils is found when it is read back, and nothing of it stays") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up());
    const std::uintmax_t size = std::filesystem::file_size(copies.file());
    std::filesystem::remove(copies.file());
    std::size_t spoilt = 0;
    std::size_t found = 0;
    for (std::uintmax_t at = 4'096; at < size; at += 4'096, ++spoilt) {
        CAPTURE(at);
        // The file is written and flushed when its pages are looked at.
        bool is_spoilt = false;
        const auto spoil = [&](const ports::Done& done) {
            if (done.what != "pages" || std::exchange(is_spoilt, true)) return;
            std::fstream file(copies.file().string() + ".unfinished",
                              std::ios::binary | std::ios::in | std::ios::out);
            file.seekp(static_cast<std::streamoff>(at));
            file << std::string(200, '\x55');
        };
        const std::string text = refusal([&] { return copies.back_up({}, spoil); });
        if (text.empty()) {
            std::filesystem::remove(copies.file());
            continue;
        }
        ++found;
        CHECK(contains(text, "what was read back of the backup is damaged; see the disk of"));
        CHECK(copies.names().empty());
    }
    // Pages of the schema were read before they were spoilt.
    CHECK(spoilt >= 20);
    CHECK(spoilt - found <= 4);
}

TEST_CASE("a restore that breaks off leaves a directory that can be restored to") {
    struct Enough : std::runtime_error {
        Enough() : std::runtime_error("enough") {}
    };
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up());
    for (const std::string part : {"pages", "rows", "requests"}) {
        CAPTURE(part);
        const auto stop = [&part](const ports::Done& done) {
            if (done.what == part) throw Enough();
        };
        CHECK_THROWS_AS(static_cast<void>(copies.restore({}, rows::at(100), false, stop)), Enough);
        CHECK_FALSE(std::filesystem::exists(copies.directory() / "posthouse.db"));
    }
    CHECK(copies.restore().requests > 0);
}

TEST_CASE("a damaged backup is not restored, wherever the damage is; faults of rows are told") {
    FilledStore filled;
    Copies copies(filled);
    static_cast<void>(copies.back_up());
    const std::string healthy = text_of(copies.file());
    for (std::size_t at = 4'096; at < healthy.size(); at += 4'096) {
        CAPTURE(at);
        std::string damaged = healthy;
        damaged.replace(at, 200, std::string(200, '\x55'));
        std::ofstream(copies.file(), std::ios::binary) << damaged;
        CHECK_FALSE(refusal([&] { return copies.restore(); }).empty());
        CHECK_FALSE(std::filesystem::exists(copies.directory() / "posthouse.db"));
    }
    std::ofstream(copies.file(), std::ios::binary) << healthy;
    SQLite::Database(copies.file().string(), SQLite::OPEN_READWRITE)
        .exec("delete from payload where id = 2");
    copies.faults.clear();
    CHECK(copies.restore().faults == 1);
    CHECK(copies.faults.size() == 1);
}
