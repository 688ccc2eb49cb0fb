#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using namespace chains::votes::prover;
using support::ProverWorld;

struct Row {
    std::string fault;
    std::string fresh;  // outcome
    std::string pool;   // empty: the same
};

const std::string unusable = "not proved: no usable answer of the prover: ";

}  // namespace

TEST_CASE("whatever goes wrong in a prover costs an attempt, what comes from outside does not") {
    const std::vector<Row> rows{
        {"good", "proved", ""},
        {"longest_proof", "proved", ""},
        {"refuse",
         "not proved: prover error -3 (non-canonical field element or bad point): "
         "not canonical",
         ""},
        {"exit_1", "not proved: prover ended with exit code 1", ""},
        {"exit_1_with_proof", "not proved: prover ended with exit code 1", "proved"},
        {"exit_1_with_error", "not proved: prover error -5 (proving failed): no luck", ""},
        {"segfault", "not proved: prover died of signal 11", ""},
        {"abort", "not proved: prover died of signal 6", ""},
        {"killed", "unreachable: prover was killed by signal 9", ""},
        {"terminated", "unreachable: prover was killed by signal 15", ""},
        {"flood", "not proved: prover wrote more than 64 KiB", ""},
        {"silent", unusable + "no answer", ""},
        {"empty_proof", unusable + "proof is empty", ""},
        {"long_proof", unusable + "proof of 8193 bytes is too long", ""},
    };
    for (const ProverFormat format : {ProverFormat::json, ProverFormat::binary}) {
        for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
            for (const Row& row : rows) {
                CAPTURE(format);
                CAPTURE(life);
                CAPTURE(row.fault);
                ProverWorld world{support::faulty(row.fault, format, life)};
                const bool same = life == ProverLife::fresh || row.pool.empty();
                const std::string& outcome = same ? row.fresh : row.pool;
                const std::string said = world.prove();
                // A flood may begin with what looks like a length: it depends on how much of it
                // comes at once whether its length or its size is noticed first.
                if (row.fault == "flood" && format == ProverFormat::binary &&
                    life == ProverLife::pool && said != outcome) {
                    CHECK(said == unusable + "answer is not as long as it says");
                    continue;
                }
                CHECK(said == outcome);
            }
        }
    }
}

TEST_CASE("answers that are none") {
    struct Case {
        std::string fault;
        ProverFormat format;
        ProverLife life;
        std::string outcome;
    };
    constexpr auto json = ProverFormat::json;
    constexpr auto binary = ProverFormat::binary;
    constexpr auto fresh = ProverLife::fresh;
    constexpr auto pool = ProverLife::pool;
    const std::vector<Case> cases{
        {"garbage", json, fresh, unusable + "answer is no JSON object"},
        {"garbage", json, pool, unusable + "answer is no JSON object"},
        {"garbage", binary, fresh, unusable + "answer too short"},
        {"garbage", binary, pool, unusable + "answer too short"},
        {"partial", json, fresh, unusable + "answer is no JSON object"},
        {"partial", json, pool, unusable + "answer is no JSON object"},
        {"partial", binary, fresh, unusable + "answer is not as long as it says"},
        {"partial", binary, pool, unusable + "answer is not as long as it says"},
        {"short_nullifier", json, fresh, unusable + "share_nullifier is not 32 bytes of hex"},
        {"chatty", json, fresh, unusable + "answer is no JSON object"},
        {"chatty", json, pool, unusable + "answer is no JSON object"},
        {"chatty", binary, fresh, unusable + "answer is not as long as it says"},
        {"mute", json, pool, "not proved: prover closed its output without an answer"},
    };
    for (const Case& row : cases) {
        CAPTURE(row.fault);
        CAPTURE(row.format);
        CAPTURE(row.life);
        ProverWorld world{support::faulty(row.fault, row.format, row.life)};
        CHECK(world.prove() == row.outcome);
    }
}

TEST_CASE("an answer is taken from who does not wait for the request") {
    ProverWorld world{support::faulty("hasty")};
    CHECK(world.prove() == "proved");
}

TEST_CASE("a prover that takes too long is killed, whatever it does about signals") {
    const std::string hang = "echo $$ > \"$0\"; while :; do sleep 60; done";
    struct Hang {
        ProverLife life;
        std::string script;
    };
    const std::vector<Hang> rows{
        {ProverLife::fresh, "read line; trap '' TERM INT HUP; " + hang},
        {ProverLife::pool, "read line; trap '' TERM INT HUP; " + hang},
        {ProverLife::fresh, "exec >&-; " + hang},
        {ProverLife::pool, hang},
    };
    for (const Hang& row : rows) {
        CAPTURE(row.script);
        const support::TempDirectory directory;
        const std::filesystem::path pid = directory.path() / "pid";
        ProverOptions options = support::command({"/bin/sh", "-c", row.script, pid});
        options.life = row.life;
        options.timeout = domain::Milliseconds{700};
        ProverWorld world{options};
        CHECK(world.prove() == "not proved: no proof in 700 ms");
        REQUIRE(std::filesystem::exists(pid));
        CHECK(support::is_gone(support::await_pid(pid)));
    }
}

TEST_CASE("a prover that needs more memory than it may have fails") {
    ProverOptions options = support::faulty("eat");
    options.memory_bytes_max = 200'000'000;
    ProverWorld world{options};
    CHECK(world.prove() == "not proved: prover ended with exit code 1");
    CHECK(world.logger.count("text=\"Traceback") == 1);
    CHECK(world.logger.count("MemoryError") == 1);
    options.command[3] = "good";
    CHECK(ProverWorld{options}.prove() == "proved");
}

TEST_CASE("what a prover says on the side never blocks it, and is told when it failed") {
    for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
        CAPTURE(life);
        ProverWorld chatter{support::faulty("chatter", ProverFormat::json, life)};
        CHECK(chatter.prove() == "proved");
        CHECK(chatter.prove() == "proved");
        CHECK(chatter.logger.lines().empty());
    }
    ProverWorld world{support::command({"sh", "-c", "echo no keys >&2; exit 3"})};
    CHECK(world.prove() == "not proved: prover ended with exit code 3");
    REQUIRE(world.logger.lines().size() == 1);
    CHECK(world.logger.lines().front().level == ports::LogLevel::warning);
    CHECK(world.logger.lines().front().text ==
          "prover_stderr error=\"prover ended with exit code 3\" text=\"no keys\"");
}

TEST_CASE("a prover that prints its input does not bring it into log or reason") {
    ProverWorld world{support::faulty("confess")};
    CHECK(world.prove() == "not proved: prover error -5 (proving failed): bad point …");
    REQUIRE(world.logger.lines().size() == 1);
    const std::string line = world.logger.lines().front().text;
    CHECK(line.find("panicked: …") != std::string::npos);
    const auto c1 = support::witness().c1;
    CHECK(line.find(domain::to_hex(c1).substr(0, 8)) == std::string::npos);
    CHECK(line.find(std::to_string(c1[0]) + ", " + std::to_string(c1[1])) == std::string::npos);
}
