#include "chains/votes/prover/children.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace chains::votes::prover {

void Children::add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.insert(pid);
}

void Children::remove(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.erase(pid);
}

bool Children::adopts_orphans() {
    int is_subreaper = 0;
    ::prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
    return ::getpid() == 1 || is_subreaper != 0;
}

void Children::reap_orphans() {
    const std::lock_guard lock(mutex_);
    for (;;) {
        siginfo_t dead{};
        const int looks = ::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT);
        // Behind one whose end somebody has yet to learn others may lie: they have time.
        if (looks != 0 || dead.si_pid == 0 || pids_.contains(dead.si_pid)) return;
        ::waitpid(dead.si_pid, nullptr, WNOHANG);
    }
}

}  // namespace chains::votes::prover
