#include "cluster/upkeep.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <variant>

#include "cluster/chain.hpp"
#include "support/simulated_database.hpp"
#include "support/virtual_time.hpp"

using cluster::Appended;
using cluster::Done;
using cluster::Upkeep;
using cluster_test::begin_book;
using cluster_test::first_link;
using cluster_test::is_a;
using cluster_test::Link;
using cluster_test::snapshot_of;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t entry_bytes = 1'000;

// A journal of entries of the same size, and three nodes.
struct Journal {
    Journal() {
        begin_book(database);
        for (const char* name : {"a", "b", "c"}) tell(name, 0);
    }

    void grow(std::int64_t entries) {
        for (std::int64_t i = 0; i < entries; ++i) {
            last = last.seq == 0 ? first_link(1, domain::Bytes(entry_bytes))
                                 : last.next(domain::Bytes(entry_bytes));
            REQUIRE(is_a<Appended>(database.append(last.entry())));
        }
    }
    // The node has so much on its disk, and lives.
    void tell(const char* name, std::int64_t seq) {
        clock.advance(1ms);
        REQUIRE(is_a<Done>(database.register_node({name, "https://n", seq, clock.wall()})));
    }
    void snapshot() {
        const auto snapshot =
            snapshot_of(last.seq, static_cast<std::uint8_t>(last.seq), 1, last.hash());
        REQUIRE(is_a<Done>(database.put_part(snapshot, 0, domain::Bytes(1))));
        REQUIRE(is_a<Done>(database.put_head(snapshot)));
    }
    [[nodiscard]] std::int64_t first() { return std::get<0>(database.extent()).value().first; }
    [[nodiscard]] Upkeep upkeep(const char* node) {
        return {database, clock, {node, 10 * entry_bytes, 60s}};
    }

    support::VirtualClock clock;
    support::SimulatedServer server{clock, 1};
    support::SimulatedDatabase database{server, "main"};
    Link last{};
};

}  // namespace

TEST_CASE("a snapshot is for the follower that is furthest") {
    Journal journal;
    Upkeep owner = journal.upkeep("a");
    Upkeep second = journal.upkeep("b");
    Upkeep third = journal.upkeep("c");
    journal.grow(9);
    journal.tell("b", 9);
    journal.tell("c", 8);
    CHECK_FALSE(second.wants_snapshot(false));
    journal.grow(3);
    CHECK(second.wants_snapshot(false));
    CHECK_FALSE(third.wants_snapshot(false));
    CHECK_FALSE(owner.wants_snapshot(true));
    // The one that was furthest is gone, and the other passes it.
    journal.tell("c", 12);
    CHECK(third.wants_snapshot(false));
    CHECK_FALSE(second.wants_snapshot(false));
    // The owner tells its own place too, which is ahead of all that follow.
    journal.tell("a", 12);
    journal.tell("b", 11);
    CHECK(third.wants_snapshot(false));
    CHECK_FALSE(second.wants_snapshot(false));
    journal.snapshot();
    CHECK_FALSE(third.wants_snapshot(false));
}

TEST_CASE("while somebody puts a snapshot nobody begins another one") {
    Journal journal;
    Upkeep follower = journal.upkeep("b");
    const auto put_part = [&](std::int64_t part) {
        const auto snapshot = snapshot_of(journal.last.seq, 1, 9, journal.last.hash());
        REQUIRE(is_a<Done>(journal.database.put_part(snapshot, part, domain::Bytes(1))));
    };
    journal.grow(12);
    journal.tell("b", 12);
    for (std::int64_t part = 0; part < 3; ++part) {
        put_part(part);
        CHECK_FALSE(follower.wants_snapshot(false));
    }
    // It was cut off.
    CHECK(follower.wants_snapshot(false));
}

TEST_CASE("where no follower makes a snapshot the owner does") {
    Journal journal;
    Upkeep owner = journal.upkeep("a");
    journal.grow(15);
    CHECK_FALSE(owner.wants_snapshot(true));
    journal.grow(10);
    CHECK(owner.wants_snapshot(true));
    journal.snapshot();
    CHECK_FALSE(owner.wants_snapshot(true));
}

TEST_CASE("what the second newest snapshot has is dropped") {
    Journal journal;
    Upkeep owner = journal.upkeep("a");
    for (const std::int64_t seq : {10, 20, 30}) {
        journal.grow(10);
        for (const char* name : {"b", "c"}) journal.tell(name, seq);
        journal.snapshot();
        while (owner.trim()) continue;
    }
    CHECK(journal.first() == 20);
    CHECK(std::get<0>(journal.database.read_heads()).size() == 2);
    CHECK_FALSE(owner.trim());
}

TEST_CASE("a node that lives keeps its entries, one that does not is waited for no longer") {
    Journal journal;
    Upkeep owner = journal.upkeep("a");
    for (int i = 0; i < 3; ++i) {
        journal.grow(10);
        journal.snapshot();
        journal.tell("b", 30);
        journal.tell("c", 5);
        while (owner.trim()) continue;
    }
    CHECK(journal.first() == 5);
    journal.clock.advance(50s);
    journal.tell("b", 30);
    while (owner.trim()) continue;
    CHECK(journal.first() == 5);
    journal.clock.advance(11s);
    while (owner.trim()) continue;
    CHECK(journal.first() == 20);
}
