#include "chains/votes/prover/command_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace chains::votes::prover {

CommandProcess::CommandProcess(pid_t pid, base::Descriptor handle, CommandStreams streams,
                               Children* children)
    : pid_(pid), handle_(std::move(handle)), streams_(std::move(streams)), children_(children) {
    if (children_ != nullptr) children_->add(pid_);
}

CommandProcess::~CommandProcess() {
    // Before it is reaped: until then nobody else can get its number.
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (children_ != nullptr) children_->remove(pid_);
}

void CommandProcess::discard_errors() {
    std::array<char, 65'536> space;  // as much as the pipe holds
    const ssize_t count = ::read(streams_.errors.get(), space.data(), space.size());
    if (count == 0) streams_.errors.reset();
}

std::optional<CommandEnd> CommandProcess::end() const {
    siginfo_t info{};
    const int options = WEXITED | WNOHANG | WNOWAIT;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, options) != 0 || info.si_pid == 0) {
        return std::nullopt;
    }
    return CommandEnd{info.si_code != CLD_EXITED, info.si_status};
}

bool CommandProcess::is_quiet() const {
    std::array<pollfd, 2> polled{{{.fd = handle_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = streams_.output.get(), .events = POLLIN, .revents = 0}}};
    return ::poll(polled.data(), polled.size(), 0) == 0;
}

}  // namespace chains::votes::prover
