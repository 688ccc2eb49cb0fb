#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <set>
#include <string>
#include <vector>

#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using namespace chains::votes::prover;
using support::ProverWorld;

ProverOptions pooled(const std::string& fault, const std::string& argument = {}) {
    return support::faulty(fault, ProverFormat::json, ProverLife::pool, argument);
}

std::vector<pid_t> pids_in(const std::filesystem::path& directory) {
    std::vector<pid_t> pids;
    for (const auto& file : std::filesystem::directory_iterator{directory}) {
        pids.push_back(static_cast<pid_t>(std::stol(file.path().filename())));
    }
    return pids;
}

bool has_children() {
    siginfo_t ignored{};
    return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

TEST_CASE("a pool keeps its process") {
    const support::TempDirectory directory;
    ProverWorld world{pooled("counted", directory.path())};
    for (int proof = 0; proof < 5; ++proof) CHECK(world.prove() == "proved");
    CHECK(pids_in(directory.path()).size() == 1);
}

namespace {

// Leaves a file with its number when it starts, before it is asked anything.
ProverOptions marked(const std::filesystem::path& directory, ProverLife life,
                     const std::string& before = "true") {
    ProverOptions options =
        support::faulty("counted", ProverFormat::json, life, directory.string());
    std::vector<std::string> words{"sh", "-c", before + R"(; touch "$0/$$"; exec "$@")",
                                   directory.string()};
    options.command.insert(options.command.begin(), words.begin(), words.end());
    return options;
}

}  // namespace

TEST_CASE("a pool that is told of proofs starts what is missing, and the proofs find it there") {
    const support::TempDirectory directory;
    ProverWorld world{marked(directory.path(), ProverLife::pool)};
    world.prover->expect(3);
    CHECK(support::await([&] { return pids_in(directory.path()).size() == 3; }));
    const std::vector<pid_t> started = pids_in(directory.path());
    for (int proof = 0; proof < 3; ++proof) CHECK(world.prove() == "proved");
    world.prover->expect(2);
    CHECK(world.prove() == "proved");
    CHECK(pids_in(directory.path()).size() == 3);
}

TEST_CASE("what an idle process says to its standard error is read, however much it is") {
    for (const char* before : {"head -c 1000000 /dev/zero >&2", "exec 2>&-"}) {
        CAPTURE(before);
        const support::TempDirectory directory;
        ProverWorld world{marked(directory.path(), ProverLife::pool, before)};
        world.prover->expect(1);
        CHECK(support::await([&] { return pids_in(directory.path()).size() == 1; }));
        CHECK(world.prove() == "proved");
        CHECK(pids_in(directory.path()).size() == 1);
    }
}

TEST_CASE("what is started for each proof is not started ahead, nor after a stop") {
    for (const bool stopped : {false, true}) {
        CAPTURE(stopped);
        const support::TempDirectory directory;
        ProverWorld world{marked(directory.path(), stopped ? ProverLife::pool : ProverLife::fresh)};
        if (stopped) world.prover->stop();
        world.prover->expect(3);
        if (!stopped) CHECK(world.prove() == "proved");
        CHECK(pids_in(directory.path()).size() == (stopped ? 0 : 1));
    }
}

TEST_CASE("a pool whose program can not be started says so with the proof, not ahead of it") {
    ProverOptions options = support::command({"sh", "-c", "exit 3"});
    options.life = ProverLife::pool;
    ProverWorld world{options};
    world.prover->expect(1);
    CHECK(support::await([] { return !has_children(); }));
    CHECK(world.logger.lines().empty());
    CHECK(world.prove() == "not proved: prover ended with exit code 3");
}

TEST_CASE("an idle process that is killed is reaped at once and replaced unnoticed") {
    const support::TempDirectory directory;
    ProverWorld world{pooled("counted", directory.path())};
    CHECK(world.prove() == "proved");
    const pid_t pid = pids_in(directory.path()).front();
    REQUIRE(::kill(pid, SIGKILL) == 0);
    CHECK(support::await([] { return !has_children(); }));
    CHECK(world.prove() == "proved");
    CHECK(pids_in(directory.path()).size() == 2);
}

TEST_CASE("a process that dies after its answer is replaced unnoticed") {
    const support::TempDirectory directory;
    ProverWorld world{pooled("once", directory.path() / "pid")};
    std::set<std::string> pids;
    for (int proof = 0; proof < 4; ++proof) {
        CHECK(world.prove() == "proved");
        pids.insert(support::text_of(directory.path() / "pid"));
    }
    CHECK(pids.size() == 4);
}

TEST_CASE("who died without reading is replaced, who died of the request failed") {
    ProverWorld shy{pooled("shy")};
    for (int proof = 0; proof < 3; ++proof) CHECK(shy.prove() == "proved");
    CHECK(shy.logger.lines().empty());

    ProverWorld shocked{pooled("shocked")};
    CHECK(shocked.prove() == "proved");
    CHECK(shocked.prove() == "not proved: prover ended with exit code 3");
    CHECK(shocked.prove() == "proved");
}

TEST_CASE("a process that failed is not asked again") {
    ProverOptions options = support::command({"sh", "-c", "read line; echo no; sleep 60"});
    options.life = ProverLife::pool;
    ProverWorld wrong{options};
    CHECK(wrong.prove() == "not proved: no usable answer of the prover: answer is no JSON object");
    CHECK_FALSE(has_children());
    CHECK(wrong.prove() == "not proved: no usable answer of the prover: answer is no JSON object");
}

TEST_CASE("an idle process that speaks unasked is not believed") {
    const support::TempDirectory directory;
    const std::string go = directory.path() / "go";
    const std::string said = directory.path() / "said";
    ProverOptions options = support::faulty("blurt", ProverFormat::json, ProverLife::pool, go);
    options.command.push_back(said);
    ProverWorld world{options};
    CHECK(world.prove() == "proved");
    std::filesystem::create_directory(go);
    REQUIRE(support::await([&said] { return std::filesystem::exists(said); }));
    std::filesystem::remove(go);
    CHECK(world.prove() == "proved");
}

TEST_CASE("a stop ends idle processes") {
    ProverWorld world{pooled("good")};
    CHECK(world.prove() == "proved");
    CHECK(has_children());
    world.prover->stop();
    CHECK(support::await([] { return !has_children(); }));
    CHECK(world.prove() == "unreachable: stopped");
    CHECK_FALSE(world.prover->problem());
}
