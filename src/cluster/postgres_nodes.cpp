#include "cluster/postgres.hpp"

#include <cstddef>
#include <string>

#include "cluster/postgres_connection.hpp"
#include "cluster/postgres_outcomes.hpp"

namespace cluster {

namespace {

using postgres::Rows;
using postgres::Statement;

constexpr Statement register_row{
    "register_node",
    "insert into posthouse.node (book, shard, name, url, seq, seen_ms)"
    " values ($1, $2, $3, $4, $5, $6)"
    " on conflict (book, shard, name) do update"
    "  set url = excluded.url, seq = excluded.seq, seen_ms = excluded.seen_ms"};

constexpr Statement note_progress{"progress",
                                  "update posthouse.node set seq = $4, seen_ms = $5"
                                  " where book = $1 and shard = $2 and name = $3"};

constexpr Statement list_nodes{
    "nodes",
    "select name, url, seq, seen_ms from posthouse.node where book = $1 and shard = $2"
    " order by name",
    "ttii"};

constexpr Statement forget_node{
    "forget", "delete from posthouse.node where book = $1 and shard = $2 and name = $3"};

}  // namespace

Outcome<Done> PostgresDatabase::register_node(const Node& node) {
    using Answer = Outcome<Done>;
    return postgres::answer_of<Answer>(
        connection_->run(register_row, {book_, shard_, node.name, node.url, node.seq,
                                        domain::unix_ms(node.seen)}),
        [](const Rows&) -> Answer { return Done{}; });
}

Outcome<Done, Absent> PostgresDatabase::progress(std::string_view name, std::int64_t seq,
                                                 domain::Timestamp seen) {
    return postgres::done_or<Absent>(
        connection_->run(note_progress, {book_, shard_, name, seq, domain::unix_ms(seen)}));
}

Read<std::vector<Node>> PostgresDatabase::nodes() {
    using Answer = Read<std::vector<Node>>;
    return postgres::answer_of<Answer>(
        connection_->run(list_nodes, {book_, shard_}), [](const Rows& rows) -> Answer {
            std::vector<Node> nodes;
            nodes.reserve(static_cast<std::size_t>(rows.count()));
            for (int row = 0; row < rows.count(); ++row) {
                nodes.push_back({.name = rows.text(row, 0),
                                 .url = rows.text(row, 1),
                                 .seq = rows.integer(row, 2),
                                 .seen = domain::from_unix_ms(rows.integer(row, 3))});
            }
            return nodes;
        });
}

Outcome<Done, Absent> PostgresDatabase::forget(std::string_view name) {
    return postgres::done_or<Absent>(connection_->run(forget_node, {book_, shard_, name}));
}

}  // namespace cluster
