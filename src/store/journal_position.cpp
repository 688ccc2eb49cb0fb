#include "store/journal_position.hpp"

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
    WrittenFile file(options, Membership::book);
    PositionRow row(file.database());
    const auto stored = row.read();
    if (stored && stored->diverged) {
        throw OpenError(database_path(options).string() +
                        " has diverged from its book: " + *stored->diverged);
    }
    row.drop();
}

std::optional<StoredPosition> stored_position(const Options& options) {
    const auto database = open_for_reading(options);
    require_newest(*database, options);
    return PositionRow(*database).read();
}

}  // namespace store
