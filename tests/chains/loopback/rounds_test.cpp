#include <doctest/doctest.h>

#include "chains/loopback/harness.hpp"

using namespace engine;

TEST_CASE("without configuration every round exists until 2100") {
    Harness harness;
    for (const std::uint8_t fill : domain::Bytes{0x00, 0x52, 0xff}) {
        domain::Bytes32 round{};
        round.fill(fill);
        const auto answer = harness.gateway->find(round);
        REQUIRE(is<Round>(answer));
        CHECK(domain::unix_ms(std::get<Round>(answer).vote_end) == 4'102'444'800'000);
    }
}

TEST_CASE("configured rounds are the only ones") {
    chains::loopback::Options options;
    domain::Bytes32 one{};
    one.fill(1);
    domain::Bytes32 two{};
    two.fill(2);
    options.rounds = {{one, domain::from_unix_ms(1'000)}, {two, domain::from_unix_ms(2'000)}};
    Harness harness{options};
    CHECK(std::get<Round>(harness.gateway->find(one)).vote_end == domain::from_unix_ms(1'000));
    CHECK(std::get<Round>(harness.gateway->find(two)).vote_end == domain::from_unix_ms(2'000));
    CHECK(is<UnknownRound>(harness.gateway->find({})));
}
