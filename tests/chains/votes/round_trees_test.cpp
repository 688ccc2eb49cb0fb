#include "chains/votes/tree/round_trees.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "chains/votes/merkle.hpp"
#include "chains/votes/naive_pallas.hpp"
#include "chains/votes/scripted_tree_source.hpp"
#include "support/virtual_time.hpp"

namespace chains::votes {

namespace {

const domain::Bytes32 first_round = number(1);
const domain::Bytes32 second_round = number(2);

struct TwoRounds {
    ScriptedTreeSource source;
    support::VirtualClock clock;
    tree::RoundTrees::ActiveRound active = engine::UnknownRound{};
    tree::RoundTrees trees;

    explicit TwoRounds(const tree::RoundTreesOptions& options = {})
        : trees(
              source, clock, [this] { return active; }, options) {
        source.append(first_round, 10, leaves_of({11, 12, 13}));
        source.append(first_round, 20, leaves_of({14, 15}));
        source.append(second_round, 15, leaves_of({21, 22}));
    }

    MerklePath path(const domain::Bytes32& round, std::uint32_t position, std::uint64_t anchor) {
        const PathAnswer answer = trees.path(round, position, anchor);
        const auto* problem = std::get_if<engine::Unreachable>(&answer);
        CAPTURE(problem == nullptr ? "" : problem->reason);
        REQUIRE(std::holds_alternative<MerklePath>(answer));
        return std::get<MerklePath>(answer);
    }
};

std::string reason(const auto& answer) {
    const auto* problem = std::get_if<engine::Unreachable>(&answer);
    return problem == nullptr ? "no trouble" : problem->reason;
}

}  // namespace

TEST_CASE("the status of a tree is what the chain says") {
    TwoRounds chain;
    const auto status = chain.trees.status(first_round);
    REQUIRE(std::holds_alternative<engine::TreeStatus>(status));
    CHECK(std::get<engine::TreeStatus>(status).leaf_count == 5);
    CHECK(std::get<engine::TreeStatus>(status).anchor_height == 20);
    CHECK(chain.source.calls.empty());
    CHECK(std::holds_alternative<engine::UnknownRound>(chain.trees.status(number(3))));

    chain.source.on_latest = [](auto& answer) { answer = engine::Unreachable{"gone"}; };
    CHECK(reason(chain.trees.status(first_round)) == "gone");
}

TEST_CASE("the active status is that of the active round") {
    TwoRounds chain;
    CHECK(std::holds_alternative<engine::UnknownRound>(chain.trees.active_status()));
    chain.active = engine::Unreachable{"gone"};
    CHECK(reason(chain.trees.active_status()) == "gone");
    chain.active = second_round;
    const auto status = chain.trees.active_status();
    REQUIRE(std::holds_alternative<engine::TreeStatus>(status));
    CHECK(std::get<engine::TreeStatus>(status).leaf_count == 2);
}

TEST_CASE("a path is that of the tree at its anchor, although the tree grew") {
    TwoRounds chain;
    REQUIRE(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    const tree::LatestTree at_anchor = chain.source.tree(first_round);
    chain.source.append(first_round, 30, leaves_of({16, 17, 18}));

    CHECK(root_by(chain.path(first_round, 4, 20), number(15)) == at_anchor.root);
    CHECK(chain.source.calls.back().to_height == 20);  // no further than the anchor
    CHECK(std::holds_alternative<PathOutOfRange>(chain.trees.path(first_round, 5, 20)));

    REQUIRE(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    CHECK(root_by(chain.path(first_round, 5, 30), number(16)) ==
          chain.source.tree(first_round).root);
    CHECK(root_by(chain.path(first_round, 0, 20), number(11)) == at_anchor.root);
}

TEST_CASE("a path at an anchor that nobody asked about comes by the latest tree") {
    TwoRounds chain;
    tree::CommitmentTree at_ten;
    REQUIRE(at_ten.append(std::vector{tree::PallasField::from(11), tree::PallasField::from(12),
                                      tree::PallasField::from(13)}));
    CHECK(root_by(chain.path(first_round, 2, 10), number(13)) == at_ten.root());
    CHECK(root_by(chain.path(first_round, 2, 19), number(13)) == at_ten.root());
    CHECK(std::holds_alternative<PathOutOfRange>(chain.trees.path(first_round, 3, 10)));
    CHECK(reason(chain.trees.path(first_round, 2, 21)) ==
          "the chain has no tree of the round at block 21");
    CHECK(reason(chain.trees.path(first_round, 2, 0)) ==
          "the chain has no tree of the round at block 0");
    CHECK(reason(chain.trees.path(number(3), 2, 10)) ==
          "the chain does not know the round of the tree");
}

TEST_CASE("a leaf comes from the chain once and is remembered") {
    TwoRounds chain;
    const auto leaf = [&](const domain::Bytes32& round, std::uint64_t position) {
        return chain.trees.leaf(round, position);
    };
    CHECK(std::get<domain::Bytes32>(leaf(first_round, 4)) == number(15));
    const auto calls = chain.source.latest_calls;
    CHECK(std::get<domain::Bytes32>(leaf(first_round, 0)) == number(11));
    CHECK(chain.source.latest_calls == calls);
    CHECK(std::holds_alternative<engine::NoLeaf>(leaf(first_round, 5)));
    CHECK(std::holds_alternative<engine::NoLeaf>(leaf(first_round, ~std::uint64_t{0})));
    CHECK(std::holds_alternative<engine::NoLeaf>(leaf(number(3), 0)));

    chain.source.append(first_round, 21, leaves_of({16}));
    CHECK(std::get<domain::Bytes32>(leaf(first_round, 5)) == number(16));
}

TEST_CASE("leaves that no root of the chain confirms are not given out") {
    TwoRounds chain;
    chain.source.on_leaves = [](const auto&, auto& answer) {
        for (tree::BlockLeaves& block : std::get<tree::LeavesRead>(answer).blocks)
            block.leaves.back() = number(666);
    };
    for (int i = 0; i < 2; ++i)
        CHECK(reason(chain.trees.leaf(first_round, 0)) ==
              "the tree of the round does not match the chain's root");
    REQUIRE(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    CHECK(reason(chain.trees.path(first_round, 0, 20)) ==
          "the tree of the round does not match the chain's root");

    chain.source.on_leaves = nullptr;
    CHECK(std::get<domain::Bytes32>(chain.trees.leaf(first_round, 0)) == number(11));
}

TEST_CASE("a chain that went back gives paths of its new tree") {
    TwoRounds chain;
    REQUIRE(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    (void)chain.path(first_round, 0, 20);
    chain.source.reset(first_round);
    chain.source.append(first_round, 10, leaves_of({11, 12, 13}));
    chain.source.append(first_round, 19, leaves_of({99}));
    chain.source.append(first_round, 20, leaves_of({15}));
    REQUIRE(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    CHECK(root_by(chain.path(first_round, 3, 20), number(99)) ==
          chain.source.tree(first_round).root);
}

TEST_CASE("only so many rounds are kept, those used last") {
    TwoRounds chain({.rounds_max = 2, .wait_max = domain::Milliseconds{2'000}, .copy = {}});
    chain.source.append(number(3), 12, leaves_of({31}));
    const auto reads = [&](const domain::Bytes32& round) {
        const std::size_t before = chain.source.calls.size();
        REQUIRE(std::holds_alternative<domain::Bytes32>(chain.trees.leaf(round, 0)));
        return chain.source.calls.size() > before;
    };
    CHECK(reads(first_round));
    CHECK(reads(second_round));
    CHECK_FALSE(reads(first_round));
    CHECK(reads(number(3)));  // the second goes
    CHECK_FALSE(reads(first_round));
    CHECK(reads(second_round));

    // Rounds and positions that are not there push nothing out.
    for (std::uint64_t i = 100; i < 110; ++i) (void)chain.trees.leaf(number(i), 0);
    (void)chain.trees.leaf(number(3), 1);
    CHECK_FALSE(reads(second_round));
}

TEST_CASE("two rounds at once: each path is valid in its own tree only, and none waits") {
    TwoRounds chain;
    std::promise<void> first_reads;
    std::promise<void> second_done;
    std::shared_future<void> second_is_done = second_done.get_future().share();
    std::atomic<bool> waited_in_vain = false;
    std::once_flag once;
    chain.source.on_leaves = [&](const auto& call, auto&) {
        if (call.round_id != first_round) return;
        std::call_once(once, [&] { first_reads.set_value(); });
        if (second_is_done.wait_for(std::chrono::seconds(20)) != std::future_status::ready)
            waited_in_vain = true;
    };
    PathAnswer first;
    std::thread thread([&] { first = chain.trees.path(first_round, 1, 20); });
    first_reads.get_future().wait();
    const PathAnswer second = chain.trees.path(second_round, 1, 15);
    const auto status = chain.trees.status(first_round);
    second_done.set_value();
    thread.join();

    CHECK_FALSE(waited_in_vain);
    CHECK(std::holds_alternative<engine::TreeStatus>(status));
    REQUIRE(std::holds_alternative<MerklePath>(first));
    REQUIRE(std::holds_alternative<MerklePath>(second));
    const auto first_root = chain.source.tree(first_round).root;
    const auto second_root = chain.source.tree(second_round).root;
    CHECK(root_by(std::get<MerklePath>(first), number(12)) == first_root);
    CHECK(root_by(std::get<MerklePath>(second), number(22)) == second_root);
    CHECK(root_by(std::get<MerklePath>(first), number(12)) != second_root);
    CHECK(root_by(std::get<MerklePath>(second), number(22)) != first_root);
}

TEST_CASE("who finds a copy being read waits for it, but not for long") {
    tree::RoundTreesOptions options;
    options.wait_max = domain::Milliseconds{20};
    TwoRounds chain(options);
    std::promise<void> reads;
    std::promise<void> seen;
    chain.source.on_leaves = [&, waits = true](const auto&, auto&) mutable {
        if (!std::exchange(waits, false)) return;
        reads.set_value();
        seen.get_future().wait_for(std::chrono::seconds(20));
    };
    PathAnswer first;
    std::thread thread([&] { first = chain.trees.path(first_round, 1, 20); });
    reads.get_future().wait();
    const std::string in_use = "the tree of the round is being read";
    CHECK(reason(chain.trees.path(first_round, 0, 20)) == in_use);
    CHECK(reason(chain.trees.leaf(first_round, 0)) == in_use);
    CHECK(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    CHECK(reason(chain.trees.leaf(second_round, 0)) == "no trouble");
    seen.set_value();
    thread.join();
    CHECK(std::holds_alternative<MerklePath>(first));
    CHECK(reason(chain.trees.path(first_round, 0, 20)) == "no trouble");
}

TEST_CASE("a round whose tree takes too long is let go, and goes on where it was") {
    TwoRounds chain;
    chain.source.append(first_round, 100'000, leaves_of({16}));
    chain.source.on_leaves = [&](const auto& call, auto& answer) {
        chain.clock.advance(domain::Milliseconds{10'000});
        auto& read = std::get<tree::LeavesRead>(answer);
        if (read.to_height - call.from_height < 10'000) return;
        read = {{}, call.from_height + 9'999};
    };
    CHECK(reason(chain.trees.path(first_round, 5, 100'000))
              .starts_with("the tree of the round could not be read within 30000 ms"));
    CHECK(chain.source.calls.size() == 3);
    CHECK(reason(chain.trees.leaf(first_round, 5))
              .starts_with("the tree of the round could not be read within 30000 ms"));
    CHECK(chain.source.calls.size() == 6);
    const std::uint64_t next = chain.source.calls.back().from_height + 10'000;
    CHECK(chain.source.calls.back().from_height > chain.source.calls.at(2).to_height);
    chain.source.on_leaves = nullptr;
    CHECK(root_by(chain.path(first_round, 5, 100'000), number(16)) ==
          chain.source.tree(first_round).root);
    CHECK(chain.source.calls.at(6).from_height == next);
}

TEST_CASE("many callers of one round read it once and get paths to its root") {
    TwoRounds chain;
    REQUIRE(std::holds_alternative<engine::TreeStatus>(chain.trees.status(first_round)));
    const auto root = chain.source.tree(first_round).root;
    std::vector<PathAnswer> answers(5);
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t i = 0; i < answers.size(); ++i)
            threads.emplace_back([&, i] { answers[i] = chain.trees.path(first_round, i, 20); });
    }
    for (std::uint32_t i = 0; i < answers.size(); ++i) {
        REQUIRE(std::holds_alternative<MerklePath>(answers[i]));
        CHECK(root_by(std::get<MerklePath>(answers[i]), number(11 + i)) == root);
    }
    CHECK(chain.source.calls.size() == 1);
}

TEST_CASE("whatever grows between status and path, the path leads to the anchor's root") {
    std::mt19937_64 random(9);
    TwoRounds chain({.rounds_max = 3,
                     .wait_max = domain::Milliseconds{2'000},
                     .copy = {.blocks_first = 4, .leaves_wanted = 8}});
    std::map<std::uint64_t, domain::Bytes32> roots;
    std::vector<domain::Bytes32> leaves = leaves_of({11, 12, 13, 14, 15});
    std::map<std::uint64_t, std::uint64_t> sizes;
    for (std::uint64_t height = 21; height < 90; ++height) {
        if (random() % 3 != 0) {
            ScriptedTreeSource::Leaves added;
            for (std::uint64_t i = random() % 4 + 1; i > 0; --i)
                added.push_back(naive::random_element(random));
            chain.source.append(first_round, height, added);
            leaves.insert(leaves.end(), added.begin(), added.end());
        }
        if (random() % 2 == 0) {
            const auto status = chain.trees.status(first_round);
            REQUIRE(std::holds_alternative<engine::TreeStatus>(status));
            const auto [count, anchor] = std::get<engine::TreeStatus>(status);
            roots[anchor] = chain.source.tree(first_round).root;
            sizes[anchor] = count;
        }
        if (sizes.empty() || random() % 2 == 0) continue;
        const auto anchor =
            std::next(sizes.begin(), static_cast<std::ptrdiff_t>(random() % sizes.size()));
        const auto position = static_cast<std::uint32_t>(random() % anchor->second);
        CAPTURE(height);
        CAPTURE(anchor->first);
        CHECK(root_by(chain.path(first_round, position, anchor->first), leaves[position]) ==
              roots[anchor->first]);
    }
}

}  // namespace chains::votes
