// Several nodes with files of their own and one database, in virtual time: whatever dies, is cut
// off or comes late, what a client was told stays, and nobody is told the same twice.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "cluster/careless_writer.hpp"
#include "cluster/simulated_cluster.hpp"
#include "store/store.hpp"

using cluster_test::CarelessWriter;
using cluster_test::OwnerParts;
using cluster_test::OwnerWork;
using cluster_test::SimulatedCluster;
using cluster_test::SimulatedNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* counter = "counter";
// What a version to come may do to a file.
const std::string next_schema =
    "alter table setting add column note text;"
    "update setting set note = 'from before' where name like '~%';"
    "create table extra (id integer primary key, value text) strict;"
    "insert into extra (value) select name from setting;";

// What clients were told: numbers that a node counted, each one more than what it found in its
// file. A number that is told twice was decided by two owners.
struct Notebook {
    std::set<std::int64_t> told;
    std::int64_t newest = 0;
    std::uint64_t twice = 0;
    std::uint64_t lost = 0;  // of those that the next owner did not know
    domain::Monotonic last{};
    domain::Nanoseconds longest_pause{};
    // Builds that must be caught.
    bool is_told_early = false;
    bool is_fenced = true;

    void tell(std::int64_t number, domain::Monotonic now) {
        if (!told.insert(number).second) ++twice;
        if (number <= newest) ++lost;
        if (newest > 0) longest_pause = std::max(longest_pause, now - last);
        newest = number;
        last = now;
    }
};

class CountingWork : public OwnerWork {
public:
    CountingWork(const OwnerParts& parts, Notebook& notebook)
        : clock_(parts.clock),
          lease_(parts.lease),
          careless_(parts, CarelessWriter::Fault::asks_nobody),
          store_(parts.file,
                 notebook.is_fenced ? static_cast<store::CommitSink&>(parts.journal) : careless_),
          notebook_(notebook) {}

    void step() override {
        std::int64_t number = 0;
        {
            store::Store::Transaction transaction(store_);
            number = std::stoll(store_.note(counter).value_or("0")) + 1;
            store_.keep_note(counter, std::to_string(number));
            if (notebook_.is_told_early) notebook_.tell(number, clock_.monotonic());
            transaction.commit();
        }
        if (!notebook_.is_told_early && (lease_.is_held() || !notebook_.is_fenced)) {
            notebook_.tell(number, clock_.monotonic());
        }
    }

private:
    support::VirtualClock& clock_;
    const cluster::Lease& lease_;
    CarelessWriter careless_;
    store::Store store_;
    Notebook& notebook_;
};

struct Cluster : SimulatedCluster {
    explicit Cluster(std::uint64_t seed)
        : SimulatedCluster(seed, 3, [this](const OwnerParts& parts) {
              return std::make_unique<CountingWork>(parts, notebook);
          }) {}

    // Nothing happens any more: all come to rest and have the same.
    void settle() {
        server.set_faults({});
        mend();
        run_for(15s);
        const std::size_t before = notebook.told.size();
        run_for(5s);
        CHECK(notebook.told.size() > before);
        for (const auto& node : nodes) node->rest();
        run_for(5s);
    }

    void check_equal() const {
        std::set<domain::Bytes32> digests;
        for (const auto& node : nodes) {
            CHECK(node->obstacle() == cluster::Obstacle::none);
            digests.insert(node->digest());
        }
        CHECK(digests.size() == 1);
    }

    Notebook notebook;
};

struct Counts {
    std::uint64_t twice = 0;
    std::uint64_t lost = 0;
    std::size_t told = 0;
};

enum class Safeguard { none, told_after_decision, fencing };

Counts play_nodes(std::uint64_t seed, Safeguard missing) {
    Cluster cluster(seed);
    cluster.notebook.is_told_early = missing == Safeguard::told_after_decision;
    if (missing == Safeguard::fencing) {
        cluster.notebook.is_fenced = false;
        cluster.server.drop_fencing();
        for (const auto& node : cluster.nodes) node->ignore_lease();
    }
    cluster.server.set_faults({20, 20, 20, 10, 20});
    cluster.live_through(6);
    if (missing == Safeguard::none) {
        cluster.settle();
        cluster.check_equal();
    }
    return {cluster.notebook.twice, cluster.notebook.lost, cluster.notebook.told.size()};
}

}  // namespace

TEST_CASE("a node owns a new book at once, and the others follow") {
    Cluster cluster(1);
    cluster.run_for(5s);
    REQUIRE(cluster.owner() != nullptr);
    CHECK(cluster.notebook.told.size() > 50);
    CHECK(cluster.notebook.twice == 0);
    for (const auto& node : cluster.nodes) CHECK(node->seq() > 50);
}

TEST_CASE("after the death of an owner another goes on within its lease and a margin") {
    Cluster cluster(2);
    cluster.run_for(5s);
    const std::size_t before = cluster.notebook.told.size();
    cluster.owner()->kill();
    cluster.run_for(5s);
    REQUIRE(cluster.owner() != nullptr);
    CHECK(cluster.notebook.told.size() > before);
    CHECK(cluster.notebook.lost == 0);
    CHECK(cluster.notebook.longest_pause <= 4s);
}

TEST_CASE("an owner that stood still decides nothing when it wakes") {
    Cluster cluster(3);
    cluster.run_for(5s);
    SimulatedNode& old = *cluster.owner();
    old.freeze();
    cluster.run_for(10s);
    old.thaw();
    cluster.run_for(2s);
    CHECK_FALSE(old.is_owner());
    CHECK(cluster.notebook.twice == 0);
    CHECK(cluster.notebook.lost == 0);
}

TEST_CASE("without a standby nothing is told, and it goes on when there is one") {
    Cluster cluster(4);
    cluster.run_for(5s);
    cluster.server.lose_standby();
    cluster.run_for(1s);
    const std::size_t before = cluster.notebook.told.size();
    cluster.run_for(30s);
    CHECK(cluster.notebook.told.size() == before);
    cluster.server.return_standby();
    cluster.run_for(15s);
    CHECK(cluster.notebook.told.size() > before);
    CHECK(cluster.notebook.lost == 0);
}

TEST_CASE("what is acknowledged on one disk only is not told") {
    Cluster cluster(5);
    cluster.run_for(5s);
    SimulatedNode& owner = *cluster.owner();
    cluster.server.stop_waiting_for_standbys();
    const std::size_t before = cluster.notebook.told.size();
    cluster.run_for(10s);
    CHECK(cluster.notebook.told.size() == before);
    // As the owner, and as one that wants to be it again.
    CHECK(owner.log().count("journal_on_one_disk alert=true") == 2);
    CHECK(owner.log().count("journal_durable_again") == 0);
    CHECK(cluster.owner() == nullptr);
    cluster.server.wait_for_standbys();
    cluster.run_for(15s);
    CHECK(owner.log().count("journal_durable_again") == 1);
    CHECK(cluster.notebook.told.size() > before);
    CHECK(cluster.notebook.lost == 0);
}

TEST_CASE("a database that went back is used by nobody who knows better") {
    Cluster cluster(6);
    cluster.run_for(5s);
    for (const auto& node : cluster.nodes) node->kill();
    cluster.server.promote_older(100);
    const std::size_t before = cluster.notebook.told.size();
    cluster.mend();
    cluster.run_for(20s);
    CHECK(cluster.notebook.told.size() == before);
    for (const auto& node : cluster.nodes) {
        CHECK(node->obstacle() == cluster::Obstacle::went_back);
        CHECK(node->log().count("cluster_node_stopped alert=true why=database_went_back") == 1);
    }
}

TEST_CASE("a newer version comes to one node after the other, and an older one stops") {
    Cluster cluster(8);
    cluster.run_for(5s);
    SimulatedNode& old = *cluster.owner();
    for (const auto& node : cluster.nodes) {
        if (node.get() == &old) continue;
        node->kill();
        node->upgrade(next_schema);
        node->start();
        cluster.run_for(2s);
        CHECK(node->obstacle() == cluster::Obstacle::none);
        CHECK(node->seq() > old.seq() - 30);
    }
    CHECK(old.is_owner());

    old.kill();
    const std::size_t before = cluster.notebook.told.size();
    cluster.run_for(5s);
    CHECK(cluster.notebook.told.size() > before);
    old.start();
    cluster.run_for(2s);
    CHECK(old.obstacle() == cluster::Obstacle::unreadable);
    CHECK(old.reason().find("needs schema 8, this program knows up to 7") != std::string::npos);

    old.kill();
    old.upgrade(next_schema);
    old.start();
    cluster.run_for(2s);
    CHECK(old.obstacle() == cluster::Obstacle::none);
    cluster.settle();
    CHECK(cluster.notebook.lost == 0);
    CHECK(cluster.notebook.twice == 0);
    cluster.check_equal();
}

TEST_CASE("a newer version that comes on bad days loses nothing") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        Cluster cluster(seed + 100);
        cluster.server.set_faults({20, 20, 20, 10, 20});
        for (const auto& node : cluster.nodes) {
            cluster.live_through(1);
            node->kill();
            node->upgrade(next_schema);
            node->start();
        }
        cluster.live_through(1);
        cluster.settle();
        CHECK(cluster.notebook.lost == 0);
        CHECK(cluster.notebook.twice == 0);
        cluster.check_equal();
    }
}

TEST_CASE("through many bad days nothing that was told is lost, and nothing is told twice") {
    std::size_t told = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const Counts counts = play_nodes(seed, Safeguard::none);
        REQUIRE(counts.twice == 0);
        REQUIRE(counts.lost == 0);
        told += counts.told;
    }
    CHECK(told > 3'000);
}

TEST_CASE("builds without one of the safeguards are caught within ten seeds") {
    std::size_t caught_early = 0;
    std::size_t caught_unfenced = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Counts early = play_nodes(seed, Safeguard::told_after_decision);
        const Counts unfenced = play_nodes(seed, Safeguard::fencing);
        caught_early += early.twice + early.lost > 0 ? 1 : 0;
        caught_unfenced += unfenced.twice + unfenced.lost > 0 ? 1 : 0;
    }
    CHECK(caught_early > 0);
    CHECK(caught_unfenced > 0);
}
