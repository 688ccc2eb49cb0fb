#pragma once

#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "chains/votes/prover/command_launch.hpp"

namespace chains::votes::prover {

// Starts the processes of a program and keeps those that wait for their next proof; what one writes
// to its standard error meanwhile is read and thrown away, one that dies is reaped at once, and all
// of them when `stop` is set. So are the orphans that a prover leaves to us, where this process is
// handed any. A process lives no longer than the thread that started it (launch()), so all are
// started by a thread of the pool's own.
class ProcessPool {
public:
    ProcessPool(CommandProgram program, const base::StopToken& stop);  // throws std::system_error
    ProcessPool(const ProcessPool&) = delete;
    ProcessPool& operator=(const ProcessPool&) = delete;
    ~ProcessPool();

    // Any thread; blocks.
    [[nodiscard]] Launched start(base::Deadline deadline);

    // Any thread; returns at once. As many processes will be idle as that, as far as they start.
    void warm_up(std::size_t idle, base::Deadline deadline);

    using Process = std::unique_ptr<CommandProcess>;
    // Any thread. Null: none is there.
    [[nodiscard]] Process take_idle();
    void keep(Process process);

private:
    using Order = std::packaged_task<Launched()>;

    // How many are missing now; 0 when something else comes first.
    [[nodiscard]] std::size_t missing(std::size_t idle) const;

    void start_idle(std::size_t idle, base::Deadline deadline);
    void run();
    void wait() const;
    void discard_errors();
    void wake() const;
    // Of those that are dead, or of all once stopped.
    [[nodiscard]] std::vector<Process> take_useless();

    const CommandProgram program_;
    const base::StopToken& stop_;
    const base::Descriptor wake_;
    const bool adopts_orphans_ = Children::adopts_orphans();
    Children children_;

    mutable std::mutex mutex_;
    bool ended_ = false;
    std::deque<Order> orders_;
    std::optional<std::pair<std::size_t, base::Deadline>> wanted_idle_;
    std::vector<Process> idle_;  // the last used at the back

    std::thread thread_;
};

}  // namespace chains::votes::prover
