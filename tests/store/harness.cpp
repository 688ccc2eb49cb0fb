#include "store/harness.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "domain/bytes.hpp"

using domain::Cause;
using domain::Kind;
using domain::Status;

namespace rows {

domain::Timestamp at(std::int64_t ms) {
    return start + milliseconds(ms);
}

domain::RequestId id(std::int64_t number) {
    return {number, number * 1'000'003 + 17};
}

domain::Bytes32 bytes32(std::uint64_t number) {
    return support::numbered<domain::Bytes32>(number);
}

domain::Identity identity(std::uint64_t number) {
    return {bytes32(number), bytes32(number)};
}

store::Schedule in_lane(store::Lane lane, domain::Timestamp wake) {
    store::Schedule schedule;
    schedule.lane = lane;
    schedule.wake = wake;
    return schedule;
}

store::Schedule first_of(Kind kind) {
    return in_lane(kind == Kind::share ? store::Lane::schedule : store::Lane::gate);
}

store::Row row(Kind kind, std::int64_t number) {
    return row(kind, number, first_of(kind));
}

store::Row row(Kind kind, std::int64_t number, const store::Schedule& schedule,
               std::optional<std::int64_t> round) {
    return {id(number), kind, domain::first_status(kind), start, schedule, round};
}

store::Attempt attempt(std::uint64_t number) {
    return {number, bytes32(number), domain::Bytes(100, static_cast<std::uint8_t>(number))};
}

}  // namespace rows

namespace {

SQLite::Database beside_the_writer(const store::Options& options) {
    return {store::database_path(options).string(), SQLite::OPEN_READONLY, 2'000};
}

std::string text_of(const SQLite::Column& value) {
    if (value.isNull()) return "null";
    if (!value.isBlob()) return value.getString();
    const auto* bytes = static_cast<const std::uint8_t*>(value.getBlob());
    return "x" + domain::to_hex({bytes, static_cast<std::size_t>(value.getBytes())});
}

}  // namespace

std::string contents(const store::Options& options) {
    SQLite::Database database = beside_the_writer(options);
    SQLite::Transaction one_snapshot(database);
    std::string text;
    SQLite::Statement tables(database,
                             "select name from sqlite_schema where type = 'table' order by name");
    while (tables.executeStep()) {
        const std::string table = tables.getColumn(0).getString();
        SQLite::Statement all(database, "select * from \"" + table + "\" order by 1, 2");
        while (all.executeStep()) {
            text += table;
            for (int column = 0; column < all.getColumnCount(); ++column) {
                text += " " + text_of(all.getColumn(column));
            }
            text += "\n";
        }
    }
    return text;
}

std::string integrity(const store::Options& options) {
    SQLite::Database database = beside_the_writer(options);
    return database.execAndGet("pragma integrity_check(1)").getString();
}

bool take(store::Store& store, const store::Row& row, const domain::Move& move,
          const store::Schedule& schedule, domain::Timestamp now) {
    if (move.cause == Cause::reorganised) return store.send_back(row, schedule, now);
    if (move.to == Status::receipt_received) {
        return store.receive(row, rows::bytes32(static_cast<std::uint64_t>(row.id.sequence)),
                             schedule, now);
    }
    if (move.to == Status::completed) return store.complete(row, rows::bytes32(1), now);
    if (domain::is_terminal(move.to)) {
        return store.fail(row, {move.from, move.to, move.cause},
                          {domain::Reason::reverted, "why", 0x08c379a0}, now);
    }
    return store.move(row, {move.from, move.to, move.cause}, schedule, now);
}

Harness::Harness(store::Options with) : options(std::move(with)) {
    options.directory = temporary.path() / "data";
    open();
}

store::Row Harness::add(const store::Row& row, domain::ByteView payload) {
    return add(row, rows::identity(static_cast<std::uint64_t>(row.id.sequence)), payload);
}

store::Row Harness::add(const store::Row& row, const domain::Identity& identity,
                        domain::ByteView payload) {
    commit([&] {
        store->insert({row, identity, payload});
        if (row.round) store->add_to_round(*row.round, 1);
    });
    return row;
}

store::Row Harness::bring(Kind kind, std::int64_t number, Status status,
                          std::optional<std::int64_t> round) {
    constexpr bool any = true;
    constexpr domain::Move path[] = {
        {Status::queued, Status::processing, Cause::claimed, any, any, any},
        {Status::processing, Status::tx_in_flight, Cause::sealed, any, any, any},
        {Status::tx_in_flight, Status::receipt_received, Cause::receipt, any, any, any},
    };
    const store::Row row = add(rows::row(kind, number, rows::first_of(kind), round));
    Status now = row.status;
    for (const domain::Move& move : path) {
        if (now == status || now != move.from) continue;
        commit([&] {
            REQUIRE(take(*store, row, move, rows::in_lane(store::Lane::timer), rows::start));
        });
        now = move.to;
    }
    if (now != status) end(row, now, status);
    return row;
}

void Harness::end(const store::Row& row, Status from, Status to, domain::Timestamp now) {
    const Cause cause = to == Status::completed   ? Cause::answered
                        : to == Status::timed_out ? Cause::expired
                                                  : Cause::internal;
    commit([&] {
        REQUIRE(take(*store, row, {from, to, cause, true, true, true}, row.schedule, now));
    });
}
