#include "store/journal_position.hpp"

#include <exception>

#include "store/commit_sink.hpp"
#include "store/database.hpp"
#include "store/errors.hpp"
#include "store/position_row.hpp"
#include "store/written_file.hpp"

namespace store {

PositionRow::PositionRow(SQLite::Database& database)
    : read_(database, "select book, shard, seq, epoch, hash, diverged from journal_position"),
      write_(database,
             "insert into journal_position (id, book, shard, seq, epoch, hash) "
             "values (1, ?1, ?2, ?3, ?4, ?5) on conflict (id) do update set "
             "book = ?1, shard = ?2, seq = ?3, epoch = ?4, hash = ?5"),
      mark_(database, "update journal_position set diverged = ?"),
      drop_(database, "delete from journal_position") {}

std::optional<StoredPosition> PositionRow::read() {
    std::optional<StoredPosition> stored;
    if (read_.with().next()) {
        stored.emplace();
        stored->position = {std::string(read_.text(0)), read_.integer(1),
                            static_cast<std::uint64_t>(read_.integer(2)),
                            static_cast<std::uint64_t>(read_.integer(3)), read_.bytes32(4)};
        if (!read_.is_null(5)) stored->diverged = std::string(read_.text(5));
    }
    read_.finish();
    return stored;
}

void PositionRow::write(const JournalPosition& position) {
    write_.with(position.book, position.shard, position.seq, position.epoch, position.hash).run();
}

void PositionRow::mark_diverged(const std::string& why) {
    mark_.with(why).run();
}

void PositionRow::drop() {
    drop_.with().run();
}

JournalPosition position_to_go_on(PositionRow& row) {
    const auto stored = row.read();
    if (!stored) throw OpenError("the database belongs to no book");
    if (stored->diverged) {
        throw OpenError("the database has diverged from its book: " + *stored->diverged);
    }
    return stored->position;
}

bool belongs_to_book(SQLite::Database& database) {
    const bool has_table =
        database.execAndGet("select count(*) from sqlite_schema where name = 'journal_position'")
            .getInt() != 0;
    return has_table && database.execAndGet("select count(*) from journal_position").getInt() != 0;
}

void join_book(const Options& options, const JournalPosition& position) {
    WrittenFile file(options, Membership::none);
    PositionRow(file.database()).write(position);
}

void leave_book(const Options& options) {
    WrittenFile file(options, Membership::book_of_any_schema);
    PositionRow row(file.database());
    static_cast<void>(position_to_go_on(row));
    row.drop();
}

namespace {

// Rolls back what was not committed.
class Migration {
public:
    explicit Migration(WrittenFile& file) : file_(file) {
        file_.database().exec("begin immediate");
    }
    ~Migration() { file_.roll_back(); }
    Migration(const Migration&) = delete;
    Migration& operator=(const Migration&) = delete;

private:
    WrittenFile& file_;
};

// As JournaledCommits does it.
void decide_and_commit(WrittenFile& file, PositionRow& row, int schema,
                       const std::function<JournalPosition(int schema)>& decide) {
    try {
        row.write(decide(schema));
        file.database().exec("commit");
    } catch (const NotDecided&) {
        throw;
    } catch (const std::exception& error) {
        throw OwnershipLost(error.what());
    }
}

}  // namespace

bool migrate_book(const Options& options,
                  const std::function<JournalPosition(int schema)>& decide) {
    try {
        Options relaxed = options;
        relaxed.synchronous = Synchronous::normal;  // the journal is what it is safe in
        WrittenFile file(relaxed, Membership::book_of_any_schema);
        const int newest = newest_schema(options);
        if (schema_of(file.database()) == newest) return false;
        PositionRow row(file.database());
        static_cast<void>(position_to_go_on(row));
        const Migration migration(file);
        migrate_member(file.database(), options, newest);
        decide_and_commit(file, row, newest, decide);
        return true;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "migrating " + database_path(options).string());
    }
}

std::optional<StoredPosition> stored_position(const Options& options) {
    const auto database = open_for_reading(options);
    try {
        // Also one that is too old to tell: it was never in a book.
        if (!belongs_to_book(*database)) return std::nullopt;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "reading " + database_path(options).string());
    }
    require_known(*database, options);
    return PositionRow(*database).read();
}

}  // namespace store
