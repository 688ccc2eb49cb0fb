#include "chains/evm/nonces.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <set>
#include <vector>

using chains::evm::Nonces;
using namespace std::chrono_literals;

namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr domain::Monotonic start{1h};

engine::Sealed sealed(std::uint64_t nonce) {
    engine::Sealed sealed;
    sealed.nonce = nonce;
    return sealed;
}

// A chain that told its count once.
struct At : Nonces {
    explicit At(std::uint64_t count) { static_cast<void>(observe(count, start)); }
};

}  // namespace

TEST_CASE("a leap of the count has to be heard three times over five seconds") {
    Nonces nonces;
    const auto at = [](domain::Nanoseconds time) { return start + time; };
    CHECK_FALSE(nonces.observe(7, at(0s)));
    CHECK_FALSE(nonces.observe(1'000'007, at(1s)));
    CHECK(nonces.next() == 7);
    SUBCASE("said once") {
        CHECK_FALSE(nonces.observe(7, at(2s)));
        CHECK_FALSE(nonces.observe(1'000'007, at(20s)));
        CHECK(nonces.next() == 7);
    }
    SUBCASE("said for a while") {
        CHECK_FALSE(nonces.observe(1'000'009, at(3s)));
        CHECK_FALSE(nonces.observe(1'000'008, at(4s)));
        CHECK(nonces.next() == 7);
        CHECK_FALSE(nonces.observe(1'000'010, at(6s)));
        CHECK(nonces.next() == 1'000'007);
    }
    SUBCASE("others who use the key a little surprise nobody") {
        CHECK_FALSE(nonces.observe(40, at(2s)));
        CHECK(nonces.next() == 40);
    }
}

TEST_CASE("nonces follow one another from the chain's count on, and nobody gets one twice") {
    Nonces nonces;
    CHECK_FALSE(nonces.known());
    CHECK_FALSE(nonces.next());
    CHECK_FALSE(nonces.observe(10, start));
    REQUIRE(nonces.known());
    for (const std::uint64_t expected : {10U, 11U, 12U}) CHECK(nonces.take() == expected);
    CHECK(nonces.held() == 3);
    CHECK(nonces.next() == 13);
}

TEST_CASE("the distance counts what is not used yet, by receipts or by the chain's count") {
    Nonces nonces;
    CHECK_FALSE(nonces.distance(7));
    CHECK_FALSE(nonces.observe(10, start));
    CHECK(nonces.distance(std::nullopt) == 0);
    for (int i = 0; i < 3; ++i) static_cast<void>(nonces.take());
    CHECK(nonces.distance(std::nullopt) == 3);
    nonces.used(10);
    CHECK(nonces.distance(10) == 2);  // a count that is older than the receipt
    CHECK(nonces.distance(12) == 1);
    CHECK(nonces.distance(20) == 0);
}

TEST_CASE("a number that was given back goes to the next, and larger ones wait until it has left") {
    At nonces{5};
    for (const std::uint64_t expected : {5U, 6U, 7U}) CHECK(nonces.take() == expected);
    nonces.keep();
    nonces.mark_sent(5);
    CHECK(nonces.may_send(6));
    nonces.give_back(6);
    CHECK_FALSE(nonces.may_send(7));
    CHECK(nonces.next() == 6);
    CHECK(nonces.take() == 6);
    nonces.keep();
    CHECK(nonces.may_send(6));
    CHECK_FALSE(nonces.may_send(7));
    nonces.mark_sent(6);
    CHECK(nonces.may_send(7));
    // Nobody comes: it is filled.
    nonces.give_back(6);
    CHECK_FALSE(nonces.may_send(7));
    CHECK(nonces.take_holes(5, 8, start).nonces == Numbers{6});
    CHECK(nonces.next() == 8);
    CHECK(nonces.hold_hole(6));
    CHECK_FALSE(nonces.hold_hole(6));
    CHECK_FALSE(nonces.may_send(7));
    nonces.mark_sent(6);
    CHECK(nonces.may_send(7));
    // The last one is simply the next again; twice is once.
    CHECK(nonces.take() == 8);
    nonces.keep();
    nonces.give_back(8);
    nonces.give_back(8);
    CHECK(nonces.next() == 8);
    CHECK(nonces.may_send(7));
}

TEST_CASE("what was given back below the chain's count holds nobody up") {
    At nonces{5};
    for (int i = 0; i < 3; ++i) static_cast<void>(nonces.take());
    nonces.keep();
    nonces.mark_sent(5);
    nonces.give_back(6);
    CHECK_FALSE(nonces.may_send(7));
    CHECK_FALSE(nonces.observe(7, start));
    CHECK(nonces.may_send(7));
}

TEST_CASE("a step that is rolled back gives its nonces back, a committed one does not") {
    At nonces{5};
    CHECK(nonces.take() == 5);
    nonces.keep();
    CHECK(nonces.take() == 6);
    CHECK(nonces.take() == 7);
    nonces.undo();
    CHECK(nonces.take() == 6);
    nonces.keep();
    nonces.undo();
    CHECK(nonces.take() == 7);
}

TEST_CASE("what was in flight before a restart keeps its nonces (field report 5)") {
    Nonces nonces;
    nonces.restore({sealed(11), sealed(10), sealed(11), sealed(13)});
    CHECK_FALSE(nonces.observe(10, start));
    CHECK(nonces.take() == 12);
    CHECK(nonces.take() == 14);
}

TEST_CASE("an answer of a lagging node does not bring used nonces back (field report 8)") {
    At nonces{8};
    CHECK(nonces.take() == 8);
    nonces.used(8);
    std::vector<std::uint64_t> given;
    for (int job = 0; job < 4; ++job) {
        for (const std::uint64_t said : {9U, 8U, 9U, 8U}) {
            CHECK_FALSE(nonces.observe(said, start + std::chrono::seconds{job}));
        }
        given.push_back(nonces.take());
        nonces.used(given.back());
    }
    CHECK(given == std::vector<std::uint64_t>{9, 10, 11, 12});
}

TEST_CASE("the chain's count moves the next one up over what others sent with the key") {
    At nonces{3};
    CHECK(nonces.take() == 3);
    CHECK_FALSE(nonces.observe(7, start));
    CHECK(nonces.take() == 7);
}

TEST_CASE("a chain that went back is believed after three answers over five seconds") {
    At nonces{100};
    const auto later = [](int seconds) { return start + std::chrono::seconds{seconds}; };
    CHECK_FALSE(nonces.observe(0, later(1)));
    CHECK_FALSE(nonces.observe(2, later(2)));
    CHECK_FALSE(nonces.observe(2, later(5)));
    CHECK(nonces.next() == 100);
    CHECK(nonces.observe(1, later(6)));
    CHECK(nonces.next() == 2);

    At doubted{100};
    CHECK_FALSE(doubted.observe(99, later(1)));
    CHECK_FALSE(doubted.observe(99, later(4)));
    CHECK_FALSE(doubted.observe(100, later(5)));  // it was only late
    CHECK_FALSE(doubted.observe(99, later(7)));
    CHECK_FALSE(doubted.observe(99, later(8)));
    CHECK(doubted.next() == 100);
}

TEST_CASE("a hole below what is held is given to the next request, or to who fills it") {
    Nonces nonces;
    nonces.restore({sealed(5), sealed(8)});
    CHECK_FALSE(nonces.observe(4, start));
    const auto first = nonces.take_holes(4, 2, start);
    CHECK(first.nonces == Numbers{4, 6});
    CHECK(first.left == 1);
    CHECK(nonces.take_holes(4, 2, start + 29s).nonces.empty());  // they are being filled
    CHECK(nonces.take() == 7);
    nonces.give_hole_back(6);
    CHECK(nonces.take_holes(4, 2, start + 29s).nonces.empty());
    const auto again = nonces.take_holes(4, 2, start + 30s);  // they did not come on chain
    CHECK(again.nonces == Numbers{4, 6});
    CHECK(again.left == 0);
    CHECK_FALSE(nonces.observe(9, start + 32s));
    CHECK(nonces.take_holes(9, 2, start + 32s).nonces.empty());
    CHECK(nonces.take() == 9);
}

TEST_CASE("a nonce its request needs no more is there for the next one") {
    At nonces{5};
    CHECK(nonces.take() == 5);
    CHECK(nonces.take() == 6);
    nonces.used(5);
    nonces.release(6);
    CHECK(nonces.take() == 6);
}

TEST_CASE("there is no hole above what is held") {
    At nonces{5};
    CHECK(nonces.take_holes(5, 9, start).nonces.empty());
    CHECK(nonces.take() == 5);
    CHECK(nonces.take_holes(5, 9, start).nonces.empty());
}

TEST_CASE("over any history no nonce is held twice and none is left out") {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        At nonces{0};
        std::set<std::uint64_t> held;
        std::uint64_t on_chain = 0;
        std::vector<std::uint64_t> uncommitted;
        for (int step = 0; step < 300; ++step) {
            switch (random() % 5) {
                case 0:
                case 1:
                    uncommitted.push_back(nonces.take());
                    REQUIRE_FALSE(held.contains(uncommitted.back()));
                    held.insert(uncommitted.back());
                    break;
                case 2:
                    nonces.keep();
                    uncommitted.clear();
                    break;
                case 3:
                    nonces.undo();
                    for (const std::uint64_t nonce : uncommitted) held.erase(nonce);
                    uncommitted.clear();
                    break;
                case 4:
                    nonces.keep();
                    uncommitted.clear();
                    if (held.contains(on_chain)) {
                        nonces.used(on_chain);
                        held.erase(on_chain++);
                    }
                    break;
            }
        }
        // What is held follows the chain's count without a hole.
        std::uint64_t expected = on_chain;
        for (const std::uint64_t nonce : held) CHECK(nonce == expected++);
        CHECK(nonces.next() == expected);
    }
}

TEST_CASE("a nonce may leave once all smaller ones that are held have left") {
    At nonces{5};
    for (const std::uint64_t expected : {5U, 6U, 7U}) REQUIRE(nonces.take() == expected);
    CHECK(nonces.may_send(5));
    CHECK_FALSE(nonces.may_send(6));
    nonces.mark_sent(5);
    CHECK(nonces.may_send(6));
    CHECK_FALSE(nonces.may_send(7));
    nonces.mark_sent(6);
    CHECK(nonces.may_send(7));
    nonces.mark_unsent(5);  // the node never got it
    CHECK_FALSE(nonces.may_send(6));
    CHECK_FALSE(nonces.may_send(7));
    nonces.used(5);
    CHECK(nonces.may_send(7));
    CHECK_FALSE(nonces.observe(7, start));
    nonces.mark_unsent(6);  // used on chain: in nobody's way
    CHECK(nonces.may_send(7));
}

TEST_CASE("a number in a block stays held until the block is buried") {
    const domain::Block block{7, {1}};
    const domain::Block other{7, {2}};
    Nonces nonces;
    CHECK_FALSE(nonces.observe(5, start));
    CHECK(nonces.take() == 5);
    nonces.keep();
    nonces.included(5, block);
    CHECK(nonces.held() == 0);
    CHECK(nonces.next() == 6);

    // The chain went back: it is nobody else's, and no hole.
    for (int i = 0; i < 3; ++i) static_cast<void>(nonces.observe(5, start + i * 3s));
    CHECK(nonces.next() == 6);
    CHECK(nonces.take() == 6);
    nonces.keep();
    CHECK(nonces.take_holes(5, 10, start + 10s).nonces.empty());
    // Its own bytes leave first.
    CHECK_FALSE(nonces.may_send(6));
    nonces.hold(5);
    CHECK(nonces.held() == 2);
    CHECK(nonces.may_send(5));
    nonces.mark_sent(5);
    CHECK(nonces.may_send(6));

    nonces.included(5, other);
    nonces.bury(block);
    for (int i = 0; i < 3; ++i) static_cast<void>(nonces.observe(5, start + 20s + i * 3s));
    CHECK(nonces.next() == 7);
    nonces.bury(other);
    CHECK(nonces.next() == 5);
}

TEST_CASE("numbers in blocks are held from before the start") {
    const domain::Block block{7, {1}};
    Nonces nonces;
    nonces.restore({{6, {}, {}, {}}}, {{5, block}});
    CHECK_FALSE(nonces.known());
    CHECK(nonces.held() == 1);
    CHECK_FALSE(nonces.observe(5, start));
    CHECK(nonces.next() == 7);
    nonces.bury(block);
    CHECK(nonces.next() == 5);
}
