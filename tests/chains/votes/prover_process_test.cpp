#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using support::ProverWorld;
using Json = nlohmann::json;

// What a program of ours sees of itself.
Json seen_by(ProverOptions options) {
    const support::TempDirectory directory;
    options.command.push_back(directory.path() / "seen");
    ProverWorld world{options};
    REQUIRE(world.prove() == "proved");
    return Json::parse(support::text_of(directory.path() / "seen"));
}

std::vector<std::string> names_in(const std::string& environment) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < environment.size();) {
        const std::size_t end = std::min(environment.find('\0', begin), environment.size());
        const std::string entry = environment.substr(begin, end - begin);
        names.push_back(entry.substr(0, entry.find('=')));
        begin = end + 1;
    }
    return names;
}

// A process that lives on its own: does as told, then waits for its end.
template <typename Task>
pid_t in_another_process(const Task& task) {
    const pid_t child = ::fork();
    if (child == 0) {
        task();
        ::_exit(0);
    }
    return child;
}

}  // namespace

TEST_CASE("a prover is given the variables it may have, and no witness outside its input") {
    ::setenv("POSTHOUSE_HELPER__API_TOKEN", "secret", 1);
    ::setenv("PROVER_THREADS", "2", 1);
    ::setenv("TMPDIR", "/tmp", 1);
    ProverOptions options = support::faulty("surroundings");
    options.pass_environment = {"PROVER_THREADS", "PATH", "PROVER_ABSENT"};
    const Json seen = seen_by(options);
    for (const std::string& name : names_in(seen.at("environ"))) {
        CAPTURE(name);
        const std::vector<std::string> may{"PATH", "HOME", "LANG", "TMPDIR", "PROVER_THREADS"};
        CHECK(std::ranges::count(may, name) == 1);
    }
    const std::string all =
        seen.at("environ").get<std::string>() + seen.at("cmdline").get<std::string>();
    CHECK(all.find("PROVER_THREADS=2") != std::string::npos);
    CHECK(all.find("TMPDIR=/tmp") != std::string::npos);
    CHECK(all.find("PATH=") == all.rfind("PATH="));
    CHECK(all.find("surroundings") != std::string::npos);
    const auto witness = support::witness();
    for (const auto& secret : {witness.c1, witness.c2, witness.primary_blind, witness.round_id}) {
        CHECK(all.find(domain::to_hex(secret).substr(0, 8)) == std::string::npos);
    }
    ::unsetenv("POSTHOUSE_HELPER__API_TOKEN");
    ::unsetenv("PROVER_THREADS");
}

TEST_CASE("a prover inherits no descriptors, no signal mask and no core dumps") {
    const int inherited = ::fcntl(0, F_DUPFD, 20);  // without close-on-exec
    sigset_t blocked;
    sigset_t before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ::sigaddset(&blocked, SIGHUP);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    ProverOptions options = support::faulty("surroundings");
    options.memory_bytes_max = 300'000'000;
    const Json seen = seen_by(options);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(inherited);
    CHECK(seen.at("descriptors") == Json({0, 1, 2, 3}));  // the last: of reading the list
    CHECK(seen.at("blocked") == "SigBlk:\t0000000000000000");
    CHECK(seen.at("leads_group") == true);
    CHECK(seen.at("core").get<int>() <= 1);
    CHECK(seen.at("data") == 300'000'000);
}

TEST_CASE("signals that are ignored here end a prover all the same") {
    const auto before = ::signal(SIGTERM, SIG_IGN);
    ProverWorld world{support::faulty("terminated")};
    CHECK(world.prove() == "unreachable: prover was killed by signal 15");
    ::signal(SIGTERM, before);
}

TEST_CASE("exit codes are known to who was started with SIGCHLD ignored") {
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    ProverWorld world{support::faulty("exit_1")};
    CHECK(world.prove() == "not proved: prover ended with exit code 1");
    ::signal(SIGCHLD, before);
}

TEST_CASE("two hundred proofs leave neither descriptors nor processes") {
    const std::string script =
        R"(read line; printf '{"proof":"07","share_nullifier":"%064d"}\n' 5)";
    for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
        CAPTURE(life);
        ProverOptions options = support::command({"/bin/sh", "-c", script});
        options.life = life;  // ends after each proof all the same
        const std::size_t before = support::descriptors_open();
        {
            ProverWorld world{options};
            CHECK(world.prove() == "proved");
            const std::size_t open = support::descriptors_open();
            std::size_t proved = 0;
            for (int proof = 0; proof < 200; ++proof) proved += world.prove() == "proved" ? 1U : 0U;
            CHECK(proved == 200);
            CHECK(support::await([open] { return support::descriptors_open() <= open; }));
            if (life == ProverLife::fresh) CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
        }
        CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
        CHECK(support::descriptors_open() == before);
    }
}

TEST_CASE("failed starts leave nothing behind either") {
    const support::TempDirectory directory{support::TempDirectory::For::programs};
    const std::filesystem::path program = directory.path() / "prover";
    std::filesystem::copy("/bin/sh", program);
    ProverWorld world{support::command({program})};
    std::filesystem::remove(program);
    const std::size_t open = support::descriptors_open();
    for (int proof = 0; proof < 20; ++proof) {
        CHECK(world.prove().starts_with("unreachable: prover can not be started"));
    }
    CHECK(support::descriptors_open() == open);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a prover does not outlive us, even when we are killed") {
    for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
        CAPTURE(life);
        const support::TempDirectory directory;
        const std::filesystem::path file = directory.path() / "pid";
        const pid_t us = in_another_process([&file, life] {
            ProverWorld world{support::faulty("hang_on", ProverFormat::json, life, file)};
            [[maybe_unused]] const auto outcome = world.prove();
        });
        const pid_t prover = support::await_pid(file);
        REQUIRE(prover > 0);
        CHECK_FALSE(support::is_gone(prover));
        ::kill(us, SIGKILL);
        CHECK(support::await([prover] { return support::is_gone(prover); }));
        ::waitpid(us, nullptr, 0);
    }
}
