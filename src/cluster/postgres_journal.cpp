#include "cluster/postgres.hpp"

#include <cstddef>
#include <utility>

#include "cluster/postgres_connection.hpp"
#include "cluster/postgres_outcomes.hpp"

namespace cluster {

namespace {

using postgres::Rows;
using postgres::Statement;

// The share lock holds up whoever raises the epoch until this is over; behind a raise it finds the
// new epoch, and inserts nothing.
constexpr Statement append_entry{
    "append",
    "insert into posthouse.journal (book, shard, seq, epoch, previous, hash, stable, entry)"
    " select o.book, o.shard, $3, $4, $5, $6, $7, $8"
    " from posthouse.owner o join posthouse.journal p on p.book = o.book and p.shard = o.shard"
    " where o.book = $1 and o.shard = $2 and o.epoch = $4 and p.seq = $3 - 1 and p.hash = $5"
    " for share of o"
    " returning seq",
    "i"};
constexpr std::string_view unique_violation = "23505";

constexpr Statement read_entry{
    "read",
    "select seq, epoch, previous, hash, stable, entry from posthouse.journal"
    " where book = $1 and shard = $2 and seq = $3",
    "iihhib"};

constexpr Statement read_entries{
    "read_range",
    "select seq, epoch, previous, hash, stable, entry from ("
    "  select *, sum(octet_length(entry)) over (order by seq) as so_far from ("
    "   select seq, epoch, previous, hash, stable, entry from posthouse.journal"
    "    where book = $1 and shard = $2 and seq >= $3 and seq <= $4"
    "    order by seq limit 1000) candidates"
    " ) counted where so_far <= $5 or seq = $3"
    " order by seq",
    "iihhib"};

constexpr Statement read_extent{
    "extent",
    "select (select min(seq) from posthouse.journal where book = $1 and shard = $2),"
    "  seq, epoch, hash"
    " from posthouse.journal where book = $1 and shard = $2 order by seq desc limit 1",
    "iiih"};

constexpr Statement count_bytes{
    "journal_bytes",
    "select coalesce(sum(octet_length(entry)), 0)::bigint from posthouse.journal"
    " where book = $1 and shard = $2",
    "i"};

// A range of keys.
constexpr Statement trim_entries{
    "trim",
    "delete from posthouse.journal where book = $1 and shard = $2 and seq < $3"
    " and seq < $4 + (select min(seq) from posthouse.journal where book = $1 and shard = $2)"
    " and seq < (select max(seq) from posthouse.journal where book = $1 and shard = $2)"};

StoredEntry entry_of(const Rows& rows, int row) {
    return {.seq = rows.integer(row, 0),
            .epoch = rows.integer(row, 1),
            .previous = rows.bytes32(row, 2),
            .hash = rows.bytes32(row, 3),
            .stable = rows.integer(row, 4),
            .bytes = rows.bytes(row, 5)};
}

}  // namespace

Outcome<Appended, Fenced> PostgresDatabase::append(const NewEntry& entry) {
    using Answer = Outcome<Appended, Fenced>;
    auto reply =
        connection_->write(append_entry, {book_, shard_, entry.seq, entry.epoch, entry.previous,
                                          entry.hash, entry.stable, entry.bytes});
    if (const auto* rejected = std::get_if<postgres::Rejected>(&reply);
        rejected != nullptr && rejected->code == unique_violation) {
        return Fenced{};
    }
    return postgres::answer_of<Answer>(std::move(reply), [](const Rows& rows) -> Answer {
        if (rows.count() == 0) return Fenced{};
        return Appended{.standbys = rows.standbys};
    });
}

Read<std::optional<StoredEntry>> PostgresDatabase::read(std::int64_t seq) {
    using Answer = Read<std::optional<StoredEntry>>;
    return postgres::answer_of<Answer>(connection_->run(read_entry, {book_, shard_, seq}),
                                       [](const Rows& rows) -> Answer {
                                           if (rows.count() == 0) return std::nullopt;
                                           return entry_of(rows, 0);
                                       });
}

Read<std::vector<StoredEntry>> PostgresDatabase::read_range(const Range& range) {
    using Answer = Read<std::vector<StoredEntry>>;
    return postgres::answer_of<Answer>(
        connection_->run(read_entries, {book_, shard_, range.from, range.to,
                                        static_cast<std::int64_t>(range.bytes_max)}),
        [](const Rows& rows) -> Answer {
            std::vector<StoredEntry> entries;
            entries.reserve(static_cast<std::size_t>(rows.count()));
            for (int row = 0; row < rows.count(); ++row) entries.push_back(entry_of(rows, row));
            return entries;
        });
}

Read<std::optional<Extent>> PostgresDatabase::extent() {
    using Answer = Read<std::optional<Extent>>;
    auto reply = connection_->run(read_extent, {book_, shard_});
    if (postgres::has_no_tables(reply)) return std::nullopt;
    return postgres::answer_of<Answer>(std::move(reply), [](const Rows& rows) -> Answer {
        if (rows.count() == 0) return std::nullopt;
        return Extent{.first = rows.integer(0, 0),
                      .last = rows.integer(0, 1),
                      .epoch = rows.integer(0, 2),
                      .hash = rows.bytes32(0, 3)};
    });
}

Read<std::int64_t> PostgresDatabase::journal_bytes() {
    using Answer = Read<std::int64_t>;
    return postgres::answer_of<Answer>(
        connection_->run(count_bytes, {book_, shard_}),
        [](const Rows& rows) -> Answer { return rows.integer(0, 0); });
}

Outcome<Trimmed> PostgresDatabase::trim(std::int64_t below, std::int64_t entries_max) {
    using Answer = Outcome<Trimmed>;
    return postgres::answer_of<Answer>(
        connection_->run(trim_entries, {book_, shard_, below, entries_max}),
        [](const Rows& rows) -> Answer { return Trimmed{rows.changed()}; });
}

}  // namespace cluster
