#include "engine/stored_rounds.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/world.hpp"

using engine::Round;
using engine::RoundAnswer;
using engine::UnknownRound;
using engine::Unreachable;
using namespace std::chrono_literals;

namespace {

struct ScriptedChain : engine::RoundDirectory {
    RoundAnswer find(const domain::Bytes32&) override {
        ++calls;
        return answer;
    }

    RoundAnswer answer = Unreachable{"the chain is away"};
    int calls = 0;
};

const domain::Bytes32 first_round = support::vote_share(1).round_id;
const domain::Bytes32 other_round = support::numbered<domain::Bytes32>(2);

domain::Timestamp end_of(const RoundAnswer& answer) {
    REQUIRE(is<Round>(answer));
    return std::get<Round>(answer).vote_end;
}

}  // namespace

TEST_CASE("a round that a share is stored of keeps its end, whatever the chain says") {
    support::World world;
    const domain::Timestamp end = world.engine.vote_end;
    (void)world.submit(support::vote_share(1));
    world.restart();
    ScriptedChain chain;
    engine::StoredRounds rounds(world.engine.process().reader, chain);
    for (const RoundAnswer& answer : {RoundAnswer{Unreachable{"away"}}, RoundAnswer{UnknownRound{}},
                                      RoundAnswer{Round{end - 1h}}, RoundAnswer{Round{end + 1h}}}) {
        CAPTURE(answer.index());
        chain.answer = answer;
        CHECK(end_of(rounds.find(first_round)) == end);
    }
    CHECK(chain.calls == 0);
}

TEST_CASE("a round that is over and closed keeps its end as well") {
    support::World world;
    world.engine.vote_end = std::chrono::floor<std::chrono::seconds>(world.clock.wall()) + 10s;
    (void)world.submit(support::vote_share(1));
    world.run_for(2min);
    REQUIRE(world.number("select closed from round") == 1);
    REQUIRE(world.number("select count(*) from request") == 0);
    ScriptedChain chain;
    chain.answer = Round{world.engine.vote_end + 1h};
    engine::StoredRounds rounds(world.engine.process().reader, chain);
    CHECK(end_of(rounds.find(first_round)) == world.engine.vote_end);
}

TEST_CASE("any other round is the chain's to know, each time") {
    support::World world;
    (void)world.submit(support::vote_share(1));
    ScriptedChain chain;
    engine::StoredRounds rounds(world.engine.process().reader, chain);
    CHECK(is<Unreachable>(rounds.find(other_round)));
    chain.answer = UnknownRound{};
    CHECK(is<UnknownRound>(rounds.find(other_round)));
    chain.answer = Round{domain::from_unix_ms(7'000)};
    CHECK(end_of(rounds.find(other_round)) == domain::from_unix_ms(7'000));
    CHECK(chain.calls == 3);
}

TEST_CASE("when the store can not be read the chain is asked") {
    const support::TempDirectory empty;
    store::Options options;
    options.directory = empty.path();
    store::Reader reader(options, 1);
    ScriptedChain chain;
    engine::StoredRounds rounds(reader, chain);

    const RoundAnswer nobody = rounds.find(first_round);
    REQUIRE(is<Unreachable>(nobody));
    const std::string& reason = std::get<Unreachable>(nobody).reason;
    CHECK(reason.starts_with("the chain is away; stored rounds: "));
    chain.answer = UnknownRound{};
    CHECK(is<UnknownRound>(rounds.find(first_round)));
    chain.answer = Round{domain::from_unix_ms(7'000)};
    CHECK(end_of(rounds.find(first_round)) == domain::from_unix_ms(7'000));
}
