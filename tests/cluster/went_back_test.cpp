#include <doctest/doctest.h>

#include <variant>

#include "cluster/chain.hpp"
#include "cluster/position.hpp"
#include "cluster/worlds.hpp"

// Databases that went back. In a file behind the others, since no server is as before.

using cluster::Appended;
using cluster::Standing;
using cluster_test::begin_book;
using cluster_test::first_link;
using cluster_test::is_a;
using cluster_test::Link;
using cluster_test::PostgresWorld;
using cluster_test::SimulatedWorld;

TEST_CASE_TEMPLATE("a database that lacks entries is noticed by who has them", TheWorld,
                   SimulatedWorld, PostgresWorld) {
    if (!TheWorld::is_here()) return;
    TheWorld world;
    const auto owner = world.connect();
    begin_book(*owner);
    const Link first = first_link(1, {1});
    REQUIRE(is_a<Appended>(owner->append(first.entry())));

    world.lose_standby();
    world.stop_waiting_for_standbys();
    const Link second = first.next({2});
    CHECK(std::get<Appended>(owner->append(second.entry())).standbys == 0);  // one disk only
    world.promote();

    CHECK(std::get<Standing>(cluster::standing_of(*owner, {2, second.hash()})) == Standing::behind);
    CHECK(std::get<Standing>(cluster::standing_of(*owner, {1, first.hash()})) ==
          Standing::continues);
    CHECK(owner->connections() == 2);
    // Where nobody asks, the same number is given to another entry.
    REQUIRE(is_a<Appended>(owner->append(first.next({3}).entry())));
    CHECK(std::get<Standing>(cluster::standing_of(*owner, {2, second.hash()})) ==
          Standing::diverged);
}

TEST_CASE("a database that lost what it had acknowledged is behind whoever has it") {
    support::VirtualClock clock;
    support::SimulatedServer server(clock, 1);
    support::SimulatedDatabase database(server, "main");
    begin_book(database);
    const Link first = first_link(1, {1});
    const Link second = first.next({2});
    for (const Link* link : {&first, &second}) {
        CHECK(std::get<Appended>(database.append(link->entry())).standbys == 1);
    }
    server.promote_older(1);
    const auto standing = [&database](const Link& own) {
        return std::get<Standing>(
            cluster::standing_of(database, {.seq = own.seq, .hash = own.hash()}));
    };
    CHECK(standing(second) == Standing::behind);
    CHECK(standing(first) == Standing::continues);
    CHECK(database.connections() == 2);
}
