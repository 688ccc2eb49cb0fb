#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>

namespace chains::votes::prover {

// The processes that somebody here waits for. Process 1 of a container, and a subreaper (prctl(2)),
// is handed the children of those that died before them as well; nobody waits for these, and as
// zombies they would take up process numbers until nothing can be started any more.
class Children {
public:
    // Any thread.
    void add(pid_t pid);
    void remove(pid_t pid);

    // Whether this process is handed orphans.
    [[nodiscard]] static bool adopts_orphans();
    // Reaps the dead that nobody waits for. Never waits. The thread that starts children: one that
    // was started and not added yet would be taken for an orphan.
    void reap_orphans();

private:
    std::mutex mutex_;
    std::set<pid_t> pids_;
};

}  // namespace chains::votes::prover
