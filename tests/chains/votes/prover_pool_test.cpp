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
