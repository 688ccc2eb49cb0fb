#include "platform/crash_mark.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

#include "support/temp_directory.hpp"

namespace {

struct End {
    int signal = 0;  // 0: it exited
    bool is_marked = false;
};

// Of a process that has a mark and does this.
End end_of(const std::function<void(const platform::CrashMark&)>& work) {
    const support::TempDirectory temporary;
    const auto file = temporary.path() / "crashed";
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const platform::CrashMark mark(file);
        work(mark);
        std::_Exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, std::filesystem::exists(file)};
}

void raise_from_outside(int signal) {
    const pid_t self = ::getpid();
    const pid_t other = ::fork();
    if (other == 0) {
        ::kill(self, signal);
        std::_Exit(0);
    }
    while (true) ::pause();
}

}  // namespace

TEST_CASE("a process that ends by its own fault leaves a mark, one that is killed does not") {
    const End aborted = end_of([](const auto&) { std::abort(); });
    CHECK(aborted.signal == SIGABRT);
    CHECK(aborted.is_marked);
    const End terminated = end_of([](const auto&) {
        std::thread([] { throw std::runtime_error("nobody takes it"); }).join();
    });
    CHECK(terminated.signal == SIGABRT);
    CHECK(terminated.is_marked);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        CAPTURE(signal);
        const End own = end_of([&](const auto&) { ::raise(signal); });
        CHECK(own.signal == signal);
        CHECK(own.is_marked);
        const End other = end_of([&](const auto&) { raise_from_outside(signal); });
        CHECK(other.signal == signal);
        CHECK_FALSE(other.is_marked);
    }
    const End killed = end_of([](const auto&) { ::raise(SIGKILL); });
    CHECK(killed.signal == SIGKILL);
    CHECK_FALSE(killed.is_marked);
}

TEST_CASE("a fault that the kernel finds leaves a mark") {
    const End fault = end_of([](const auto&) {
        const long page = ::sysconf(_SC_PAGESIZE);
        auto* const nothing = reinterpret_cast<volatile int*>(page);
        *nothing = 1;
    });
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(fault.signal == SIGSEGV);
#endif
    CHECK(fault.is_marked);
}

TEST_CASE("a mark is left, found and removed") {
    const End orderly = end_of([](const auto&) {});
    CHECK(orderly.signal == 0);
    CHECK_FALSE(orderly.is_marked);
    CHECK(end_of([](const auto& mark) { mark.leave(); }).is_marked);
    CHECK_FALSE(end_of([](const auto& mark) {
                    mark.leave();
                    if (mark.is_there()) mark.remove();
                }).is_marked);
}
