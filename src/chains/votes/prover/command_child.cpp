#include "chains/votes/prover/command_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace chains::votes::prover {
namespace {

constexpr int report_place = 3;
constexpr int above_standard_streams = 10;
constexpr int exit_without_program = 127;
constexpr rlim_t descriptors_seen_max = 1U << 20U;

[[noreturn]] void give_up(int report, ChildStep step) noexcept {
    const ChildFailure failure{step, errno};
    [[maybe_unused]] const auto written = ::write(report, &failure, sizeof failure);
    ::_exit(exit_without_program);
}

// An ignored signal stays ignored in the program, and so does a blocked one.
void reset_dispositions() noexcept {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
}

void unblock_signals() noexcept {
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void close_from(unsigned first) noexcept {
    if (::close_range(first, ~0U, 0) == 0) return;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto end = static_cast<int>(std::min(limit.rlim_cur, descriptors_seen_max));
    for (int descriptor = static_cast<int>(first); descriptor < end; ++descriptor) {
        ::close(descriptor);
    }
}

// Leaves the three streams and the report.
void place_streams(const ChildPlan& plan) noexcept {
    const auto lift = [](int descriptor) {
        return ::fcntl(descriptor, F_DUPFD_CLOEXEC, above_standard_streams);
    };
    const int input = lift(plan.input);
    const int output = lift(plan.output);
    const int errors = lift(plan.errors);
    const int report = lift(plan.report);
    const bool placed = input >= 0 && output >= 0 && errors >= 0 && report >= 0 &&
                        ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
                        ::dup2(errors, STDERR_FILENO) >= 0 &&
                        ::dup3(report, report_place, O_CLOEXEC) >= 0;
    if (!placed) give_up(report >= 0 ? report : plan.report, ChildStep::streams);
    close_from(report_place + 1);
}

// A core dump would hold the witness. A limit of 0 does not stop one that is piped to a program
// (core(5)); Linux refuses both kinds when the limit is 1 byte.
void forbid_core_dumps() noexcept {
    const rlimit byte{1, 1};
    if (::setrlimit(RLIMIT_CORE, &byte) == 0) return;
    const rlimit nothing{0, 0};
    if (::setrlimit(RLIMIT_CORE, &nothing) != 0) give_up(report_place, ChildStep::limits);
}

// Not of the address space (RLIMIT_AS): Go, Java and sanitizers reserve far more than they use.
void limit_memory(std::uint64_t bytes) noexcept {
    if (bytes == 0) return;
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_max = std::min<rlim_t>(bytes, limit.rlim_max);
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) give_up(report_place, ChildStep::limits);
}

}  // namespace

void become_program(const ChildPlan& plan) noexcept {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(exit_without_program);  // it died before the prctl
    reset_dispositions();
    place_streams(plan);
    forbid_core_dumps();
    limit_memory(plan.memory_bytes_max);
    unblock_signals();
    ::execve(plan.path, plan.arguments, plan.environment);
    give_up(report_place, ChildStep::exec);
}

}  // namespace chains::votes::prover
