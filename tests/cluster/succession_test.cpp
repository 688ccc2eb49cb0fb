// Who becomes the owner, and when: one node at a time, in virtual time.

#include "cluster/succession.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

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

    // Entries 1 to `last` of the owner in epoch 1, which are acknowledged; nobody here can read
    // them.
    void append_up_to(std::int64_t last) {
        cluster_test::Link link = cluster_test::first_link(1, {1});
        for (; link.seq <= last; link = link.next({1})) {
            REQUIRE(is_a<cluster::Appended>(others.append(link.entry())));
        }
        REQUIRE(is_a<cluster::Renewed>(others.renew(1, last)));
    }

    [[nodiscard]] Owner owner() { return std::get<0>(others.read_owner()).value(); }
    [[nodiscard]] std::vector<cluster::Node> nodes() { return std::get<0>(others.nodes()); }

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
    [[nodiscard]] Succession& succession() { return succession_; }
    [[nodiscard]] const cluster::Replica& replica() const { return replica_; }

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

TEST_CASE(
    "a take that only one disk has wins nothing, is told once, and is not tried all the time") {
    Ground ground;
    ground.server.lose_standby();
    ground.server.stop_waiting_for_standbys();
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(20s));
    CHECK(heir.succession().is_on_one_disk());
    CHECK(heir.succession().not_taken().value().reason == cluster::one_disk);
    CHECK(heir.log.count("journal_on_one_disk alert=true") == 1);
    CHECK(heir.log.count("book_not_taken alert=true") == 1);
    CHECK(ground.owner().epoch > 10);
    CHECK(ground.owner().epoch <= 20);

    ground.server.return_standby();
    ground.server.wait_for_standbys();
    CHECK(heir.wins_within(1'100ms));
    CHECK_FALSE(heir.succession().is_on_one_disk());
    CHECK_FALSE(heir.succession().not_taken());
    CHECK(heir.log.count("journal_durable_again") == 1);
}

TEST_CASE("a take that the database does not do is told once for each reason") {
    Ground ground;
    ground.own('a');
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(500ms));
    REQUIRE(is_a<Done>(ground.others.resign(1, node_named('a').instance)));
    ground.server.lose_standby();
    // The first waits for the standby, and holds up all that come behind it.
    CHECK_FALSE(heir.wins_within(2'300ms));
    CHECK(heir.succession().not_taken().value().reason == "no connection");
    CHECK_FALSE(heir.succession().is_on_one_disk());
    CHECK(heir.log.count("book_not_taken alert=true reason=\"no answer\"") == 1);
    CHECK(heir.log.count("book_not_taken alert=true reason=\"no connection\"") == 1);
    ground.server.return_standby();
    CHECK(heir.wins_within(1'100ms));
    CHECK_FALSE(heir.succession().not_taken());
    CHECK(heir.log.count("journal_durable_again") == 0);
}

TEST_CASE("why a book was not taken is of no matter once somebody else owns it") {
    Ground ground;
    ground.server.stop_waiting_for_standbys();
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(1s));
    CHECK(heir.succession().not_taken());
    ground.own('a');
    CHECK_FALSE(heir.wins_within(100ms));
    CHECK_FALSE(heir.succession().not_taken());
    CHECK_FALSE(heir.succession().is_on_one_disk());
}

TEST_CASE("an owner knows whether its own node was the one before") {
    const auto succeeds_itself = [](const auto& happens_before) {
        Ground ground;
        cluster::Candidate again = node_named('b');
        again.instance = cluster_test::instance_of(200);
        Heir heir(ground, {again, lease});
        happens_before(ground, heir);
        REQUIRE(heir.wins_within(5s));
        return heir.succession().won().value().succeeds_itself;
    };
    const auto fails_to_take = [](Ground& ground, Heir& heir) {
        ground.server.stop_waiting_for_standbys();
        CHECK_FALSE(heir.wins_within(4s));
        CHECK(heir.succession().is_on_one_disk());
        ground.server.wait_for_standbys();
    };
    CHECK_FALSE(succeeds_itself([](Ground&, Heir&) {}));
    CHECK_FALSE(succeeds_itself([](Ground& ground, Heir&) { ground.own('a'); }));
    CHECK(succeeds_itself([](Ground& ground, Heir&) { ground.own('b'); }));
    CHECK(succeeds_itself([](Ground& ground, Heir&) {
        ground.own('b');
        REQUIRE(is_a<Done>(ground.others.resign(1, node_named('b').instance)));
    }));
    // What it did not get makes it nobody's predecessor.
    CHECK_FALSE(succeeds_itself([&](Ground& ground, Heir& heir) {
        ground.own('a');
        fails_to_take(ground, heir);
    }));
    CHECK(succeeds_itself([&](Ground& ground, Heir& heir) {
        ground.own('b');
        fails_to_take(ground, heir);
    }));
}

TEST_CASE("a node that stops before it has won gives the book back") {
    Ground ground;
    ground.own('a');
    REQUIRE(
        is_a<cluster::Appended>(ground.others.append(cluster_test::first_link(1, {1}).entry())));
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(3'500ms));
    CHECK(ground.owner().node == "b");
    CHECK_FALSE(ground.owner().is_free());
    heir.succession().stop();
    CHECK(ground.owner().is_free());
    CHECK(heir.log.count("book_given_back epoch=2 reason=\"the node stops\"") == 1);
}

TEST_CASE("a node that somebody has forgotten while it lives is one of the nodes again") {
    Ground ground;
    ground.own('a');
    Heir heir(ground);
    const auto go_on = [&](domain::Milliseconds time) {
        REQUIRE(is_a<cluster::Renewed>(ground.others.renew(1, 0)));
        CHECK_FALSE(heir.wins_within(time));
    };
    go_on(1s);
    REQUIRE(ground.nodes().size() == 1);
    const auto registered = ground.nodes().front();
    CHECK(registered.name == "b");
    REQUIRE(is_a<Done>(ground.others.forget("b")));
    go_on(2'900ms);
    go_on(500ms);
    REQUIRE(ground.nodes().size() == 1);
    CHECK(ground.nodes().front().url == registered.url);
    // And tells of itself as before.
    const domain::Timestamp seen = ground.nodes().front().seen;
    go_on(2'900ms);
    go_on(500ms);
    CHECK(ground.nodes().front().seen > seen);
}

TEST_CASE(
    "a node that stood still until the journal was trimmed asks for a snapshot, not for keys") {
    Ground ground;
    ground.own('a');
    Heir heir(ground);
    CHECK_FALSE(heir.wins_within(1s));
    ground.append_up_to(5);
    REQUIRE(is_a<cluster::Trimmed>(ground.others.trim(3, 100)));
    CHECK_FALSE(heir.wins_within(200ms));
    CHECK(heir.replica().obstacle() == cluster::Obstacle::needs_snapshot);
    CHECK(heir.replica().reason() == "the journal has no entry 1 any more");
    CHECK(heir.log.count("cluster_node_stopped") == 1);
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
