#include "cluster/postgres.hpp"

#include <string>
#include <utility>

#include "cluster/postgres_connection.hpp"
#include "cluster/postgres_outcomes.hpp"

namespace cluster {

namespace {

using postgres::Rows;
using postgres::Statement;

constexpr std::int64_t any_beat = -1;

constexpr Statement read_owner_row{
    "read_owner",
    "select o.epoch, o.node, o.instance, o.url, l.beat, l.stable,"
    " (extract(epoch from clock_timestamp()) * 1000)::bigint"
    " from posthouse.owner o join posthouse.lease l on l.book = o.book and l.shard = o.shard"
    " where o.book = $1 and o.shard = $2",
    "itutiii"};

// The lease first, then the owner: all takers in this order. Both rows change together or not at
// all, so an epoch that fits in the lease, once that is locked, fits in the owner.
constexpr Statement take_book{
    "take",
    "with leased as (update posthouse.lease set epoch = epoch + 1, beat = beat + 1"
    "  where book = $1 and shard = $2 and epoch = $3 and (beat = $5 or $5 = -1)"
    "   and exists (select 1 from posthouse.owner"
    "    where book = $1 and shard = $2 and epoch = $3 and instance = $4)"
    "  returning epoch)"
    " update posthouse.owner o set epoch = leased.epoch, node = $6, instance = $7, url = $8"
    " from leased where o.book = $1 and o.shard = $2"
    " returning o.epoch",
    "i"};

constexpr Statement renew_lease{
    "renew",
    "update posthouse.lease set beat = beat + 1, stable = greatest(stable, $4)"
    " where book = $1 and shard = $2 and epoch = $3"
    " returning beat",
    "i"};

constexpr Statement resign_book{"resign",
                                "update posthouse.owner set instance = $5"
                                " where book = $1 and shard = $2 and epoch = $3 and instance = $4"
                                " returning epoch",
                                "i"};

// As behind a write, without one.
constexpr Statement ask_standbys{"standbys", "select 1::bigint", "i"};

}  // namespace

PostgresDatabase::PostgresDatabase(PostgresOptions options, const base::StopToken& stop)
    : book_(options.book),
      shard_(options.shard),
      connection_(std::make_unique<postgres::Connection>(std::move(options), stop)) {}

PostgresDatabase::~PostgresDatabase() = default;

Read<unsigned> PostgresDatabase::standbys() {
    using Answer = Read<unsigned>;
    return postgres::answer_of<Answer>(connection_->write(ask_standbys, {}),
                                       [](const Rows& rows) -> Answer { return rows.standbys; });
}

std::uint64_t PostgresDatabase::connections() const {
    return connection_->count();
}

Read<std::optional<Owner>> PostgresDatabase::read_owner() {
    using Answer = Read<std::optional<Owner>>;
    auto reply = connection_->run(read_owner_row, {book_, shard_});
    if (postgres::has_no_tables(reply)) return std::nullopt;
    return postgres::answer_of<Answer>(std::move(reply), [](const Rows& rows) -> Answer {
        if (rows.count() == 0) return std::nullopt;
        return Owner{.epoch = rows.integer(0, 0),
                     .node = rows.text(0, 1),
                     .instance = rows.bytes16(0, 2),
                     .url = rows.text(0, 3),
                     .beat = rows.integer(0, 4),
                     .stable = rows.integer(0, 5),
                     .server_clock = domain::from_unix_ms(rows.integer(0, 6))};
    });
}

Outcome<Taken, Fenced> PostgresDatabase::take(const Seen& seen, const Candidate& candidate) {
    using Answer = Outcome<Taken, Fenced>;
    return postgres::answer_of<Answer>(
        connection_->write(take_book,
                           {book_, shard_, seen.epoch, seen.instance, seen.beat.value_or(any_beat),
                            candidate.node, candidate.instance, candidate.url}),
        [](const Rows& rows) -> Answer {
            if (rows.count() == 0) return Fenced{};
            return Taken{.epoch = rows.integer(0, 0), .standbys = rows.standbys};
        });
}

Outcome<Renewed, Fenced> PostgresDatabase::renew(std::int64_t epoch, std::int64_t stable) {
    using Answer = Outcome<Renewed, Fenced>;
    return postgres::answer_of<Answer>(
        connection_->run(renew_lease, {book_, shard_, epoch, stable}),
        [](const Rows& rows) -> Answer {
            if (rows.count() == 0) return Fenced{};
            return Renewed{rows.integer(0, 0)};
        });
}

Outcome<Done, Fenced> PostgresDatabase::resign(std::int64_t epoch, const Instance& instance) {
    using Answer = Outcome<Done, Fenced>;
    return postgres::answer_of<Answer>(
        connection_->run(resign_book, {book_, shard_, epoch, instance, Instance{}}),
        [](const Rows& rows) -> Answer {
            if (rows.count() == 0) return Fenced{};
            return Done{};
        });
}

}  // namespace cluster
