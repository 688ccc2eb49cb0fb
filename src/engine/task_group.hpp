#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>

#include "domain/time.hpp"
#include "ports/executor.hpp"

namespace engine {

// Hands work to an executor and makes what is still there harmless once stopped, so that the work
// may refer to its owner. Any thread.
class TaskGroup : public ports::Executor {
public:
    explicit TaskGroup(ports::Executor& executor);
    ~TaskGroup() override;
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    void run(Task task) override;
    void run_after(domain::Milliseconds delay, Task task) override;

    // Waits for running work; nothing starts afterwards. Not from inside a task.
    void stop();

private:
    struct Lifetime {
        std::shared_mutex running;
        std::atomic<bool> open{true};
    };

    [[nodiscard]] Task guarded(Task task) const;

    ports::Executor& executor_;
    const std::shared_ptr<Lifetime> lifetime_;
};

}  // namespace engine
