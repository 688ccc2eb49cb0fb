#include <doctest/doctest.h>

#include <future>
#include <string>
#include <vector>

#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using namespace chains::votes::prover;
using namespace chains::votes;
using support::ProverWorld;

constexpr ProverFormat formats[] = {ProverFormat::json, ProverFormat::binary};
constexpr ProverLife lives[] = {ProverLife::fresh, ProverLife::pool};

ProverOptions example(ProverFormat format, ProverLife life) {
    ProverOptions options = support::command({PROVER_PYTHON, "-S", EXAMPLE_PROVER});
    options.format = format;
    options.life = life;
    if (format == ProverFormat::binary) options.command.push_back("--binary");
    if (life == ProverLife::pool) options.command.push_back("--pool");
    return options;
}

}  // namespace

// Its proof is a hash of all that it was given.
TEST_CASE("the example prover gets the whole witness in both formats and lives") {
    ProverWorld loopback{support::loopback()};
    for (const ProverFormat format : formats) {
        for (const ProverLife life : lives) {
            CAPTURE(format);
            CAPTURE(life);
            ProverWorld world{example(format, life)};
            for (std::uint8_t number = 1; number < 4; ++number) {
                const Witness witness = support::witness(number);
                const ProveOutcome outcome = world.prover->prove(witness);
                REQUIRE(support::words(outcome) == "proved");
                const auto expected = std::get<Proof>(loopback.prover->prove(witness));
                CHECK(std::get<Proof>(outcome).bytes == expected.bytes);
                CHECK(std::get<Proof>(outcome).nullifier == expected.nullifier);
            }
            CHECK_FALSE(world.prover->problem());
            CHECK(world.logger.lines().empty());
        }
    }
}

TEST_CASE("the example prover refuses, and a pool asks it again") {
    Witness unknown = support::witness();
    unknown.share_index = 16;
    for (const ProverFormat format : formats) {
        for (const ProverLife life : lives) {
            CAPTURE(format);
            CAPTURE(life);
            ProverWorld world{example(format, life)};
            const std::string text = "prover error -1 (invalid inputs): share_index is above 15";
            CHECK(support::words(world.prover->prove(unknown)) == "not proved: " + text);
            CHECK(world.prover->problem() == text);
            CHECK(world.prove() == "proved");
            CHECK_FALSE(world.prover->problem());
        }
    }
}

TEST_CASE("proofs are made at once, by as many processes") {
    for (const ProverLife life : lives) {
        CAPTURE(life);
        const support::TempDirectory directory;
        ProverWorld world{support::faulty("counted", ProverFormat::binary, life, directory.path())};
        std::vector<std::future<std::string>> threads;
        for (int thread = 0; thread < 3; ++thread) {
            threads.push_back(std::async(std::launch::async, [&world] {
                for (int round = 0; round < 4; ++round) {
                    if (const std::string outcome = world.prove(); outcome != "proved") {
                        return outcome;
                    }
                }
                return std::string("proved");
            }));
        }
        for (auto& thread : threads) CHECK(thread.get() == "proved");
        std::size_t processes = 0;
        for ([[maybe_unused]] const auto& file :
             std::filesystem::directory_iterator{directory.path()}) {
            ++processes;
        }
        if (life == ProverLife::fresh) CHECK(processes == 12);
        if (life == ProverLife::pool) CHECK(processes <= 3);
    }
}

TEST_CASE("a relative program is looked up in PATH") {
    ProverWorld world{support::command(
        {"sh", "-c", "read line; exec " PROVER_PYTHON " -S " FAULTY_PROVER " hasty"})};
    CHECK(world.prove() == "proved");
}
