// Who becomes the owner, and when: one node at a time, in virtual time.

#include "cluster/succession.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>

#include "cluster/chain.hpp"
#include "cluster/key.hpp"
#include "cluster/replica.hpp"
#include "store/follower.hpp"
#include "support/simulated_database.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

using cluster::Done;
using cluster::Owner;
using cluster::Succession;
using cluster_test::genesis;
using cluster_test::is_a;
using cluster_test::node_named;
using namespace std::chrono_literals;

namespace {

constexpr cluster::LeaseOptions lease{3s};

// A server with a book, and a file at its beginning.
struct Ground {
    Ground() {
        REQUIRE(is_a<Done>(others.initialise(genesis)));
        file.directory = directory.path() / "data";
        store::join_book(file, {"main", 0, 0, 0, genesis});
    }

    void own(char node) {
        const Owner owner = std::get<0>(others.read_owner()).value();
        REQUIRE(is_a<cluster::Taken>(
            others.take({owner.epoch, owner.instance, std::nullopt}, node_named(node))));
    }

    [[nodiscard]] Owner owner() { return std::get<0>(others.read_owner()).value(); }

    support::VirtualClock clock;
    support::SimulatedServer server{clock, 1};
    support::SimulatedDatabase others{server, "main"};
    support::TempDirectory directory;
    store::Options file;
};

// The node `b`, with a clock of its own.
struct Heir {
    explicit Heir(Ground& ground, Succession::Options options = {node_named('b'), lease})
        : ground_(ground),
          database_(ground.server, "main"),
          follower_(ground.file),
          replica_({database_, keys_, follower_, clock, log}, {lease, options.self.node, 7}),
          succession_({database_, replica_, clock, log}, options) {}

    // Whether it has won within this time.
    [[nodiscard]] bool wins_within(domain::Milliseconds time) {
        const domain::Monotonic end = clock.monotonic() + time;
        while (!succession_.won() && clock.monotonic() < end) {
            const domain::Nanoseconds pause =
                std::max<domain::Nanoseconds>(succession_.step(), 1ms);
            clock.advance(pause);
            ground_.clock.advance(pause);
        }
        return succession_.won().has_value();
    }
    [[nodiscard]] std::int64_t epoch() const { return succession_.won().value().epoch; }

    support::VirtualClock clock;
    support::RecordingLogger log;

private:
    Ground& ground_;
    support::SimulatedDatabase database_;
    const cluster::Keys keys_{domain::Bytes32{}};
    store::Follower follower_;
    cluster::Replica replica_;
    Succession succession_;
};

}  // namespace

TEST_CASE("a book that nobody has had is taken at once") {
    Ground ground;
    Heir heir(ground);
    CHECK(heir.wins_within(10ms));
    CHECK(heir.epoch() == 1);
    CHECK(ground.owner().node == "b");
}

TEST_CASE("an owner that is silent loses its book after the lease and a margin") {
    Ground ground;
    ground.own('a');
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(3'200ms));
    CHECK(heir.wins_within(300ms));
    CHECK(heir.epoch() == 2);
}

TEST_CASE("an owner that renews keeps its book") {
    Ground ground;
    ground.own('a');
    Heir heir(ground);
    for (int i = 0; i < 20; ++i) {
        CHECK_FALSE(heir.wins_within(1s));
        REQUIRE(is_a<cluster::Renewed>(ground.others.renew(1, 0)));
    }
}

TEST_CASE("a book that was given back is taken at the next look") {
    Ground ground;
    ground.own('a');
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(1s));
    REQUIRE(is_a<Done>(ground.others.resign(1, node_named('a').instance)));
    CHECK(heir.wins_within(150ms));
}

TEST_CASE("who gave a book back lets others come first") {
    Ground ground;
    Heir heir(ground, {.self = node_named('b'), .lease = lease, .yields = true});
    CHECK_FALSE(heir.wins_within(2'900ms));
    CHECK(heir.wins_within(300ms));
}

TEST_CASE("a node that starts again need not wait for its own lease") {
    Ground ground;
    ground.own('b');
    cluster::Candidate again = node_named('b');
    again.instance = cluster_test::instance_of(200);
    Heir heir(ground, {again, lease});
    CHECK(heir.wins_within(10ms));
    CHECK(ground.owner().instance == again.instance);
}

TEST_CASE("another machine under the same name waits like all others") {
    Ground ground;
    ground.own('b');
    cluster::Candidate other = node_named('b');
    other.instance = cluster_test::instance_of(200);
    other.url = "https://elsewhere.example:3000";
    Heir heir(ground, {other, lease});
    CHECK_FALSE(heir.wins_within(3'200ms));
}

TEST_CASE("a node whose clock is wrong takes no book, and says so once") {
    Ground ground;
    Heir heir(ground);
    heir.clock.step_wall(2min);
    CHECK_FALSE(heir.wins_within(10s));
    const auto told = [&heir] { return heir.log.count("cluster_clock_wrong"); };
    CHECK(told() == 1);
    heir.clock.step_wall(-4min);
    CHECK_FALSE(heir.wins_within(10s));
    CHECK(told() == 1);
    heir.clock.step_wall(2min);
    CHECK(heir.wins_within(200ms));
}

TEST_CASE("a take that only one disk has wins nothing") {
    Ground ground;
    ground.server.lose_standby();
    ground.server.stop_waiting_for_standbys();
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(2s));
    ground.server.return_standby();
    ground.server.wait_for_standbys();
    CHECK(heir.wins_within(200ms));
}

TEST_CASE(
    "a book whose journal can not be applied to its end is given back, and others come first") {
    Ground ground;
    ground.own('a');
    // Not acknowledged as far as anybody knows, so it does not count as something that is lacked.
    REQUIRE(
        is_a<cluster::Appended>(ground.others.append(cluster_test::first_link(1, {1}).entry())));
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(6'500ms));
    CHECK(heir.log.count("book_given_back epoch=2") == 1);
    CHECK(ground.owner().epoch == 2);
    CHECK(ground.owner().is_free());
}
