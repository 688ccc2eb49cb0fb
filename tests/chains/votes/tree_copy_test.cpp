#include "chains/votes/tree/tree_copy.hpp"

#include <doctest/doctest.h>

#include <string>

#include "chains/votes/merkle.hpp"
#include "chains/votes/scripted_tree_source.hpp"
#include "support/virtual_time.hpp"

namespace chains::votes {

namespace {

const domain::Bytes32 round_id = number(77);

struct OneRound {
    ScriptedTreeSource source;
    support::VirtualClock clock;

    OneRound() {
        source.append(round_id, 10, leaves_of({1, 2, 3}));
        source.append(round_id, 12, leaves_of({4}));
        source.append(round_id, 5'000, leaves_of({5, 6}));
    }

    tree::LatestTree tree() { return source.tree(round_id); }
    tree::TreeCopy copy(const tree::TreeCopyOptions& options = {}) {
        return {source, clock, round_id, options};
    }
};

std::string reason(const std::optional<engine::Unreachable>& problem) {
    return problem ? problem->reason : "no trouble";
}

}  // namespace

TEST_CASE("a copy reads each height once and knows the size at each of them") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy();
    REQUIRE_FALSE(copy.follow(chain.tree()));
    CHECK(copy.tree().root() == chain.tree().root);
    CHECK(copy.confirmed() == 6);
    for (const auto& [height, size] :
         {std::pair{0, 0}, {9, 0}, {10, 3}, {11, 3}, {12, 4}, {4'999, 4}, {5'000, 6}, {9'000, 6}}) {
        CAPTURE(height);
        CHECK(copy.size_at(static_cast<std::uint64_t>(height)) == static_cast<std::uint64_t>(size));
    }

    chain.source.append(round_id, 5'003, leaves_of({7}));
    REQUIRE_FALSE(copy.follow(chain.tree()));
    CHECK(copy.tree().root() == chain.tree().root);
    std::uint64_t next = 0;
    for (const auto& call : chain.source.calls) {
        CHECK(call.from_height == next);
        next = call.to_height + 1;
    }
    CHECK(next == 5'004);

    const std::size_t calls = chain.source.calls.size();
    CHECK_FALSE(copy.follow(chain.tree()));
    CHECK(chain.source.calls.size() == calls);
}

TEST_CASE("a long chain with few leaves takes few calls") {
    OneRound chain;
    chain.source.append(round_id, 20'000'000, leaves_of({7}));
    tree::TreeCopy copy = chain.copy();
    CHECK_FALSE(copy.follow(chain.tree()));
    CHECK(chain.source.calls.size() < 20);
}

TEST_CASE("pages shrink when answers hold many leaves") {
    ScriptedTreeSource source;
    for (std::uint64_t height = 0; height < 64; ++height)
        source.append(round_id, height, leaves_of({height, height + 1}));
    const support::VirtualClock clock;
    tree::TreeCopy copy(source, clock, round_id, {.blocks_first = 16, .leaves_wanted = 8});
    REQUIRE_FALSE(copy.follow(source.tree(round_id)));
    CHECK(copy.tree().size() == 128);
    CHECK(source.calls.front().to_height - source.calls.front().from_height == 15);
    for (std::size_t i = 4; i < source.calls.size(); ++i)
        CHECK(source.calls[i].to_height - source.calls[i].from_height < 4);
}

TEST_CASE("a page that fails is halved, and the copy goes on where it was") {
    OneRound chain;
    chain.source.on_leaves = [](const auto& call, auto& answer) {
        if (call.to_height - call.from_height >= 400) answer = engine::Unreachable{"too much"};
    };
    tree::TreeCopy copy = chain.copy();
    CHECK(reason(copy.follow(chain.tree())) == "no trouble");
    CHECK(copy.tree().size() == 6);
}

TEST_CASE("a source that keeps failing ends the reading, and what was read stays") {
    OneRound chain;
    chain.source.on_leaves = [](const auto& call, auto& answer) {
        if (call.from_height > 0) answer = engine::Unreachable{"connection refused"};
    };
    tree::TreeCopy copy = chain.copy({.blocks_first = 2'000});
    CHECK(reason(copy.follow(chain.tree())) == "connection refused");
    CHECK(copy.tree().size() == 4);
    CHECK(copy.confirmed() == 0);  // no root stood for them yet
    const std::size_t failed = chain.source.calls.size();
    CHECK(failed == 4);

    chain.source.on_leaves = nullptr;
    CHECK_FALSE(copy.follow(chain.tree()));
    CHECK(chain.source.calls.at(failed).from_height == 2'000);
    CHECK(copy.confirmed() == 6);
}

TEST_CASE("a chain that became another is read anew") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy();
    REQUIRE_FALSE(copy.follow(chain.tree()));
    chain.source.reset(round_id);
    SUBCASE("with a shorter tree") {
        chain.source.append(round_id, 9, leaves_of({8}));
    }
    SUBCASE("with as many leaves at the same height") {
        chain.source.append(round_id, 5'000, leaves_of({1, 2, 3, 4, 5, 7}));
    }
    SUBCASE("with another start") {
        chain.source.append(round_id, 10, leaves_of({1, 2}));
        chain.source.append(round_id, 6'000, leaves_of({4}));
    }
    CHECK(reason(copy.follow(chain.tree())) == "no trouble");
    CHECK(copy.tree().root() == chain.tree().root);
}

TEST_CASE("a tree that is not the chain's is refused and dropped") {
    struct Row {
        const char* label;
        std::function<void(std::vector<tree::BlockLeaves>&)> spoil;
        const char* reason;
    };
    for (const Row& row : {
             Row{"another leaf", [](auto& blocks) { blocks[0].leaves[1] = number(99); },
                 "the tree of the round does not match the chain's root"},
             Row{"a gap", [](auto& blocks) { blocks.erase(blocks.begin() + 1); },
                 "the leaves of block 5000 start at 4 instead of 3"},
             Row{"an overlap", [](auto& blocks) { blocks[1].start_index = 2; },
                 "the leaves of block 12 start at 2 instead of 3"},
             Row{"the last block is missing", [](auto& blocks) { blocks.pop_back(); },
                 "the tree of the round has 4 leaves at block 5000 instead of 6"},
             Row{"blocks out of order", [](auto& blocks) { std::swap(blocks[0], blocks[1]); },
                 "the leaves of block 12 start at 3 instead of 0"},
             Row{"a block twice", [](auto& blocks) { blocks.insert(blocks.begin(), blocks[0]); },
                 "the chain listed the leaves of block 10 out of order"},
             Row{"a block beyond what was asked",
                 [](auto& blocks) {
                     blocks.push_back({5'001, 6, leaves_of({7})});
                 },
                 "the chain listed the leaves of block 5001 out of order"},
             Row{"no field element", [](auto& blocks) { blocks[2].leaves[1].fill(0xff); },
                 "leaf 5 of the round's tree is no field element"},
         }) {
        CAPTURE(row.label);
        OneRound chain;
        tree::TreeCopy copy = chain.copy({.blocks_first = 100'000});
        chain.source.on_leaves = [&](const auto&, auto& answer) {
            row.spoil(std::get<tree::LeavesRead>(answer).blocks);
        };
        CHECK(reason(copy.follow(chain.tree())) == row.reason);
        CHECK(copy.tree().size() == 0);
        CHECK(copy.confirmed() == 0);
        CHECK(chain.source.calls.size() == 1);  // reading the same again would not help

        chain.source.on_leaves = nullptr;
        CHECK(reason(copy.follow(chain.tree())) == "no trouble");
        CHECK(copy.tree().size() == 6);
    }
}

TEST_CASE("a chain whose root stays wrong is read anew only once") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy({.blocks_first = 100'000});
    REQUIRE_FALSE(copy.follow(chain.tree()));
    chain.source.append(round_id, 5'001, leaves_of({7}));
    tree::LatestTree wrong = chain.tree();
    wrong.root = number(1);
    chain.source.calls.clear();
    CHECK(reason(copy.follow(wrong)) == "the tree of the round does not match the chain's root");
    CHECK(chain.source.calls.size() == 2);  // what was missing, then everything
}

TEST_CASE("what can not be a tree is not read at all") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy({.leaves_max = 5});
    tree::LatestTree target = chain.tree();
    CHECK(reason(copy.follow(target)) == "the tree of the round has 6 leaves, more than 5");
    target.next_index = 5;
    target.height = 0;
    CHECK(reason(copy.follow(target)) == "the chain has no root of the round's tree yet");
    target.height = ~std::uint64_t{0};
    CHECK(reason(copy.follow(target)) == "the chain named a height that can not be");
    CHECK(chain.source.calls.empty());

    target.height = 5'000;  // the blocks hold more than the chain said
    CHECK(reason(copy.follow(target)) == "the tree of the round has more than 5 leaves");
}

TEST_CASE("a reading ends when its time is up, and the next one goes on there") {
    OneRound chain;
    chain.source.append(round_id, 1'000'000, leaves_of({7}));
    chain.source.on_leaves = [&](const auto& call, auto& answer) {
        chain.clock.advance(domain::Milliseconds{4'000});
        auto& read = std::get<tree::LeavesRead>(answer);  // a page of a chain
        read.to_height = std::min(read.to_height, call.from_height + 19'999);
        std::erase_if(read.blocks, [&](const auto& b) { return b.height > read.to_height; });
    };
    tree::TreeCopy copy = chain.copy({.blocks_first = 100'000});
    CHECK(reason(copy.follow(chain.tree())) ==
          "the tree of the round could not be read within 30000 ms; block 160000 of 1000000 is "
          "next");
    CHECK(chain.source.calls.size() == 8);
    CHECK(copy.tree().size() == 6);
    CHECK(copy.confirmed() == 0);

    int tries = 1;
    for (; tries < 20 && copy.follow(chain.tree()); ++tries) {
    }
    CHECK(tries == 6);
    CHECK(copy.confirmed() == 7);
    std::uint64_t next = 0;
    for (const auto& call : chain.source.calls) {
        CHECK(call.from_height == next);  // nothing is read twice
        next = call.from_height + 20'000;
    }
}

TEST_CASE("one time holds for what was there before and for what is read anew") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy();
    REQUIRE_FALSE(copy.follow(chain.tree()));
    chain.source.reset(round_id);
    chain.source.append(round_id, 5'500, leaves_of({9}));
    chain.source.append(round_id, 6'000, leaves_of({1, 2, 3, 4, 5, 6, 7}));
    chain.source.calls.clear();
    chain.source.on_leaves = [&](const auto&, auto&) {
        chain.clock.advance(domain::Milliseconds{29'999});
    };
    CHECK(reason(copy.follow(chain.tree())).starts_with("the tree of the round could not be read"));
    CHECK(chain.source.calls.size() == 2);
    CHECK(chain.source.calls.back().from_height == 0);

    chain.source.on_leaves = nullptr;
    CHECK(reason(copy.follow(chain.tree())) == "no trouble");
    CHECK(copy.tree().root() == chain.tree().root);
}

TEST_CASE("blocks that take long to hash do not use up more time either") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy({.blocks_first = 100'000});
    chain.source.on_leaves = [&](const auto&, auto&) {
        chain.clock.advance(domain::Milliseconds{30'000});
    };
    CHECK(reason(copy.follow(chain.tree())).ends_with("block 0 of 5000 is next"));
    CHECK(copy.tree().size() == 0);
}

TEST_CASE("a height that no chain has takes few calls of a source that always answers") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy();
    tree::LatestTree far = chain.tree();
    far.height = 1'000'000'000'000'000;
    CHECK(reason(copy.follow(far)) == "no trouble");
    CHECK(chain.source.calls.size() < 50);
    far.next_index = 7;
    ++far.height;
    chain.source.calls.clear();
    CHECK(reason(copy.follow(far)) ==
          "the tree of the round has 6 leaves at block 1000000000000001 instead of 7");
    CHECK(chain.source.calls.size() < 50);
}

TEST_CASE("a source hears how many leaves are enough, and more than the target's are not taken") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy({.blocks_first = 11, .leaves_wanted = 4});
    REQUIRE_FALSE(copy.follow(chain.tree()));
    CHECK(chain.source.calls.at(0).leaves_enough == 4);  // of 6 that are missing
    CHECK(chain.source.calls.at(1).leaves_enough == 3);

    // Stopped early: the answer says how far it came.
    chain.source.append(round_id, 6'000, leaves_of({7, 8, 9}));
    const tree::LatestTree target = chain.tree();
    std::uint64_t start = 6;
    chain.source.on_leaves = [&](const auto& call, auto& answer) {
        answer = tree::LeavesRead{{{call.from_height, start, leaves_of({1, 2})}}, call.from_height};
        start += 2;
    };
    chain.source.calls.clear();
    const auto problem = reason(copy.follow(target));
    CHECK(problem == "the leaves of block 0 start at 10 instead of 0");
    CHECK(chain.source.calls.size() == 3);  // 8, 10, which are too many, then anew
    start = 0;
    CHECK(reason(copy.follow(target)) == "the tree of the round has more than 9 leaves");
    CHECK(chain.source.calls.size() == 8);
    CHECK(copy.tree().size() == 0);
}

TEST_CASE("a chain that was reset and has more leaves than are missing is read anew") {
    OneRound chain;
    tree::TreeCopy copy = chain.copy();
    REQUIRE_FALSE(copy.follow(chain.tree()));
    chain.source.reset(round_id);
    chain.source.append(round_id, 5'001, leaves_of({1, 2, 3, 4, 5, 6, 7}));
    CHECK(reason(copy.follow(chain.tree())) == "no trouble");
    CHECK(copy.tree().root() == chain.tree().root);
}

}  // namespace chains::votes
