#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "cluster/chain.hpp"
#include "cluster/position.hpp"
#include "support/simulated_database.hpp"

// Two nodes take turns in one book, while requests, answers, connections and servers are lost as a
// seed says. Each entry holds the number of a decision; a node decides what comes behind the last
// one it knows.

namespace {

using cluster::Appended;
using cluster::Candidate;
using cluster::Fenced;
using cluster::Owner;
using cluster::Seen;
using cluster::StoredEntry;
using cluster::Taken;
using cluster::Unknown;
using cluster_test::Link;

domain::Bytes written(std::uint64_t decision, char node) {
    domain::Bytes bytes{static_cast<std::uint8_t>(node)};
    for (int byte = 0; byte < 8; ++byte) {
        bytes.push_back(static_cast<std::uint8_t>(decision >> (8 * byte)));
    }
    return bytes;
}

// What all nodes together were told.
struct Promises {
    std::map<std::int64_t, domain::Bytes32> acknowledged;
    int violations = 0;

    void add(std::int64_t seq, const domain::Bytes32& hash) {
        const auto [place, is_new] = acknowledged.emplace(seq, hash);
        if (!is_new && place->second != hash) ++violations;
    }
};

class BookNode {
public:
    BookNode(support::SimulatedServer& server, char name, Promises& promises)
        : database_(server, "main"), name_(name), promises_(promises) {}

    [[nodiscard]] bool is_owner() const { return epoch_.has_value(); }

    // Takes the book from whoever has it, and reads what there is. One try.
    void take_over() {
        epoch_.reset();
        const auto seen = owner();
        if (!seen) return;
        const auto outcome =
            database_.take({.epoch = seen->epoch, .instance = seen->instance}, me());
        const auto* taken = std::get_if<Taken>(&outcome);
        if (taken == nullptr) return;
        const auto end = database_.extent();
        const auto* extent = std::get_if<std::optional<cluster::Extent>>(&end);
        if (extent == nullptr || !*extent) return;
        // What is there is as safe as the take.
        last_ = {.seq = (*extent)->last, .hash = (*extent)->hash};
        if (last_.seq > 0) promises_.add(last_.seq, last_.hash);
        undecided_.reset();
        epoch_ = taken->epoch;
    }

    // Decides something and brings it into the journal; or goes on settling what it does not know.
    void step() {
        if (undecided_) {
            settle();
            return;
        }
        const std::int64_t seq = last_.seq + 1;
        append({.seq = seq,
                .epoch = *epoch_,
                .previous = last_.hash,
                .bytes = written(static_cast<std::uint64_t>(seq), name_)});
    }

    // As somebody who slept: tries once more with the epoch it had.
    void wake_late() {
        if (!epoch_ || undecided_) return;
        step();
    }

private:
    [[nodiscard]] Candidate me() const { return cluster_test::node_named(name_); }

    [[nodiscard]] std::optional<Owner> owner() {
        const auto read = database_.read_owner();
        const auto* owner = std::get_if<std::optional<Owner>>(&read);
        return owner == nullptr ? std::nullopt : *owner;
    }

    void append(const Link& link) {
        const auto outcome = database_.append(link.entry());
        if (std::holds_alternative<Appended>(outcome)) {
            keep(link);
        } else if (std::holds_alternative<Fenced>(outcome)) {
            epoch_.reset();
        } else if (std::holds_alternative<Unknown>(outcome)) {
            undecided_ = link;
        }
    }

    void keep(const Link& link) {
        promises_.add(link.seq, link.hash());
        last_ = {.seq = link.seq, .hash = link.hash()};
        undecided_.reset();
    }

    // Raises the own epoch until that is acknowledged, then reads by the exact key; what is not
    // there goes in under the new epoch.
    void settle() {
        const auto now = owner();
        if (!now) return;
        if (now->instance != me().instance) {
            epoch_.reset();
            undecided_.reset();
            return;
        }
        const auto outcome = database_.take({.epoch = now->epoch, .instance = now->instance}, me());
        if (std::holds_alternative<Fenced>(outcome)) return;
        const auto* taken = std::get_if<Taken>(&outcome);
        if (taken == nullptr) return;
        epoch_ = taken->epoch;
        const auto read = database_.read(undecided_->seq);
        const auto* entry = std::get_if<std::optional<StoredEntry>>(&read);
        if (entry == nullptr) return;
        if (*entry) {
            if ((*entry)->hash != undecided_->hash()) ++promises_.violations;
            keep(*undecided_);
            return;
        }
        Link again = *undecided_;
        again.epoch = *epoch_;
        append(again);
    }

    support::SimulatedDatabase database_;
    const char name_;
    Promises& promises_;
    std::optional<std::int64_t> epoch_;
    cluster::Position last_{};
    std::optional<Link> undecided_;
};

// How much of what was promised does not hold, and of what the journal must be.
int broken(const support::SimulatedBook& book, const Promises& promises) {
    int count = promises.violations;
    for (const auto& [seq, hash] : promises.acknowledged) {
        const auto found = book.journal.find(seq);
        if (found == book.journal.end() || found->second.hash != hash) ++count;
    }
    domain::Bytes32 previous = cluster_test::genesis;
    std::int64_t expected = 0;
    std::int64_t epoch = 0;
    for (const auto& [seq, entry] : book.journal) {
        if (seq != expected++ || entry.previous != previous || entry.epoch < epoch) ++count;
        previous = entry.hash;
        epoch = entry.epoch;
    }
    return count;
}

struct Played {
    int violations = 0;
    std::size_t acknowledged = 0;
};

Played play_owners(std::uint64_t seed, bool is_fencing) {
    support::VirtualClock clock;
    support::SimulatedServer server(clock, seed);
    if (!is_fencing) server.drop_fencing();
    support::SeededRandom chance(seed + 1'000'000);
    Promises promises;
    std::array nodes{BookNode(server, 'a', promises), BookNode(server, 'b', promises)};
    support::SimulatedDatabase setup(server, "main");
    static_cast<void>(setup.initialise(cluster_test::genesis));
    server.set_faults(
        {.unreachable = 20, .lost = 40, .late = 60, .cancelled = 30, .unanswered = 60});

    const auto something_happens = [&] {
        switch (chance.below(24)) {
            case 0:
                server.lose_standby();
                break;
            case 1:
            case 2:
                server.return_standby();
                break;
            case 3:
                server.crash();
                break;
            case 4:
                server.promote();
                break;
            case 5:
                server.cancel_waits();
                break;
            case 6:
            case 7:
                server.deliver_late();
                break;
            default:
                break;
        }
    };
    for (int turn = 0; turn < 150; ++turn) {
        something_happens();
        BookNode& node = nodes[chance.below(10) == 0 ? 1 : 0];
        BookNode& other = &node == &nodes[0] ? nodes[1] : nodes[0];
        if (node.is_owner()) {
            node.step();
        } else {
            node.take_over();
        }
        if (chance.chance(100)) other.wake_late();
    }
    server.set_faults({});
    server.return_standby();
    server.deliver_late();
    nodes[0].take_over();
    nodes[0].step();
    return {broken(*server.book("main"), promises), promises.acknowledged.size()};
}

}  // namespace

TEST_CASE("whatever is lost or late, each number has one entry and what was acknowledged stays") {
    std::size_t acknowledged = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        const Played ended = play_owners(seed, true);
        CHECK(ended.violations == 0);
        acknowledged += ended.acknowledged;
    }
    CHECK(acknowledged > 500 * 10);  // they did get on
}

TEST_CASE("a database that does not fence is caught within ten seeds") {
    int caught = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        caught += play_owners(seed, false).violations > 0;
    CHECK(caught > 0);
}
