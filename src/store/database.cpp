#include "store/database.hpp"

#include <sqlite3.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "store/coalescing_vfs.hpp"
#include "store/open_errors.hpp"
#include "store/owner_lock.hpp"
#include "store/position_row.hpp"
#include "store/private_file.hpp"
#include "store/schema.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

constexpr int schema_version = 7;
constexpr int application_id = 0x50484f55;            // "PHOU"
constexpr int application_id_of_backup = 0x50484f42;  // "PHOB"
constexpr int busy_timeout_ms = 2'000;
// Beyond this size the start-up check looks at the tables' edges only: a full one reads every page.
constexpr std::int64_t whole_check_bytes_max = 32LL << 20;

// Each connection is used by one thread at a time, and nobody reads SQLite's own memory statistics:
// both would cost a lock at every allocation. Once, before the first connection.
void configure_library() {
    static const bool configured = [] {
        sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        return true;
    }();
    static_cast<void>(configured);
}

void refuse_network_filesystem(const Options& options) {
    struct statfs facts {};
    if (::statfs(options.directory.c_str(), &facts) != 0) return;
    if (!is_network_filesystem(static_cast<long>(facts.f_type))) return;
    if (options.allow_network_filesystem) return;
    throw UntrustedPlace(
        "the data directory " + options.directory.string() +
        " lies on a network file system, where locks can not be trusted; use a local "
        "disk or set storage.allow_network_filesystem = true");
}

void create_private_file(const std::filesystem::path& path) {
    const int descriptor = open_private_file(path);
    if (descriptor >= 0) {
        ::close(descriptor);
        return;
    }
    const int error = errno;
    std::error_code unknown;
    if (std::filesystem::exists(path, unknown)) {
        refuse_place("can not open " + path.string(), error == EROFS ? path.parent_path() : path,
                     error);
    }
    refuse_place("can not create " + path.string(), path.parent_path(), error);
}

// Left by somebody else, as when root opened the database once: SQLite would only say "can not
// open".
void refuse_closed_companions(const std::filesystem::path& database) {
    for (const char* suffix : {"-wal", "-shm"}) {
        const std::filesystem::path path = database.string() + suffix;
        if (::access(path.c_str(), F_OK) != 0 || ::access(path.c_str(), R_OK | W_OK) == 0) continue;
        refuse_place("can not open " + path.string(), path, errno);
    }
}

std::int64_t pragma_value(SQLite::Database& database, const std::string& name) {
    return database.execAndGet("pragma " + name).getInt64();
}

// Before anything is written: a file that is not ours stays as it is.
void refuse_foreign(SQLite::Database& database, const std::filesystem::path& path,
                    bool is_for_service, int newest = schema_version) {
    const std::int64_t application = pragma_value(database, "application_id");
    const std::int64_t version = pragma_value(database, "user_version");
    const std::int64_t tables =
        database.execAndGet("select count(*) from sqlite_schema").getInt64();
    const bool untouched = application == 0 && version == 0 && tables == 0;
    const bool is_backup = application == application_id_of_backup;
    if (is_backup && is_for_service) {
        throw ForeignDatabase(
            path.string() +
            " is a backup; take it back with posthouse restore FILE --data-dir DIR");
    }
    if (application != application_id && !untouched && !is_backup) {
        throw ForeignDatabase(path.string() +
                              " is a database of another program (application_id differs); choose "
                              "another --data-dir");
    }
    if (version > newest) {
        throw ForeignDatabase(path.string() + " was made by a newer posthouse (schema " +
                              std::to_string(version) + ", this one knows up to " +
                              std::to_string(newest) + "); run that version");
    }
}

// A plan for every value of a parameter: without it, a value that a partial index might be of use
// for has the statement prepared anew each time it is bound.
void keep_plans(SQLite::Database& database) {
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
}

// What leads from each version to the next, the first from 1 to 2.
constexpr std::array migrations{
    "alter table request add column client integer not null default 0;"
    "create table idempotency (key blob primary key check (length(key) = 32),"
    " request integer not null references request (id)) strict, without rowid;"
    "create index idempotency_request on idempotency (request);"
    "create table setting (name text primary key, value text not null) strict, without rowid;",
    "create index request_waiting on request (round) where lane = 0;"
    "create index round_end on round (closed, vote_end_ms);"
    "create table alert (round integer primary key references round (id),"
    " raised_ms integer not null, total integer not null, submitted integer not null,"
    " failed integer not null, pending integer not null, taken integer not null default 0,"
    " logged integer not null default 0) strict;",
    "alter table request add column unreached_ms integer not null default 0;"
    "alter table request add column refused_ms integer not null default 0;"
    "alter table alert add column unconfirmed integer not null default 0;",
    "create table inclusion (id integer primary key references request (id),"
    " hash blob not null check (length(hash) = 32), block integer,"
    " block_hash blob check (length(block_hash) = 32),"
    " reference blob check (length(reference) = 32), buried integer not null default 0,"
    " check ((block is null) = (block_hash is null))) strict;"
    "create index inclusion_block on inclusion (block);"
    "create index inclusion_reference on inclusion (reference) where reference is not null;"
    "alter table answer add column block integer;"
    "alter table answer add column block_hash blob check (length(block_hash) = 32);"
    "create table history (id integer not null references request (id), ordinal integer not null,"
    " stage text not null, at_ms integer not null, cause text not null, note text not null,"
    " times integer not null default 1, primary key (id, ordinal)) strict, without rowid;"
    "create table hold (id integer primary key references request (id),"
    " since_ms integer not null, released integer not null default 0) strict;",
    "create table account (id integer primary key, address text not null unique) strict;"
    "alter table attempt add column account integer references account (id);"
    "alter table attempt add column block integer;"
    "alter table attempt add column gas integer;"
    "alter table attempt add column gas_price integer;"
    "create table own_transaction (account integer not null references account (id),"
    " nonce integer not null, hash blob not null check (length(hash) = 32),"
    " purpose text not null check (purpose in ('filler', 'approval')), sealed blob not null,"
    " sealed_ms integer not null, fate text check (fate in ('included', 'reverted', 'replaced')),"
    " fate_ms integer, primary key (account, nonce, hash),"
    " check ((fate is null) = (fate_ms is null))) strict, without rowid;",
    "create table journal_position (id integer primary key check (id = 1), book text not null,"
    " shard integer not null, seq integer not null check (seq >= 0),"
    " epoch integer not null check (epoch >= 0),"
    " hash blob not null check (length(hash) = 32), diverged text) strict;"
    "create table probe (id integer primary key check (id = 1), times integer not null) strict;"
    "delete from cursor where listener = 'probe';"
    // Rules that mean the same, and hold for the rows that are there (schema.sql says why).
    "pragma writable_schema = on;"
    R"sql(
update sqlite_schema set sql = replace(replace(replace(replace(sql,
'lane in (0, 1, 2, 8, 9, 10, 11)', 'lane between 0 and 2 or lane between 8 and 11'),
'(status in (''completed'', ''timed_out'', ''failure''))',
'(status = ''completed'' or status = ''timed_out'' or status = ''failure'')'),
'kind in (
                    ''input_proof'', ''public_decrypt'', ''user_decrypt'', ''delegated_user_decrypt'',
                    ''unified_user_decrypt'', ''share'')',
'kind = ''input_proof'' or kind = ''public_decrypt'' or kind = ''user_decrypt'' or
 kind = ''delegated_user_decrypt'' or kind = ''unified_user_decrypt'' or kind = ''share'''),
'status in (
                    ''queued'', ''processing'', ''tx_in_flight'', ''receipt_received'',
                    ''completed'', ''timed_out'', ''failure'')',
'status = ''queued'' or status = ''processing'' or status = ''tx_in_flight'' or
 status = ''receipt_received'' or status = ''completed'' or status = ''timed_out'' or
 status = ''failure''')
where name = 'request';)sql"
    "pragma writable_schema = reset;"};
static_assert(migrations.size() + 1 == schema_version);

// Making a table runs statements of its own inside, and their errors keep only what this lets
// through.
class ExtendedErrors {
public:
    explicit ExtendedErrors(SQLite::Database& database) : handle_(database.getHandle()) {
        sqlite3_extended_result_codes(handle_, 1);
    }
    ~ExtendedErrors() { sqlite3_extended_result_codes(handle_, 0); }
    ExtendedErrors(const ExtendedErrors&) = delete;
    ExtendedErrors& operator=(const ExtendedErrors&) = delete;

private:
    sqlite3* const handle_;
};

// From the one the file has to `schema`.
void run_migrations(SQLite::Database& database, const std::vector<std::string>& further,
                    int schema) {
    const auto version = static_cast<int>(pragma_value(database, "user_version"));
    assert(version > 0 && version <= schema);
    for (int next = version - 1; next < schema - 1; ++next) {
        const auto index = static_cast<std::size_t>(next);
        database.exec(index < migrations.size() ? std::string(migrations[index])
                                                : further.at(index - migrations.size()));
    }
    database.exec("pragma user_version = " + std::to_string(schema));
}

void migrate(SQLite::Database& database, const std::vector<std::string>& further = {}) {
    const std::int64_t version = pragma_value(database, "user_version");
    const int newest = schema_version + static_cast<int>(further.size());
    if (version == newest) return;
    const ExtendedErrors extended(database);
    SQLite::Transaction transaction(database);
    if (version == 0) {
        database.exec(schema_sql);
        database.exec("pragma application_id = " + std::to_string(application_id));
        database.exec("pragma user_version = " + std::to_string(schema_version));
    }
    run_migrations(database, further, newest);
    transaction.commit();
}

// Nothing but the journal may change a file of a book, not even to migrate it.
void require_member(SQLite::Database& database, const std::filesystem::path& path, int newest,
                    Membership membership) {
    if (!belongs_to_book(database)) {
        throw OpenError(path.string() +
                        " belongs to no book: a node starts from a snapshot of its book");
    }
    const std::int64_t version = pragma_value(database, "user_version");
    if (version == newest || membership == Membership::book_of_any_schema) return;
    throw OpenError(path.string() + " has schema " + std::to_string(version) +
                    ", this posthouse has " + std::to_string(newest) +
                    ": an entry of its book migrates it");
}

void refuse_member(SQLite::Database& database, const std::filesystem::path& path) {
    if (!belongs_to_book(database)) return;
    throw OpenError(path.string() +
                    " belongs to a book that several machines keep: what is written to it "
                    "alone would be in no journal");
}

void check(SQLite::Database& database, const std::filesystem::path& path) {
    const std::int64_t bytes =
        pragma_value(database, "page_count") * pragma_value(database, "page_size");
    const char* pragma =
        bytes <= whole_check_bytes_max ? "pragma quick_check(1)" : "pragma quick_check('cursor')";
    SQLite::Statement statement(database, pragma);
    std::string found =
        statement.executeStep() ? statement.getColumn(0).getString() : std::string("no answer");
    if (found == "ok") return;
    std::ranges::replace(found, '\n', ' ');
    throw StorageError(StorageErrorKind::corrupt,
                       path.string() + " is damaged: " + found + "; restore a backup");
}

}  // namespace

std::unique_ptr<SQLite::Database> open_for_writing(const Options& options, Membership membership) {
    configure_library();
    refuse_network_filesystem(options);
    const std::filesystem::path path = database_path(options);
    if (membership == Membership::none) create_private_file(path);
    if (std::error_code unknown; !std::filesystem::exists(path, unknown)) {
        throw OpenError(path.string() + " is missing: a node starts from a snapshot of its book");
    }
    refuse_closed_companions(path);
    try {
        auto database = std::make_unique<SQLite::Database>(
            path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, busy_timeout_ms,
            coalescing_vfs(options.vfs));
        const int newest = newest_schema(options);
        refuse_foreign(*database, path, true, newest);
        membership == Membership::none ? refuse_member(*database, path)
                                       : require_member(*database, path, newest, membership);
        keep_plans(*database);
        database->exec("pragma journal_mode = wal");
        database->exec(options.synchronous == Synchronous::full ? "pragma synchronous = full"
                                                                : "pragma synchronous = normal");
        database->exec("pragma secure_delete = on");
        database->exec("pragma temp_store = memory");
        database->exec("pragma wal_autocheckpoint = 0");
        database->exec("pragma journal_size_limit = " + std::to_string(options.wal_bytes_max));
        database->exec("pragma cache_size = -" + std::to_string(options.cache_bytes >> 10));
        if (membership == Membership::none) migrate(*database, options.further_migrations);
        check(*database, path);
        return database;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + path.string());
    }
}

void require_newest(SQLite::Database& database, const Options& options) {
    const std::filesystem::path path = database_path(options);
    try {
        const int newest = newest_schema(options);
        refuse_foreign(database, path, true, newest);
        const std::int64_t version = pragma_value(database, "user_version");
        if (version == newest) return;
        throw OpenError(path.string() + " was made by an older posthouse (schema " +
                        std::to_string(version) + ", this one needs " + std::to_string(newest) +
                        "); start the service once with this version");
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "reading " + path.string());
    }
}

void require_known(SQLite::Database& database, const Options& options) {
    const std::filesystem::path path = database_path(options);
    try {
        refuse_foreign(database, path, true, newest_schema(options));
        if (belongs_to_book(database)) return;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "reading " + path.string());
    }
    require_newest(database, options);
}

std::unique_ptr<SQLite::Database> open_for_reading(const Options& options) {
    const std::filesystem::path path = database_path(options);
    try {
        auto database = std::make_unique<SQLite::Database>(
            path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, busy_timeout_ms,
            options.vfs);
        keep_plans(*database);
        database->exec("pragma query_only = on");
        database->exec("pragma wal_autocheckpoint = 0");
        database->exec("pragma cache_size = -1024");
        sqlite3_db_config(database->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        return database;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + path.string());
    }
}

std::unique_ptr<SQLite::Database> open_for_checking(const std::filesystem::path& path) {
    configure_library();
    try {
        // A connection that may only read knows no checks of the schema (SQLite 3.40); a file that
        // can not be written is opened all the same.
        auto database = std::make_unique<SQLite::Database>(
            path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX, busy_timeout_ms);
        database->exec("pragma query_only = on");
        database->exec("pragma wal_autocheckpoint = 0");
        sqlite3_db_config(database->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        database->exec("pragma trusted_schema = off");
        database->exec("pragma cell_size_check = on");
        database->exec("pragma cache_size = -65536");
        if (schema_of(*database) == 0) {
            throw ForeignDatabase(path.string() + " is no database of posthouse");
        }
        refuse_foreign(*database, path, false);
        return database;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "opening " + path.string());
    }
}

void make_directory(const Options& options) {
    std::error_code error;
    const bool missing = !std::filesystem::exists(options.directory, error);
    std::filesystem::create_directories(options.directory, error);
    if (!error && missing) {
        std::filesystem::permissions(options.directory, std::filesystem::perms::owner_all, error);
    }
    if (!error) return;
    std::string tried = "can not create the data directory " + options.directory.string();
    if (std::error_code unknown; std::filesystem::is_symlink(options.directory, unknown)) {
        tried += ", a link to what is not there";
    }
    refuse_place(tried, options.directory, error.value());
}

void make_ours(SQLite::Database& database, int schema) {
    database.exec("pragma application_id = " + std::to_string(application_id));
    database.exec("pragma user_version = " + std::to_string(schema));
}

void migrate_to_newest(SQLite::Database& database) {
    migrate(database);
}

void migrate_member(SQLite::Database& database, const Options& options, int schema) {
    assert(schema <= newest_schema(options));
    const ExtendedErrors extended(database);
    run_migrations(database, options.further_migrations, schema);
}

int backup_application_id() {
    return application_id_of_backup;
}

bool is_backup(SQLite::Database& database) {
    return pragma_value(database, "application_id") == application_id_of_backup;
}

int schema_of(SQLite::Database& database) {
    return static_cast<int>(pragma_value(database, "user_version"));
}

int newest_schema() {
    return schema_version;
}

int newest_schema(const Options& options) {
    return schema_version + static_cast<int>(options.further_migrations.size());
}

}  // namespace store
