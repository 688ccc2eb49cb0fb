#include "commands/signals.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

namespace commands {

namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// nohup(1) ignores SIGHUP, a shell's background job SIGINT: they stay ignored.
sigset_t awaited_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, wake_signal);
    for (const int signal : std::array{SIGINT, SIGHUP}) {
        if (!is_ignored(signal)) sigaddset(&signals, signal);
    }
    return signals;
}

}  // namespace

void wake_main_thread() {
    ::kill(::getpid(), wake_signal);
}

void block_signals() {
    const sigset_t signals = awaited_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a full disk
}

int wait_for_signal() {
    const sigset_t signals = awaited_signals();
    int signal = 0;
    sigwait(&signals, &signal);
    return signal;
}

std::optional<int> wait_for_signal(domain::Nanoseconds time) {
    const sigset_t signals = awaited_signals();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const timespec limit{static_cast<time_t>(seconds.count()),
                         static_cast<long>((time - seconds).count())};
    const int signal = ::sigtimedwait(&signals, nullptr, &limit);
    if (signal < 0) return std::nullopt;
    return signal;
}

void fill_standard_streams() {
    int descriptor = 0;
    do {
        descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO) ::close(descriptor);
}

}  // namespace commands
