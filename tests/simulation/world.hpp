#pragma once

#include <cstdint>
#include <string>

namespace simulation {

// What a run did, to see that it was worth something.
struct Tally {
    std::uint64_t steps = 0;
    std::uint64_t accepted = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t refused = 0;
    std::uint64_t crashes = 0;
    std::uint64_t clock_steps = 0;
    std::uint64_t moves = 0;
    std::uint64_t inclusions = 0;
    std::uint64_t completed = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t failed = 0;
    std::uint64_t stops = 0;   // orderly ends, counted among the crashes as well
    std::uint64_t alerts = 0;  // rounds that ended with unrevealed shares

    Tally& operator+=(const Tally& other);
};

[[nodiscard]] std::string to_string(const Tally& tally);

// Lives through everything the seed throws at the engine on the embedded chain and checks, after
// each step: no accepted request lost, no illegal move, ended rows frozen, gates never exceeded,
// lines and rows agree, at most one inclusion per request, an alert exactly for rounds that end
// with something unrevealed and never again once taken; at the end: every request terminal.
// Throws std::logic_error with the seed in its text when a promise is broken. The same seed does
// the same things.
Tally run(std::uint64_t seed);

}  // namespace simulation
