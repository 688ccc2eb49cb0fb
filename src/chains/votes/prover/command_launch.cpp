#include "chains/votes/prover/command_launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/exec_texts.hpp"
#include "chains/votes/prover/command_child.hpp"

namespace chains::votes::prover {
namespace {

using base::Descriptor;

std::string failed(std::string_view what, int error) {
    return std::string(what) + ": " + std::generic_category().message(error);
}

struct Pipe {
    Descriptor reader;
    Descriptor writer;

    [[nodiscard]] bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        reader = Descriptor(ends[0]);
        writer = Descriptor(ends[1]);
        return true;
    }
};

struct Pipes {
    Pipe input;
    Pipe output;
    Pipe errors;
    Pipe report;

    [[nodiscard]] bool open() {
        return input.open() && output.open() && errors.open() && report.open();
    }
    // What the child has of them.
    void close_theirs() {
        for (Descriptor* const end :
             {&input.reader, &output.writer, &errors.writer, &report.writer}) {
            [[maybe_unused]] const Descriptor closed = std::move(*end);
        }
    }
    [[nodiscard]] CommandStreams take_ours() {
        CommandStreams ours{std::move(input.writer), std::move(output.reader),
                            std::move(errors.reader)};
        for (const Descriptor* const end : {&ours.input, &ours.output, &ours.errors}) {
            ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
        }
        return ours;
    }
};

// No handler of ours may run in the child.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

// -1 with errno: there is no child.
pid_t fork_program(const CommandProgram& program, const Pipes& pipes) {
    std::vector<std::string> texts = program.arguments;
    std::vector<std::string> variables = program.environment;
    const std::vector<char*> arguments = base::pointers_to(texts);
    const std::vector<char*> environment = base::pointers_to(variables);
    const ChildPlan plan{program.path.c_str(),      arguments.data(),
                         environment.data(),        pipes.input.reader.get(),
                         pipes.output.writer.get(), pipes.errors.writer.get(),
                         pipes.report.writer.get(), ::getpid(),
                         program.memory_bytes_max};
    const SignalsBlocked blocked;
    const pid_t child = ::fork();
    if (child == 0) become_program(plan);
    return child;
}

std::string_view step_name(ChildStep step) {
    switch (step) {
        case ChildStep::streams:
            return "streams";
        case ChildStep::limits:
            return "limits";
        case ChildStep::exec:
            return "exec";
    }
    return "start";
}

// Why the program does not run; nothing once it does.
std::optional<std::string> await_program(const Descriptor& report, base::Deadline deadline,
                                         const base::StopToken& stop) {
    switch (stop.wait(report.get(), POLLIN, deadline)) {
        case base::Wait::stopped:
            return "stopped";
        case base::Wait::timed_out:
            return "no start in time";
        case base::Wait::ready:
            break;
    }
    ChildFailure failure{};
    if (::read(report.get(), &failure, sizeof failure) != sizeof failure) return std::nullopt;
    return failed(step_name(failure.step), failure.error);
}

}  // namespace

Launched launch(const CommandProgram& program, base::Deadline deadline, const base::StopToken& stop,
                Children* children) {
    if (stop.stop_requested()) return "stopped";
    Pipes pipes;
    if (!pipes.open()) return failed("pipe", errno);
    const pid_t pid = fork_program(program, pipes);
    if (pid < 0) return failed("fork", errno);
    // glibc 2.36 declares its wrapper without C linkage.
    Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const int handle_error = errno;
    const bool has_handle = handle.is_open();
    pipes.close_theirs();
    auto process =
        std::make_unique<CommandProcess>(pid, std::move(handle), pipes.take_ours(), children);
    if (!has_handle) return failed("pidfd_open", handle_error);
    if (auto why = await_program(pipes.report.reader, deadline, stop)) return std::move(*why);
    return process;
}

}  // namespace chains::votes::prover
