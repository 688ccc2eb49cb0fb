#include "platform/crash_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <csignal>
#include <system_error>

namespace platform {

namespace {

constexpr std::array watched{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// What a signal handler can read. Set before the signals are watched.
const char* marked_file = nullptr;

void make_mark(const char* file) noexcept {
    const int descriptor = ::open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (descriptor >= 0) ::close(descriptor);
}

// The kernel's own say a code above 0; others say who sent them.
void note_end(int signal, siginfo_t* facts, void* /*context*/) {
    const bool is_ours = facts->si_code > 0 || facts->si_pid == ::getpid();
    if (is_ours) make_mark(marked_file);
    // The handler is gone by now: what comes ends the process.
    ::raise(signal);
}

void watch(int signal) {
    struct sigaction action {};
    action.sa_sigaction = note_end;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
}

}  // namespace

CrashMark::CrashMark(const std::filesystem::path& file) : file_(file) {
    assert(marked_file == nullptr);
    marked_file = file_.c_str();
    for (const int signal : watched) watch(signal);
}

CrashMark::~CrashMark() {
    for (const int signal : watched) static_cast<void>(std::signal(signal, SIG_DFL));
    marked_file = nullptr;
}

bool CrashMark::is_there() const {
    std::error_code unknown;
    return std::filesystem::exists(file_, unknown);
}

void CrashMark::remove() const noexcept {
    ::unlink(file_.c_str());
}

void CrashMark::leave() const noexcept {
    make_mark(file_.c_str());
}

}  // namespace platform
