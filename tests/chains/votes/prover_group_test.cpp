#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "chains/votes/prover/command_exchange.hpp"
#include "chains/votes/prover/command_launch.hpp"
#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using namespace chains::votes::prover;
using namespace chains::votes;
using support::ProverWorld;

}  // namespace

TEST_CASE("children of a prover hold nobody up and do not stay") {
    struct Row {
        std::string fault;
        std::string outcome;
    };
    const std::vector<Row> rows{
        {"grandchild", "proved"},
        {"grandchild_only", "not proved: no usable answer of the prover: no answer"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.fault);
        const support::TempDirectory directory;
        const std::filesystem::path file = directory.path() / "pid";
        ProverWorld world{support::faulty(row.fault, ProverFormat::json, ProverLife::fresh, file)};
        const auto begin = std::chrono::steady_clock::now();
        CHECK(world.prove() == row.outcome);
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{10});
        const pid_t child = support::await_pid(file);
        REQUIRE(child > 0);
        CHECK(support::await([child] { return support::is_gone(child); }));
    }
}

TEST_CASE("field 103: where orphans are handed to us, those of provers do not stay as zombies") {
    struct Row {
        const char* label;
        std::string leaves;  // a shell command that leaves a child whose number is in the file $0
    };
    const std::vector<Row> rows{
        {"a child of its group", "sleep 300 >/dev/null 2>&1 & echo $! >> \"$0\""},
        {"one that left the group", "setsid sleep 0.2 >/dev/null 2>&1 & echo $! >> \"$0\""},
        {"a grandchild", "(sleep 300 >/dev/null 2>&1 & echo $! >> \"$0\")"},
    };
    const std::string proof =
        R"(echo '{"proof":"07","share_nullifier":")" + std::string(64, '1') + R"("}')";
    REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    for (const Row& row : rows) {
        for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
            CAPTURE(row.label);
            CAPTURE(life);
            const support::TempDirectory directory;
            const std::filesystem::path file = directory.path() / "pids";
            const std::string body = row.leaves + "\n" + proof;
            ProverOptions options =
                support::command({"/bin/sh", "-c", "while read line; do " + body + "; done", file});
            options.life = life;
            std::vector<pid_t> orphans;
            {
                ProverWorld world{options};
                for (std::uint8_t number = 1; number <= 10; ++number) {
                    CHECK(world.prove(number) == "proved");
                }
                std::istringstream pids{support::text_of(file)};
                for (pid_t pid = 0; pids >> pid;) orphans.push_back(pid);
                CHECK(orphans.size() == 10);
                if (life == ProverLife::fresh) {
                    CHECK(support::await([&] {
                        return std::ranges::none_of(orphans, [](pid_t pid) {
                            return std::filesystem::exists("/proc/" + std::to_string(pid));
                        });
                    }));
                }
            }
        }
    }
    REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

TEST_CASE("field 103: who waits for a child learns how it ended, whoever reaps orphans") {
    REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    for (const char* const end : {"exit 7", "kill -SEGV $$"}) {
        CAPTURE(end);
        // It dies while others are started, and orphans die all the time.
        ProverWorld world{support::command(
            {"/bin/sh", "-c", "read line; (sleep 0.01 &) ; sleep 0.02; " + std::string(end)})};
        for (std::uint8_t number = 1; number <= 20; ++number) {
            CHECK(world.prove(number) == (end[0] == 'e'
                                              ? "not proved: prover ended with exit code 7"
                                              : "not proved: prover died of signal 11"));
        }
    }
    REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

TEST_CASE("a prover that is killed while it works costs no attempt") {
    for (const int number : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSEGV}) {
        for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
            CAPTURE(number);
            CAPTURE(life);
            const support::TempDirectory directory;
            const std::filesystem::path file = directory.path() / "pid";
            ProverOptions options = support::command(
                {"/bin/sh", "-c", "echo $$ > \"$0.draft\"; mv \"$0.draft\" \"$0\"; exec sleep 60",
                 file});
            options.life = life;
            ProverWorld world{options};
            auto outcome = std::async(std::launch::async, [&world] { return world.prove(); });
            const pid_t prover = support::await_pid(file);
            REQUIRE(prover > 0);
            ::kill(prover, number);
            const std::string signal = std::to_string(number);
            CHECK(outcome.get() == (number == SIGSEGV
                                        ? "not proved: prover died of signal " + signal
                                        : "unreachable: prover was killed by signal " + signal));
        }
    }
}

TEST_CASE("a stop ends proofs under way at once, from any thread") {
    for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
        CAPTURE(life);
        const support::TempDirectory directory;
        const std::filesystem::path file = directory.path() / "pid";
        ProverWorld world{support::faulty("hang_on", ProverFormat::binary, life, file)};
        auto outcome = std::async(std::launch::async, [&world] { return world.prove(); });
        const pid_t prover = support::await_pid(file);
        REQUIRE(prover > 0);
        const auto begin = std::chrono::steady_clock::now();
        world.prover->stop();
        CHECK(outcome.get() == "unreachable: stopped");
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
        CHECK(support::is_gone(prover));
        CHECK(world.prove() == "unreachable: stopped");
        CHECK(world.logger.lines().empty());
    }
}

TEST_CASE("writing to a process that is dead harms nobody") {
    const base::StopToken stop;
    const base::Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    for (const ProverLife life : {ProverLife::fresh, ProverLife::pool}) {
        CAPTURE(life);
        Launched launched = launch({"/bin/true", {"true"}, {}, 0}, deadline, stop);
        auto process = std::get<std::unique_ptr<CommandProcess>>(std::move(launched));
        pollfd dead{.fd = process->handle(), .events = POLLIN, .revents = 0};
        REQUIRE(::poll(&dead, 1, 10'000) == 1);
        const auto before = ::signal(SIGPIPE, SIG_DFL);
        const CommandAnswer answer =
            exchange(*process, {"request", ProverFormat::json, life, deadline}, stop);
        ::signal(SIGPIPE, before);
        CHECK(answer.outcome == CommandAnswer::Outcome::ended);
        REQUIRE(answer.end);
        CHECK_FALSE(answer.end->by_signal);
        CHECK(answer.end->number == 0);
        if (life == ProverLife::pool) CHECK(answer.unread);
    }
}
