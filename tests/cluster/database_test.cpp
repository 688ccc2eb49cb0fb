#include "cluster/database.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/chain.hpp"
#include "cluster/position.hpp"
#include "cluster/worlds.hpp"

// What every database does, the simulated one and PostgreSQL alike.

using cluster::Absent;
using cluster::Appended;
using cluster::Done;
using cluster::Dropped;
using cluster::Exists;
using cluster::Fenced;
using cluster::Owner;
using cluster::Renewed;
using cluster::Snapshot;
using cluster::Standing;
using cluster::StoredEntry;
using cluster::Taken;
using cluster::Trimmed;
using cluster::Unavailable;
using cluster::Unknown;
using cluster_test::begin_book;
using cluster_test::first_link;
using cluster_test::genesis;
using cluster_test::instance_of;
using cluster_test::is_a;
using cluster_test::Link;
using cluster_test::node_named;
using cluster_test::PostgresWorld;
using cluster_test::short_time;
using cluster_test::SimulatedWorld;
using cluster_test::snapshot_of;

namespace {

// So that nothing of a short time goes into it.
void connect_now(cluster::Database& database) {
    while (is_a<Unavailable>(database.read_owner())) continue;
}

}  // namespace

#define EVERY_WORLD SimulatedWorld, PostgresWorld

TEST_CASE_TEMPLATE("a book is made once, and is nobody's", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    CHECK_FALSE(std::get<0>(database->read_owner()).has_value());
    CHECK_FALSE(std::get<0>(database->extent()).has_value());

    REQUIRE(is_a<Done>(database->initialise(genesis)));
    CHECK(is_a<Exists>(database->initialise(genesis)));

    const Owner owner = std::get<0>(database->read_owner()).value();
    CHECK(owner.epoch == 0);
    CHECK(owner.node.empty());
    CHECK(owner.instance == instance_of(0));
    const cluster::Extent extent = std::get<0>(database->extent()).value();
    CHECK(extent.first == 0);
    CHECK(extent.last == 0);
    CHECK(extent.hash == genesis);
    CHECK(std::get<0>(database->read(0)).value().bytes.empty());
    CHECK(database->connections() == 1);
}

TEST_CASE_TEMPLATE("books and shards do not see each other", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto one = world.connect();
    const auto other = world.connect(cluster_test::long_time, "other");
    const auto shard = world.connect(cluster_test::long_time, "main", 1);
    begin_book(*one);
    REQUIRE(is_a<Appended>(one->append(first_link(1, {1}).entry())));
    for (const auto* database : {&other, &shard}) {
        CHECK_FALSE(std::get<0>((*database)->read_owner()).has_value());
        CHECK(is_a<Fenced>((*database)->append(first_link(1, {1}).entry())));
        begin_book(**database, 'b');
        CHECK_FALSE(std::get<0>((*database)->read(1)).has_value());
    }
    CHECK(std::get<0>(one->read_owner()).value().node == "a");
}

TEST_CASE_TEMPLATE("only what was seen is taken", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);

    const Owner first = std::get<0>(database->read_owner()).value();
    CHECK(first.epoch == 1);
    CHECK(first.node == "a");
    CHECK(first.url == "https://a.example:3000");
    CHECK(is_a<Fenced>(database->take({.epoch = 0, .instance = first.instance}, node_named('b'))));
    CHECK(is_a<Fenced>(database->take({.epoch = 1, .instance = instance_of(9)}, node_named('b'))));
    CHECK(is_a<Fenced>(database->take(
        {.epoch = 1, .instance = first.instance, .beat = first.beat + 1}, node_named('b'))));
    CHECK(std::get<0>(database->read_owner()).value().epoch == 1);

    const Taken taken = std::get<Taken>(database->take(
        {.epoch = 1, .instance = first.instance, .beat = first.beat}, node_named('b')));
    CHECK(taken.epoch == 2);
    CHECK(taken.standbys == 1);
    const Owner second = std::get<0>(database->read_owner()).value();
    CHECK(second.epoch == 2);
    CHECK(second.node == "b");
    CHECK(second.instance == node_named('b').instance);
    CHECK(second.beat != first.beat);
}

TEST_CASE_TEMPLATE("a renewal between seeing and taking keeps the owner", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto owner = world.connect();
    const auto taker = world.connect();
    begin_book(*owner);
    const Owner seen = std::get<0>(taker->read_owner()).value();
    const Renewed renewed = std::get<Renewed>(owner->renew(1, 0));
    CHECK(renewed.beat == seen.beat + 1);
    CHECK(is_a<Fenced>(
        taker->take({.epoch = 1, .instance = seen.instance, .beat = seen.beat}, node_named('b'))));
    CHECK(is_a<Taken>(taker->take({.epoch = 1, .instance = seen.instance, .beat = renewed.beat},
                                  node_named('b'))));
    CHECK(is_a<Fenced>(owner->renew(1, 0)));
}

TEST_CASE_TEMPLATE("a book that was given back is free at once", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    const Owner owner = std::get<0>(database->read_owner()).value();
    CHECK_FALSE(owner.is_free());
    CHECK(is_a<Fenced>(database->resign(2, owner.instance)));
    CHECK(is_a<Fenced>(database->resign(1, instance_of(9))));
    CHECK(is_a<Done>(database->resign(1, owner.instance)));
    const Owner nobody = std::get<0>(database->read_owner()).value();
    CHECK(nobody.is_free());
    CHECK(nobody.epoch == 1);
    CHECK(is_a<Fenced>(database->take({.epoch = 1, .instance = owner.instance}, node_named('b'))));
    CHECK(is_a<Taken>(database->take({.epoch = 1, .instance = nobody.instance}, node_named('b'))));
}

TEST_CASE_TEMPLATE("an owner raises its own epoch, whatever the beat", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    REQUIRE(is_a<Renewed>(database->renew(1, 0)));
    const auto me = node_named('a');
    CHECK(std::get<Taken>(database->take({.epoch = 1, .instance = me.instance}, me)).epoch == 2);
    CHECK(is_a<Fenced>(database->renew(1, 0)));
    CHECK(is_a<Renewed>(database->renew(2, 0)));
}

TEST_CASE_TEMPLATE("what is stable never goes back", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    REQUIRE(is_a<Renewed>(database->renew(1, 7)));
    REQUIRE(is_a<Renewed>(database->renew(1, 5)));
    CHECK(std::get<0>(database->read_owner()).value().stable == 7);
}

TEST_CASE_TEMPLATE("entries go in one behind the other, and nowhere else", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    const Link first = first_link(1, {1});
    const Link second = first.next({2, 2});

    CHECK(is_a<Fenced>(database->append(second.entry())));  // without the one before
    CHECK(std::get<Appended>(database->append(first.entry())).standbys == 1);
    CHECK(is_a<Fenced>(database->append(first.entry())));  // again
    Link wrong = second;
    wrong.previous = genesis;
    CHECK(is_a<Fenced>(database->append(wrong.entry())));
    wrong = second;
    wrong.epoch = 2;
    CHECK(is_a<Fenced>(database->append(wrong.entry())));
    CHECK(std::get<Appended>(database->append(second.entry())).standbys == 1);

    const StoredEntry stored = std::get<0>(database->read(2)).value();
    CHECK(stored == StoredEntry{.seq = 2,
                                .epoch = 1,
                                .previous = first.hash(),
                                .hash = second.hash(),
                                .stable = 1,
                                .bytes = {2, 2}});
    CHECK_FALSE(std::get<0>(database->read(3)).has_value());
}

TEST_CASE_TEMPLATE("an old epoch inserts nothing any more", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto old = world.connect();
    const auto fresh = world.connect();
    begin_book(*old);
    const Link first = first_link(1, {1});
    REQUIRE(is_a<Appended>(old->append(first.entry())));
    REQUIRE(is_a<Taken>(
        fresh->take({.epoch = 1, .instance = node_named('a').instance}, node_named('b'))));
    CHECK(is_a<Fenced>(old->append(first.next({2}).entry())));
    Link next = first.next({3});
    next.epoch = 2;
    CHECK(is_a<Appended>(fresh->append(next.entry())));
    CHECK(std::get<0>(old->read(2)).value().bytes == domain::Bytes{3});
}

TEST_CASE_TEMPLATE("ranges are read by bytes, and trimmed by number", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    Link link = first_link(1, domain::Bytes(100, 1));
    for (int count = 0; count < 6; ++count) {
        REQUIRE(is_a<Appended>(database->append(link.entry())));
        link = link.next(domain::Bytes(100, 1));
    }
    const auto seqs = [&](const cluster::Range& range) {
        const auto entries = std::get<0>(database->read_range(range));
        std::vector<std::int64_t> found;
        for (const auto& entry : entries) found.push_back(entry.seq);
        return found;
    };
    using Seqs = std::vector<std::int64_t>;
    CHECK(seqs({.from = 2, .to = 4}) == Seqs{2, 3, 4});
    CHECK(seqs({.from = 2, .to = 6, .bytes_max = 250}) == Seqs{2, 3});
    CHECK(seqs({.from = 2, .to = 6, .bytes_max = 1}) == Seqs{2});
    CHECK(seqs({.from = 7, .to = 9}).empty());
    CHECK(std::get<0>(database->journal_bytes()) == 600);

    CHECK(std::get<Trimmed>(database->trim(4, 2)).entries == 2);
    CHECK(std::get<Trimmed>(database->trim(4, 100)).entries == 2);
    CHECK(std::get<Trimmed>(database->trim(4, 100)).entries == 0);
    CHECK(seqs({.from = 0, .to = 9}) == Seqs{4, 5, 6});
    CHECK(std::get<Trimmed>(database->trim(100, 100)).entries == 2);
    const cluster::Extent extent = std::get<0>(database->extent()).value();
    CHECK(extent.first == 6);
    CHECK(extent.last == 6);
    CHECK(is_a<Appended>(database->append(link.entry())));
}

TEST_CASE_TEMPLATE("an entry of a megabyte comes back whole", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    domain::Bytes bytes(std::size_t{1} << 20U);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        bytes[at] = static_cast<std::uint8_t>(at * 7 % 251);
    }
    REQUIRE(is_a<Appended>(database->append(first_link(1, bytes).entry())));
    CHECK(std::get<0>(database->read(1)).value().bytes == bytes);
}

TEST_CASE_TEMPLATE("a snapshot counts when all of it is there; the two newest stay", TheWorld,
                   EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    Link link = first_link(1, {1});
    std::vector<Snapshot> snapshots;
    for (std::uint8_t number = 1; number <= 4; ++number) {
        REQUIRE(is_a<Appended>(database->append(link.entry())));
        const Snapshot snapshot = snapshot_of(link.seq, number, 2, link.hash());
        REQUIRE(is_a<Done>(database->put_part(snapshot, 0, domain::Bytes{number, 0})));
        CHECK(is_a<Absent>(database->put_head(snapshot)));
        REQUIRE(is_a<Done>(database->put_part(snapshot, 1, domain::Bytes{number, 1})));
        Snapshot wrong = snapshot;
        wrong.hash[0] ^= 1;
        CHECK(is_a<Absent>(database->put_head(wrong)));
        CHECK(is_a<Done>(database->put_part(snapshot, 1, domain::Bytes{number, 1})));
        if (number == 4) break;  // its head never comes
        CHECK(is_a<Done>(database->put_head(snapshot)));
        CHECK(is_a<Done>(database->put_head(snapshot)));
        snapshots.insert(snapshots.begin(), snapshot);
        link = link.next({number});
    }
    CHECK(std::get<0>(database->read_heads()) == snapshots);
    const Snapshot oldest = snapshots.back();
    CHECK(std::get<0>(database->read_part(oldest, 1)) == domain::Bytes{1, 1});
    CHECK_FALSE(std::get<0>(database->read_part(oldest, 2)).has_value());

    CHECK(std::get<Dropped>(database->drop_old_snapshots(1)).parts == 1);
    CHECK(std::get<Dropped>(database->drop_old_snapshots(9)).parts == 1);
    CHECK(std::get<Dropped>(database->drop_old_snapshots(9)).parts == 0);
    snapshots.pop_back();
    CHECK(std::get<0>(database->read_heads()) == snapshots);
    CHECK_FALSE(std::get<0>(database->read_part(oldest, 1)).has_value());
    for (const Snapshot& kept : snapshots) {
        CHECK(std::get<0>(database->read_part(kept, 0)).has_value());
    }
    // What is not complete stays while it is newer than the newest one, unless it is meant itself.
    const Snapshot unfinished = snapshot_of(4, 4, 2, {});
    CHECK(std::get<0>(database->read_part(unfinished, 1)) == domain::Bytes{4, 1});
    const Snapshot late = snapshot_of(2, 9, 1, {});
    REQUIRE(is_a<Done>(database->put_part(late, 0, domain::Bytes{9})));
    CHECK(std::get<0>(database->read_unfinished()) == std::vector{late, unfinished});
    CHECK(std::get<Dropped>(database->drop_old_snapshots(9)).parts == 1);
    CHECK(std::get<0>(database->read_unfinished()) == std::vector{unfinished});
    CHECK(std::get<Dropped>(database->drop_unfinished(unfinished, 1)).parts == 1);
    CHECK(std::get<Dropped>(database->drop_unfinished(unfinished, 9)).parts == 1);
    CHECK(std::get<Dropped>(database->drop_unfinished(unfinished, 9)).parts == 0);
    CHECK(std::get<0>(database->read_unfinished()).empty());
    CHECK(std::get<Dropped>(database->drop_unfinished(snapshots.front(), 9)).parts == 0);
    CHECK(std::get<0>(database->read_part(snapshots.front(), 0)).has_value());
}

TEST_CASE_TEMPLATE("nodes come, go on and are forgotten", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    begin_book(*database);
    const auto time = domain::from_unix_ms(1'780'272'000'000);
    const cluster::Node b{.name = "b", .url = "https://b", .seq = 3, .seen = time};
    const cluster::Node a{.name = "a", .url = "https://a", .seq = 4, .seen = time};
    REQUIRE(is_a<Done>(database->register_node(b)));
    REQUIRE(is_a<Done>(database->register_node(a)));
    CHECK(std::get<0>(database->nodes()) == std::vector{a, b});

    CHECK(is_a<Done>(database->progress("b", 9, time + domain::Milliseconds{5})));
    cluster::Node later = b;
    later.seq = 9;
    later.seen = time + domain::Milliseconds{5};
    CHECK(std::get<0>(database->nodes()) == std::vector{a, later});

    later.url = "https://elsewhere";
    REQUIRE(is_a<Done>(database->register_node(later)));
    CHECK(is_a<Done>(database->forget("a")));
    CHECK(is_a<Absent>(database->forget("a")));
    CHECK(is_a<Absent>(database->progress("a", 9, time)));
    CHECK(std::get<0>(database->nodes()) == std::vector{later});
}

TEST_CASE_TEMPLATE("a node knows how it stands to the journal", TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto database = world.connect();
    const auto standing = [&](const cluster::Position& own) {
        return std::get<Standing>(cluster::standing_of(*database, own));
    };
    CHECK(standing({0, genesis}) == Standing::no_book);
    begin_book(*database);
    const Link first = first_link(1, {1});
    const Link second = first.next({2});
    REQUIRE(is_a<Appended>(database->append(first.entry())));
    REQUIRE(is_a<Appended>(database->append(second.entry())));
    CHECK(standing({0, genesis}) == Standing::continues);
    CHECK(standing({2, second.hash()}) == Standing::continues);
    CHECK(standing({2, first.hash()}) == Standing::diverged);
    CHECK(standing({0, first.hash()}) == Standing::diverged);  // another book of that name
    CHECK(standing({3, second.hash()}) == Standing::behind);
    REQUIRE(is_a<Trimmed>(database->trim(2, 100)));
    CHECK(standing({1, first.hash()}) == Standing::trimmed);
    CHECK(standing({2, second.hash()}) == Standing::continues);
}

TEST_CASE_TEMPLATE("without the standby nothing is said to be done, and nobody gets past it",
                   TheWorld, EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto patient = world.connect();
    const auto owner = world.connect(short_time);
    const auto taker = world.connect(short_time);
    begin_book(*patient);
    const Link first = first_link(1, {1});
    const cluster::Seen seen{.epoch = 1, .instance = node_named('a').instance};
    connect_now(*owner);
    connect_now(*taker);

    world.lose_standby();
    CHECK(is_a<Unknown>(owner->append(first.entry())));
    world.let_it_arrive();
    CHECK(is_a<Unavailable>(taker->take(seen, node_named('b'))));
    CHECK_FALSE(std::get<0>(patient->read(1)).has_value());

    world.return_standby();
    CHECK(std::get<Taken>(patient->take(seen, node_named('b'))).epoch == 2);
    CHECK(std::get<0>(patient->read(1)).value().hash == first.hash());
    connect_now(*owner);
    CHECK(is_a<Fenced>(owner->append(first.next({2}).entry())));
    CHECK(owner->connections() == 2);
}

TEST_CASE_TEMPLATE("a cancelled wait is no acknowledgement, though the entry is there", TheWorld,
                   EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto owner = world.connect();
    const auto impatient = world.connect(short_time);
    begin_book(*owner);
    connect_now(*impatient);
    const Link first = first_link(1, {1});
    world.lose_standby();
    std::optional<cluster::Outcome<Appended, Fenced>> outcome;
    world.while_waiting([&] { outcome = owner->append(first.entry()); },
                        [&] { world.cancel_waits(); });
    REQUIRE(outcome.has_value());
    CHECK(is_a<Unknown>(*outcome));
    CHECK(std::get<0>(owner->read(1)).value().hash == first.hash());
    CHECK(owner->connections() == 2);

    // It counts once a raise is acknowledged, which carries it.
    const cluster::Seen seen{.epoch = 1, .instance = node_named('a').instance};
    CHECK(is_a<Unknown>(impatient->take(seen, node_named('a'))));
    world.let_it_arrive();
    world.return_standby();
    CHECK(is_a<Fenced>(owner->take(seen, node_named('a'))));  // the one before came through
    const Owner now = std::get<0>(owner->read_owner()).value();
    CHECK(now.epoch == 2);
    CHECK(std::get<Taken>(owner->take({.epoch = 2, .instance = now.instance}, node_named('a')))
              .epoch == 3);
    CHECK(std::get<0>(owner->read(1)).value().hash == first.hash());
}

TEST_CASE_TEMPLATE("a primary that comes back shows what was never acknowledged", TheWorld,
                   EVERY_WORLD) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto owner = world.connect();
    begin_book(*owner);
    const Link first = first_link(1, {1});
    REQUIRE(is_a<Appended>(owner->append(first.entry())));
    world.lose_standby();
    const Link second = first.next({2});
    std::optional<cluster::Outcome<Appended, Fenced>> outcome;
    world.while_waiting([&] { outcome = owner->append(second.entry()); }, [&] { world.crash(); });
    REQUIRE(outcome.has_value());
    CHECK(is_a<Unknown>(*outcome));

    CHECK(std::get<0>(owner->read(2)).value().hash == second.hash());
    CHECK(std::get<0>(owner->read(2)).value().stable == 1);
    world.return_standby();
    const cluster::Seen seen{.epoch = 1, .instance = node_named('a').instance};
    CHECK(std::get<Taken>(owner->take(seen, node_named('a'))).standbys == 1);
    CHECK(std::get<0>(owner->read(2)).value().hash == second.hash());
}
