#include "cluster/postgres.hpp"

#include <array>

#include "cluster/postgres_connection.hpp"
#include "cluster/postgres_outcomes.hpp"

namespace cluster {

namespace {

using postgres::Rejected;
using postgres::Reply;
using postgres::Statement;

constexpr Statement make_schema{"make_schema", "create schema if not exists posthouse"};

constexpr std::array tables{
    // One row a book. Inserts into the journal lock it, takers change it.
    Statement{"make_owner",
              "create table if not exists posthouse.owner ("
              " book text not null, shard bigint not null,"
              " epoch bigint not null, node text not null, instance bytea not null,"
              " url text not null,"
              " primary key (book, shard))"},
    // The epoch is here, too: a renewal looks at no other row, so none succeeds behind a taker.
    Statement{"make_lease",
              "create table if not exists posthouse.lease ("
              " book text not null, shard bigint not null,"
              " epoch bigint not null, beat bigint not null, stable bigint not null,"
              " primary key (book, shard))"},
    Statement{"make_journal",
              "create table if not exists posthouse.journal ("
              " book text not null, shard bigint not null, seq bigint not null,"
              " epoch bigint not null, previous bytea not null, hash bytea not null,"
              " stable bigint not null, entry bytea not null,"
              " primary key (book, shard, seq))"},
    Statement{"make_part",
              "create table if not exists posthouse.snapshot_part ("
              " book text not null, shard bigint not null, seq bigint not null,"
              " id bytea not null, part bigint not null, bytes bytea not null,"
              " primary key (book, shard, seq, id, part))"},
    Statement{"make_snapshot",
              "create table if not exists posthouse.snapshot ("
              " book text not null, shard bigint not null, seq bigint not null,"
              " id bytea not null, parts bigint not null, hash bytea not null,"
              " primary key (book, shard, seq, id))"},
    Statement{"make_node",
              "create table if not exists posthouse.node ("
              " book text not null, shard bigint not null, name text not null,"
              " url text not null, seq bigint not null, seen_ms bigint not null,"
              " primary key (book, shard, name))"},
};

// Sealed bytes do not get smaller, and rows that go in ranges want to be swept often. Databases
// that speak the protocol and know nothing of this do without.
constexpr std::array hints{
    Statement{"store_entries",
              "alter table posthouse.journal alter column entry set storage external"},
    Statement{"store_parts",
              "alter table posthouse.snapshot_part alter column bytes set storage external"},
    Statement{"sweep_journal",
              "alter table posthouse.journal set ("
              "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)"},
    Statement{"sweep_parts",
              "alter table posthouse.snapshot_part set ("
              "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100)"},
    Statement{"room_in_owner", "alter table posthouse.owner set (fillfactor = 20)"},
    Statement{"room_in_lease", "alter table posthouse.lease set (fillfactor = 20)"},
};

constexpr Statement make_book{
    "make_book",
    "with owned as (insert into posthouse.owner (book, shard, epoch, node, instance, url)"
    "  values ($1, $2, 0, '', $4, '') on conflict do nothing returning book, shard),"
    " leased as (insert into posthouse.lease (book, shard, epoch, beat, stable)"
    "  select book, shard, 0, 0, 0 from owned)"
    " insert into posthouse.journal (book, shard, seq, epoch, previous, hash, stable, entry)"
    " select book, shard, 0, 0, $3, $3, 0, '' from owned"};

}  // namespace

Outcome<Done, Exists> PostgresDatabase::initialise(const domain::Bytes32& genesis) {
    // Fails also where somebody else made the schema for us; then the tables tell.
    const Reply schema = connection_->run(make_schema, {});
    if (const auto* lost = std::get_if<postgres::Lost>(&schema)) return Unknown{lost->reason};
    for (const Statement& table : tables) {
        const Reply made = connection_->run(table, {});
        if (const auto* lost = std::get_if<postgres::Lost>(&made)) return Unknown{lost->reason};
        if (const auto* rejected = std::get_if<Rejected>(&made)) {
            return Unavailable{rejected->reason};
        }
    }
    for (const Statement& hint : hints) {
        const Reply given = connection_->run(hint, {});
        if (const auto* lost = std::get_if<postgres::Lost>(&given)) return Unknown{lost->reason};
    }
    return postgres::done_or<Exists>(
        connection_->run(make_book, {book_, shard_, genesis, Instance{}}));
}

}  // namespace cluster
