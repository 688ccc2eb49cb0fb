#include "chains/loopback/ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "domain/kind.hpp"
#include "store/open_errors.hpp"
#include "store/statement.hpp"

namespace chains::loopback {
namespace {

constexpr int schema_version = 1;
constexpr int busy_timeout_ms = 5'000;

// Nullifiers come in random order, so the same pages change again and again: a rarer checkpoint
// writes them once, and the cache holds the index of some hundred thousand of them.
constexpr int checkpoint_pages = 8'000;
constexpr int cache_kib = 16'384;

constexpr const char* schema = R"sql(
create table run (
    number     integer primary key,
    started_ms integer not null,
    nonce_max  integer not null default 0  -- highest that reached the ledger in this run
) strict;

create table inclusion (
    block            integer primary key,
    hash             blob    not null check (length(hash) = 32),
    request_sequence integer not null,
    request_random   integer not null,
    kind             text    not null,
    subject          blob    not null,       -- what should be included at most once
    nonce            integer not null,
    reference        blob,                   -- the id the chain gave the request; shares have none
    bytes            blob    not null,
    included_ms      integer not null,
    reverted         integer not null check (reverted in (0, 1)),
    already          integer not null check (already in (0, 1)),  -- share, nullifier spent before
    check ((reference is null) = (kind = 'share')),
    -- A hash covers its subject, so this makes hashes unique; one index alone on random keys would
    -- cost more than all the rest, and subjects rise with time.
    unique (subject, hash)
) strict;

create table answer (
    id       integer primary key,
    block    integer not null references inclusion,
    ready_ms integer not null,
    pieces   integer not null,
    foreigner integer not null check (foreigner in (0, 1)),
    position integer                         -- in the order of delivery; null while it waits
) strict;
create unique index answer_position on answer (position) where position is not null;
create index answer_waiting on answer (ready_ms) where position is null;

create view double_inclusion as
select subject, kind, count(*) - 1 as surplus
from inclusion where reverted = 0 and already = 0
group by subject having count(*) > 1;
)sql";

bool is_plain_file(const std::string& path) {
    return path != ":memory:" && !path.starts_with("file:");
}

// Before SQLite does it with the permissions of the process; its side files copy the mode.
void create_private(const std::string& path) {
    const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) {
        store::refuse_place("can not open the ledger " + path,
                            std::filesystem::path(path).parent_path(), errno);
    }
    ::close(file);
}

SQLite::Database open(const std::string& path) {
    if (is_plain_file(path)) create_private(path);
    return {path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI, busy_timeout_ms};
}

void prepare(SQLite::Database& database, const std::string& path, LedgerSynchronous synchronous) {
    database.exec("pragma synchronous = " + std::string{to_string(synchronous)});
    database.exec("pragma journal_mode = wal");
    database.exec("pragma wal_autocheckpoint = " + std::to_string(checkpoint_pages));
    database.exec("pragma cache_size = -" + std::to_string(cache_kib));
    const int version = database.execAndGet("pragma user_version").getInt();
    if (version == schema_version) return;
    if (version != 0) {
        throw store::ForeignDatabase("the ledger " + path + " has version " +
                                     std::to_string(version) + ", this program reads version " +
                                     std::to_string(schema_version) + "; move the file away");
    }
    SQLite::Transaction transaction{database, SQLite::TransactionBehavior::IMMEDIATE};
    database.exec(schema);
    database.exec("pragma user_version = " + std::to_string(schema_version));
    transaction.commit();
}

SQLite::Database open_prepared(const std::string& path, LedgerSynchronous synchronous) {
    try {
        SQLite::Database database = open(path);
        prepare(database, path, synchronous);
        return database;
    } catch (const SQLite::Exception& error) {
        throw store::to_storage_error(error, "opening the ledger " + path);
    }
}

// Not copied: must live until the statement has run.
void bind_to(SQLite::Statement& statement, int index, domain::ByteView bytes) {
    statement.bindNoCopy(index, bytes.data(), static_cast<int>(bytes.size()));
}

void bind_to(SQLite::Statement& statement, int index, std::uint64_t value) {
    statement.bind(index, static_cast<std::int64_t>(value));
}

// A literal from the domain: lives for ever.
void bind_to(SQLite::Statement& statement, int index, std::string_view literal) {
    statement.bind(index, std::string{literal});
}

domain::ByteView blob(const SQLite::Column& column) {
    return {static_cast<const std::uint8_t*>(column.getBlob()),
            static_cast<std::size_t>(column.getBytes())};
}

domain::Bytes32 bytes32(const SQLite::Column& column) {
    const domain::ByteView stored = blob(column);
    domain::Bytes32 bytes{};
    if (stored.size() != bytes.size()) {
        throw std::runtime_error("the ledger of the loopback chain is damaged: " +
                                 std::to_string(stored.size()) + " bytes where 32 belong");
    }
    std::copy_n(stored.begin(), bytes.size(), bytes.begin());
    return bytes;
}

// Gives bindings and locks back however the scope ends.
class Use {
public:
    explicit Use(SQLite::Statement& statement) : statement_(statement) {}
    ~Use() {
        (void)statement_.tryReset();
        statement_.clearBindings();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

private:
    SQLite::Statement& statement_;
};

}  // namespace

Ledger::Ledger(const std::string& path, LedgerSynchronous synchronous, domain::Timestamp now)
    : database_(open_prepared(path, synchronous)),
      find_(database_, "select reverted, already from inclusion where subject = ? and hash = ?"),
      holds_(database_,
             "select 1 from inclusion where subject = ? and reverted = 0 and already = 0 limit 1"),
      include_(database_,
               "insert into inclusion (hash, request_sequence, request_random, kind, subject, "
               "nonce, reference, bytes, included_ms, reverted, already) "
               "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      plan_(database_,
            "insert into answer (block, ready_ms, pieces, foreigner, position) "
            "values (?, ?, ?, ?, ?)"),
      note_nonce_(database_, "update run set nonce_max = max(nonce_max, ?) where number = ?"),
      waiting_(database_,
               "select id, ready_ms from answer where position is null order by ready_ms, id"),
      place_(database_, "update answer set position = ? where id = ?"),
      behind_(database_,
              "select a.position, a.pieces, a.foreigner, i.hash, i.bytes "
              "from answer a join inclusion i on i.block = a.block "
              "where a.position > ? order by a.position limit ?"),
      inclusions_(database_, "select count(*) from inclusion where reverted = 0 and already = 0"),
      double_inclusions_(database_, "select coalesce(sum(surplus), 0) from double_inclusion") {
    SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
    first_nonce_ = static_cast<std::uint64_t>(
        database_.execAndGet("select coalesce(max(nonce_max), 0) + 1 from run").getInt64());
    position_ = static_cast<std::uint64_t>(
        database_.execAndGet("select coalesce(max(position), 0) from answer").getInt64());
    SQLite::Statement begin_run{database_, "insert into run (started_ms) values (?)"};
    begin_run.bind(1, domain::unix_ms(now));
    begin_run.exec();
    run_ = static_cast<std::uint64_t>(database_.getLastInsertRowid());
    transaction.commit();
}

Ledger::Batch::Batch(Ledger& ledger)
    : ledger_(ledger), lock_(ledger.mutex_), transaction_(ledger.database_) {}

LedgerSynchronous Ledger::synchronous() {
    const std::lock_guard lock{mutex_};
    switch (database_.execAndGet("pragma synchronous").getInt()) {
        case 0:
            return LedgerSynchronous::off;
        case 1:
            return LedgerSynchronous::normal;
        default:
            return LedgerSynchronous::full;
    }
}

std::optional<Effect> Ledger::Batch::find(domain::ByteView subject, const domain::Bytes32& hash) {
    SQLite::Statement& find = ledger_.find_;
    const Use use{find};
    bind_to(find, 1, subject);
    bind_to(find, 2, hash);
    if (!find.executeStep()) return std::nullopt;
    if (find.getColumn(0).getInt() != 0) return Effect::reverted;
    return find.getColumn(1).getInt() != 0 ? Effect::already : Effect::included;
}

bool Ledger::Batch::holds(domain::ByteView subject) {
    const Use use{ledger_.holds_};
    bind_to(ledger_.holds_, 1, subject);
    return ledger_.holds_.executeStep();
}

std::int64_t Ledger::Batch::include(const Inclusion& inclusion) {
    const Draft& draft = inclusion.transaction.draft;
    SQLite::Statement& include = ledger_.include_;
    const Use use{include};
    bind_to(include, 1, inclusion.hash);
    include.bind(2, draft.id.sequence);
    include.bind(3, draft.id.random);
    bind_to(include, 4, domain::to_string(draft.kind));
    bind_to(include, 5, inclusion.subject);
    bind_to(include, 6, inclusion.transaction.nonce);
    if (inclusion.reference) bind_to(include, 7, *inclusion.reference);
    bind_to(include, 8, inclusion.bytes);
    include.bind(9, domain::unix_ms(inclusion.included));
    include.bind(10, inclusion.effect == Effect::reverted ? 1 : 0);
    include.bind(11, inclusion.effect == Effect::already ? 1 : 0);
    include.exec();
    nonce_max_ = std::max(nonce_max_, inclusion.transaction.nonce);
    return ledger_.database_.getLastInsertRowid();
}

std::int64_t Ledger::Batch::plan(const PlannedAnswer& answer) {
    insert_answer(answer, std::nullopt);
    return ledger_.database_.getLastInsertRowid();
}

void Ledger::Batch::plan_next(const PlannedAnswer& answer) {
    insert_answer(answer, ++ledger_.position_);
}

void Ledger::Batch::insert_answer(const PlannedAnswer& answer,
                                  std::optional<std::uint64_t> position) {
    SQLite::Statement& plan = ledger_.plan_;
    const Use use{plan};
    plan.bind(1, answer.block);
    plan.bind(2, domain::unix_ms(answer.ready));
    bind_to(plan, 3, answer.pieces);
    plan.bind(4, answer.foreign ? 1 : 0);
    if (position) bind_to(plan, 5, *position);
    plan.exec();
}

void Ledger::Batch::commit() {
    if (nonce_max_ > 0) {
        const Use use{ledger_.note_nonce_};
        bind_to(ledger_.note_nonce_, 1, nonce_max_);
        bind_to(ledger_.note_nonce_, 2, ledger_.run_);
        ledger_.note_nonce_.exec();
    }
    transaction_.commit();
}

std::vector<WaitingAnswer> Ledger::waiting() {
    const std::lock_guard lock{mutex_};
    const Use use{waiting_};
    std::vector<WaitingAnswer> answers;
    while (waiting_.executeStep()) {
        answers.push_back({waiting_.getColumn(0).getInt64(),
                           domain::from_unix_ms(waiting_.getColumn(1).getInt64())});
    }
    return answers;
}

void Ledger::place(std::span<const std::int64_t> answers) {
    if (answers.empty()) return;
    const std::lock_guard lock{mutex_};
    SQLite::Transaction transaction{database_};
    for (const std::int64_t answer : answers) {
        const Use use{place_};
        bind_to(place_, 1, ++position_);
        place_.bind(2, answer);
        place_.exec();
    }
    transaction.commit();
}

void Ledger::skip_to(std::uint64_t position) {
    const std::lock_guard lock{mutex_};
    position_ = std::max(position_, position);
}

std::vector<PlacedAnswer> Ledger::behind(std::uint64_t position, std::size_t limit) {
    const std::lock_guard lock{mutex_};
    const Use use{behind_};
    bind_to(behind_, 1, position);
    bind_to(behind_, 2, limit);
    std::vector<PlacedAnswer> answers;
    while (behind_.executeStep()) {
        PlacedAnswer& answer = answers.emplace_back();
        answer.position = static_cast<std::uint64_t>(behind_.getColumn(0).getInt64());
        answer.pieces = static_cast<Pieces>(behind_.getColumn(1).getInt64());
        answer.foreign = behind_.getColumn(2).getInt() != 0;
        answer.hash = bytes32(behind_.getColumn(3));
        const SQLite::Column bytes = behind_.getColumn(4);
        const domain::ByteView stored = blob(bytes);
        answer.bytes.assign(stored.begin(), stored.end());
    }
    return answers;
}

std::uint64_t Ledger::inclusions() {
    return count(inclusions_);
}

std::uint64_t Ledger::double_inclusions() {
    return count(double_inclusions_);
}

std::uint64_t Ledger::count(SQLite::Statement& statement) {
    const std::lock_guard lock{mutex_};
    const Use use{statement};
    if (!statement.executeStep()) return 0;
    return static_cast<std::uint64_t>(statement.getColumn(0).getInt64());
}

}  // namespace chains::loopback
