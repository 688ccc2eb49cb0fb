#include "cluster/postgres.hpp"

#include <cstddef>
#include <utility>

#include "cluster/postgres_connection.hpp"
#include "cluster/postgres_outcomes.hpp"

namespace cluster {

namespace {

using postgres::Rows;
using postgres::Statement;

constexpr Statement put_snapshot_part{
    "put_part",
    "insert into posthouse.snapshot_part (book, shard, seq, id, part, bytes)"
    " values ($1, $2, $3, $4, $5, $6) on conflict do nothing"};

// The same again writes the same once more, and says that it did.
constexpr Statement put_snapshot_head{
    "put_head",
    "insert into posthouse.snapshot (book, shard, seq, id, parts, hash)"
    " select j.book, j.shard, j.seq, $4, $5, j.hash from posthouse.journal j"
    "  where j.book = $1 and j.shard = $2 and j.seq = $3 and j.hash = $6 and $5 ="
    "   (select count(*) from posthouse.snapshot_part p where p.book = $1 and p.shard = $2"
    "     and p.seq = $3 and p.id = $4 and p.part < $5)"
    " on conflict (book, shard, seq, id) do update set parts = excluded.parts"};

constexpr Statement read_snapshot_heads{
    "read_heads",
    "select seq, id, parts, hash from posthouse.snapshot where book = $1 and shard = $2"
    " order by seq desc, id desc",
    "iuih"};

constexpr Statement read_snapshot_part{
    "read_part",
    "select bytes from posthouse.snapshot_part"
    " where book = $1 and shard = $2 and seq = $3 and id = $4 and part = $5",
    "b"};

constexpr Statement read_headless{
    "read_unfinished",
    "select p.seq, p.id, count(*) from posthouse.snapshot_part p where p.book = $1 and p.shard = $2"
    " and not exists (select 1 from posthouse.snapshot h where h.book = $1 and h.shard = $2"
    "  and h.seq = p.seq and h.id = p.id)"
    " group by p.seq, p.id order by p.seq, p.id",
    "iui"};

// The second newest is the oldest that stays. Heads go before their parts: what counts is whole.
constexpr Statement drop_heads{
    "drop_heads",
    "delete from posthouse.snapshot where book = $1 and shard = $2 and (seq, id) <"
    " (select seq, id from posthouse.snapshot where book = $1 and shard = $2"
    "   order by seq desc, id desc limit 1 offset 1)"};

constexpr Statement drop_parts{
    "drop_parts",
    "delete from posthouse.snapshot_part where book = $1 and shard = $2 and (seq, id, part) in"
    " (select p.seq, p.id, p.part from posthouse.snapshot_part p"
    "   where p.book = $1 and p.shard = $2 and (p.seq, p.id) <"
    "    (select seq, id from posthouse.snapshot where book = $1 and shard = $2"
    "      order by seq desc, id desc limit 1)"
    "    and not exists (select 1 from posthouse.snapshot h where h.book = $1 and h.shard = $2"
    "     and h.seq = p.seq and h.id = p.id)"
    "   order by p.seq, p.id, p.part limit $3)"};

constexpr Statement drop_headless{
    "drop_unfinished",
    "delete from posthouse.snapshot_part where book = $1 and shard = $2 and seq = $3 and id = $4"
    " and not exists (select 1 from posthouse.snapshot h where h.book = $1 and h.shard = $2"
    "  and h.seq = $3 and h.id = $4)"
    " and part in (select p.part from posthouse.snapshot_part p where p.book = $1 and p.shard = $2"
    "  and p.seq = $3 and p.id = $4 order by p.part limit $5)"};

}  // namespace

Outcome<Done> PostgresDatabase::put_part(const Snapshot& snapshot, std::int64_t part,
                                         domain::ByteView bytes) {
    using Answer = Outcome<Done>;
    return postgres::answer_of<Answer>(
        connection_->run(put_snapshot_part,
                         {book_, shard_, snapshot.seq, snapshot.id, part, bytes}),
        [](const Rows&) -> Answer { return Done{}; });
}

Outcome<Done, Absent> PostgresDatabase::put_head(const Snapshot& snapshot) {
    return postgres::done_or<Absent>(connection_->run(
        put_snapshot_head,
        {book_, shard_, snapshot.seq, snapshot.id, snapshot.parts, snapshot.hash}));
}

Read<std::vector<Snapshot>> PostgresDatabase::read_heads() {
    using Answer = Read<std::vector<Snapshot>>;
    return postgres::answer_of<Answer>(connection_->run(read_snapshot_heads, {book_, shard_}),
                                       [](const Rows& rows) -> Answer {
                                           std::vector<Snapshot> heads;
                                           heads.reserve(static_cast<std::size_t>(rows.count()));
                                           for (int row = 0; row < rows.count(); ++row) {
                                               heads.push_back({.seq = rows.integer(row, 0),
                                                                .id = rows.bytes16(row, 1),
                                                                .parts = rows.integer(row, 2),
                                                                .hash = rows.bytes32(row, 3)});
                                           }
                                           return heads;
                                       });
}

Read<std::optional<domain::Bytes>> PostgresDatabase::read_part(const Snapshot& snapshot,
                                                               std::int64_t part) {
    using Answer = Read<std::optional<domain::Bytes>>;
    return postgres::answer_of<Answer>(
        connection_->run(read_snapshot_part, {book_, shard_, snapshot.seq, snapshot.id, part}),
        [](const Rows& rows) -> Answer {
            if (rows.count() == 0) return std::nullopt;
            return rows.bytes(0, 0);
        });
}

Read<std::vector<Snapshot>> PostgresDatabase::read_unfinished() {
    using Answer = Read<std::vector<Snapshot>>;
    return postgres::answer_of<Answer>(connection_->run(read_headless, {book_, shard_}),
                                       [](const Rows& rows) -> Answer {
                                           std::vector<Snapshot> found;
                                           found.reserve(static_cast<std::size_t>(rows.count()));
                                           for (int row = 0; row < rows.count(); ++row) {
                                               found.push_back({.seq = rows.integer(row, 0),
                                                                .id = rows.bytes16(row, 1),
                                                                .parts = rows.integer(row, 2)});
                                           }
                                           return found;
                                       });
}

Outcome<Dropped> PostgresDatabase::drop_old_snapshots(std::int64_t parts_max) {
    using Answer = Outcome<Dropped>;
    const auto count = [](const Rows& rows) -> Answer { return Dropped{rows.changed()}; };
    auto heads = postgres::answer_of<Answer>(connection_->run(drop_heads, {book_, shard_}), count);
    if (!std::holds_alternative<Dropped>(heads)) return heads;
    return postgres::answer_of<Answer>(connection_->run(drop_parts, {book_, shard_, parts_max}),
                                       count);
}

Outcome<Dropped> PostgresDatabase::drop_unfinished(const Snapshot& snapshot,
                                                   std::int64_t parts_max) {
    using Answer = Outcome<Dropped>;
    return postgres::answer_of<Answer>(
        connection_->run(drop_headless, {book_, shard_, snapshot.seq, snapshot.id, parts_max}),
        [](const Rows& rows) -> Answer { return Dropped{rows.changed()}; });
}

}  // namespace cluster
