#include "chains/votes/tree/vote_commitment.hpp"

#include <doctest/doctest.h>

#include "chains/votes/fields.hpp"
#include "chains/votes/naive_pallas.hpp"

namespace chains::votes {

TEST_CASE("a vote commitment is what the reference computes") {
    // The frozen vector of the voting-circuits crate.
    const auto hash = tree::PallasCommitmentHash().hash(number(42), number(100), 7, 1);
    REQUIRE(hash.has_value());
    CHECK(domain::to_hex(*hash) ==
          "f65430b2e3b2ea4702b2b1d3ee78ee9dae051df44c80faf58b8954f66cc52f1f");
}

TEST_CASE("a vote commitment depends on all of its parts") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 10; ++i) {
        const auto round = naive::random_element(random);
        const auto shares = naive::random_element(random);
        const auto proposal = static_cast<std::uint32_t>(random());
        const auto decision = static_cast<std::uint32_t>(random());
        const auto expected =
            naive::hash({naive::Number(1), naive::Number(round), naive::Number(shares),
                         naive::Number(proposal), naive::Number(decision)});
        CHECK(tree::PallasCommitmentHash().hash(round, shares, proposal, decision) ==
              expected.bytes());
    }
}

TEST_CASE("there is no vote commitment of what is no field element") {
    const auto prime = naive::Number::prime().bytes();
    CHECK_FALSE(tree::PallasCommitmentHash().hash(prime, number(1), 1, 0).has_value());
    CHECK_FALSE(tree::PallasCommitmentHash().hash(number(1), prime, 1, 0).has_value());
}

}  // namespace chains::votes
