#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "store/database.hpp"
#include "store/harness.hpp"
#include "store/open_errors.hpp"
#include "store/owner_lock.hpp"
#include "support/contains.hpp"

namespace {

// Nothing is taken away from the modes a program asks for.
class NoUmask {
public:
    NoUmask() : before_(::umask(0)) {}
    ~NoUmask() { ::umask(before_); }
    NoUmask(const NoUmask&) = delete;
    NoUmask& operator=(const NoUmask&) = delete;

private:
    mode_t before_;
};

unsigned mode_of(const std::filesystem::path& path) {
    struct stat facts {};
    REQUIRE(::stat(path.c_str(), &facts) == 0);
    return facts.st_mode & 0777U;
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// What the attempt to open says; empty when it works.
template <typename Error>
std::string refusal(const store::Options& options) {
    try {
        const store::Store store(options);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

long spoofed_filesystem = 0;

}  // namespace

// In place of the system's own: a mount can not be made in a test.
extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
    const int descriptor = ::open(path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return -1;
    const int result = ::fstatfs(descriptor, facts);
    ::close(descriptor);
    if (spoofed_filesystem != 0) facts->f_type = spoofed_filesystem;
    return result;
}

TEST_CASE("a bound value never has a statement prepared anew") {
    Harness harness;
    harness.close();
    for (const bool writes : {true, false}) {
        const auto database =
            writes ? store::open_for_writing(harness.options, store::Membership::none)
                   : store::open_for_reading(harness.options);
        SQLite::Statement statement(*database, "select min(wake_ms) from request where lane = ?");
        for (int lane = 0; lane < 4; ++lane) {
            statement.reset();
            statement.bind(1, lane);
            REQUIRE(statement.executeStep());
        }
        sqlite3_stmt* const raw = sqlite3_next_stmt(database->getHandle(), nullptr);
        CHECK(sqlite3_stmt_status(raw, SQLITE_STMTSTATUS_REPREPARE, 0) == 0);
    }
}

TEST_CASE("what the store makes is for its user alone, whatever the umask") {
    const NoUmask no_umask;
    for (const std::string spelling : {"data", "data/", "deep/er/data", "./data/../data"}) {
        CAPTURE(spelling);
        const support::TempDirectory temporary;
        store::Options options;
        options.directory = temporary.path() / spelling;
        store::Store store(options);
        store.probe();
        CHECK(mode_of(options.directory) == 0700);
        for (const std::string file : {"posthouse.db", "posthouse.db-wal", "posthouse.db-shm",
                                       "posthouse.lock", "posthouse.reserve"}) {
            CAPTURE(file);
            CHECK(mode_of(options.directory / file) == 0600);
        }
    }
}

TEST_CASE("what root makes in the directory of somebody else is theirs") {
    if (::geteuid() != 0) return;
    const support::TempDirectory temporary;
    store::Options options;
    options.directory = temporary.path();
    REQUIRE(::chown(options.directory.c_str(), 4'711, 4'712) == 0);
    const auto owner_of = [&](const std::string& file) {
        struct stat facts {};
        REQUIRE(::lstat((options.directory / file).c_str(), &facts) == 0);
        return std::pair{facts.st_uid, facts.st_gid};
    };
    std::ofstream(options.directory / "somewhere else") << "";
    std::filesystem::create_symlink("somewhere else", options.directory / "posthouse.reserve");
    {
        store::Store store(options);
        store.probe();
        for (const std::string file :
             {"posthouse.db", "posthouse.db-wal", "posthouse.db-shm", "posthouse.lock"}) {
            CAPTURE(file);
            CHECK(owner_of(file) == std::pair{4'711U, 4'712U});
        }
        CHECK(owner_of("somewhere else") == std::pair{0U, 0U});
    }
    std::filesystem::remove(options.directory / "posthouse.reserve");
    const store::Store store(options);
    CHECK(owner_of("posthouse.reserve") == std::pair{4'711U, 4'712U});
}

TEST_CASE("a directory that was there keeps its mode") {
    const support::TempDirectory temporary;
    ::chmod(temporary.path().c_str(), 0750);
    store::Options options;
    options.directory = temporary.path();
    const store::Store store(options);
    CHECK(mode_of(options.directory) == 0750);
    CHECK(mode_of(store::database_path(options)) == 0600);
}

TEST_CASE("the file is in WAL mode, ours by name and of the newest schema") {
    Harness harness;
    SQLite::Database database(store::database_path(harness.options).string());
    CHECK(database.execAndGet("pragma journal_mode").getString() == "wal");
    CHECK(database.execAndGet("pragma application_id").getInt() == 0x50484f55);
    CHECK(database.execAndGet("pragma user_version").getInt() == 7);
    CHECK(integrity(harness.options) == "ok");
    // Each costs every request that comes in.
    CHECK(database
              .execAndGet("select group_concat(name) from (select name from sqlite_schema where "
                          "type = 'index' and tbl_name = 'request' order by name)")
              .getString() == "request_dedup,request_due,request_reference,request_waiting");
}

TEST_CASE("a file that can not be trusted is refused, named and left as it is") {
    const auto sql = [](const std::filesystem::path& path, const char* statements) {
        SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec(statements);
    };
    const auto overwrite = [](const std::filesystem::path& path, std::streamoff from,
                              std::size_t length) {
        std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
        stream.seekp(from);
        stream << std::string(length, '\x5a');
    };
    using Path = std::filesystem::path;
    struct Row {
        std::string label;
        std::function<void(const Path&)> spoil;
        const char* problem;
        bool corrupt;  // otherwise not ours
    };
    const Row table[] = {
        {"newer schema", [&](const Path& path) { sql(path, "pragma user_version = 8"); },
         "made by a newer posthouse (schema 8, this one knows up to 7)", false},
        {"another name", [&](const Path& path) { sql(path, "pragma application_id = 7"); },
         "a database of another program", false},
        {"another program's file",
         [&](const Path& path) {
             std::filesystem::remove(path);
             sql(path, "create table note (text); pragma user_version = 9");
         },
         "a database of another program", false},
        {"another program's file without a version",
         [&](const Path& path) {
             std::filesystem::remove(path);
             sql(path, "create table note (text)");
         },
         "a database of another program", false},
        {"no database", [&](const Path& path) { overwrite(path, 0, 8'192); }, "not a database",
         true},
        {"a damaged page", [&](const Path& path) { overwrite(path, 4'096, 4'096); }, "", true},
        {"a damaged index",
         [&](const Path& path) {
             sql(path, R"(
                pragma writable_schema = on;
                update sqlite_schema set rootpage = (select rootpage from sqlite_schema
                    where name = 'request_dedup') where name = 'request_due')");
         },
         "", true},
        {"a file cut short",
         [&](const Path& path) {
             std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
         },
         "", true},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        Harness harness;
        for (std::int64_t number = 1; number <= 50; ++number) {
            harness.add(rows::row(domain::Kind::user_decrypt, number), domain::Bytes(500));
        }
        harness.close();
        const std::filesystem::path path = store::database_path(harness.options);
        const std::string whole = bytes_of(path);
        row.spoil(path);
        const std::string spoilt = bytes_of(path);
        const std::string said = row.corrupt ? refusal<store::StorageError>(harness.options)
                                             : refusal<store::ForeignDatabase>(harness.options);
        CAPTURE(said);
        CHECK(support::contains(said, path.string()));
        CHECK(support::contains(said, row.problem));
        CHECK(bytes_of(path) == spoilt);
        if (row.corrupt) {
            try {
                harness.open();
                FAIL("opened");
            } catch (const store::StorageError& error) {
                CHECK(error.kind() == store::StorageErrorKind::corrupt);
            }
        }
        // Nothing is held after the refusal: with the backup in place it opens.
        std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
        harness.open();
        CHECK(harness.store->last_sequence() == 50);
    }
}

TEST_CASE("places where no store can be are named with the way out") {
    struct Row {
        std::string label;
        std::function<void(const std::filesystem::path&)> prepare;
        const char* problem;
    };
    const Row table[] = {
        {"a file in place of the directory",
         [](const std::filesystem::path& data) { std::ofstream{data} << "x"; },
         "can not create the data directory"},
        {"a directory in place of the file",
         [](const std::filesystem::path& data) {
             std::filesystem::create_directories(data / "posthouse.db");
         },
         "can not open"},
        {"a directory in place of the lock",
         [](const std::filesystem::path& data) {
             std::filesystem::create_directories(data / "posthouse.lock");
         },
         "can not open"},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        const support::TempDirectory temporary;
        store::Options options;
        options.directory = temporary.path() / "data";
        row.prepare(options.directory);
        const std::string said = refusal<store::OpenError>(options);
        CHECK(support::contains(said, options.directory.string()));
        CHECK(support::contains(said, row.problem));
        CHECK(said == refusal<store::NotWritable>(options));
    }
}

TEST_CASE("a data directory that is a link to nothing is called that, and may be there later") {
    const support::TempDirectory temporary;
    store::Options options;
    options.directory = temporary.path() / "data";
    std::filesystem::create_symlink("not there", options.directory);
    CHECK(support::contains(refusal<store::OpenError>(options),
                            options.directory.string() + ", a link to what is not there: "));
    std::filesystem::create_directory(temporary.path() / "not there");
    CHECK(refusal<store::OpenError>(options).empty());
}

TEST_CASE("a place is named with what is wrong with it, and whether waiting may help") {
    struct Row {
        int error;
        bool lasts;
        const char* way_out;
        const char* not_said;
    };
    const Row table[] = {
        {EROFS, true, "ReadWritePaths=", "for this user"},
        {EROFS, true, "StateDirectory=", "for this user"},
        {EACCES, true, "make the data directory writable for this user", "systemd"},
        {EPERM, true, "make the data directory writable for this user", "systemd"},
        {ENOTDIR, true, "Not a directory", "writable"},
        {EISDIR, true, "Is a directory", "writable"},
        {ELOOP, true, "symbolic links", "writable"},
        {ENAMETOOLONG, true, "too long", "writable"},
        {ENOSPC, false, "No space left", "writable"},
        {EMFILE, false, "open files", "writable"},
        {EIO, false, "Input/output error", "writable"},
        {ENOENT, false, "No such file", "writable"},
    };
    const support::TempDirectory temporary;
    for (const Row& row : table) {
        CAPTURE(row.error);
        bool lasts = false;
        std::string said;
        try {
            store::refuse_place("can not open x", temporary.path(), row.error);
        } catch (const store::OpenError& error) {
            said = error.what();
            lasts = dynamic_cast<const store::NotWritable*>(&error) != nullptr;
        }
        CAPTURE(said);
        CHECK(lasts == row.lasts);
        CHECK(said.starts_with("can not open x: "));
        CHECK(support::contains(said, row.way_out));
        CHECK_FALSE(support::contains(said, row.not_said));
        CHECK((row.error != EROFS || support::contains(said, temporary.path().string() + " lies")));
    }
}

TEST_CASE("file systems whose locks can not be trusted are known by their numbers") {
    struct Row {
        std::string label;
        long type;
        bool network;
    };
    const Row table[] = {
        {"nfs", 0x6969, true},
        {"smb", 0x517b, true},
        {"cifs", 0xff534d42, true},
        {"cifs, sign extended", static_cast<std::int32_t>(0xff534d42U), true},
        {"smb2", 0xfe534d42, true},
        {"afs", 0x5346414f, true},
        {"coda", 0x73757245, true},
        {"9p", 0x01021997, true},
        {"ceph", 0x00c36400, true},
        {"fuse", 0x65735546, true},
        {"ext4", 0xef53, false},
        {"xfs", 0x58465342, false},
        {"btrfs", 0x9123683e, false},
        {"zfs", 0x2fc12fc1, false},
        {"tmpfs", 0x01021994, false},
        {"overlay", 0x794c7630, false},
    };
    for (const Row& row : table) {
        CAPTURE(row.label);
        CHECK(store::is_network_filesystem(row.type) == row.network);
    }
}

TEST_CASE("a data directory on a network file system is refused unless told otherwise") {
    const support::TempDirectory temporary;
    store::Options options;
    options.directory = temporary.path();
    spoofed_filesystem = 0x6969;
    const std::string said = refusal<store::UntrustedPlace>(options);
    options.allow_network_filesystem = true;
    const std::string with_override = refusal<store::OpenError>(options);
    spoofed_filesystem = 0;
    CHECK(support::contains(said, "network file system"));
    CHECK(support::contains(said, "storage.allow_network_filesystem = true"));
    CHECK(support::contains(said, options.directory.string()));
    CHECK(with_override.empty());
}

TEST_CASE("the reserve takes up space until it is given away, and may be taken back") {
    store::Options options;
    options.reserve_bytes = 100'000;
    Harness harness(options);
    const std::filesystem::path reserve = harness.file("posthouse.reserve");
    CHECK(std::filesystem::file_size(reserve) == 100'000);
    CHECK(harness.store->release_reserve());
    CHECK_FALSE(std::filesystem::exists(reserve));
    CHECK_FALSE(harness.store->release_reserve());
    CHECK(harness.store->restore_reserve());
    CHECK(harness.store->restore_reserve());
    CHECK(std::filesystem::file_size(reserve) == 100'000);
    harness.reopen();
    CHECK(harness.store->release_reserve());
}

TEST_CASE("without a reserve there is nothing to give") {
    store::Options options;
    options.reserve_bytes = 0;
    Harness harness(options);
    CHECK_FALSE(std::filesystem::exists(harness.file("posthouse.reserve")));
    CHECK_FALSE(harness.store->release_reserve());
    CHECK(harness.store->restore_reserve());
}

TEST_CASE("files that were removed or replaced while in use are noticed") {
    for (const char* name : {"posthouse.db", "posthouse.lock"}) {
        for (const bool replaced : {false, true}) {
            CAPTURE(name);
            CAPTURE(replaced);
            Harness harness;
            harness.store->require_in_place();
            std::filesystem::rename(harness.file(name), harness.file("elsewhere"));
            if (replaced) std::ofstream(harness.file(name)) << "another";
            try {
                harness.store->require_in_place();
                FAIL("nothing was noticed");
            } catch (const store::StorageError& error) {
                CHECK(error.kind() == store::StorageErrorKind::corrupt);
                CHECK(support::contains(error.what(), name));
            }
        }
    }
}
