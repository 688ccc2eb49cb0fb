#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>

#include "domain/time.hpp"
#include "engine/executor.hpp"

namespace gateway::loopback {

// Hands work to the executor and makes what is still there harmless once stopped, so that the work
// may refer to its owner. Any thread.
class Errands {
public:
    explicit Errands(engine::Executor& executor);
    ~Errands();
    Errands(const Errands&) = delete;
    Errands& operator=(const Errands&) = delete;

    void after(domain::Milliseconds delay, engine::Executor::Task task);

    // Waits for running work; nothing starts afterwards. Not from inside an errand.
    void stop();

private:
    struct Door {
        std::shared_mutex running;
        std::atomic<bool> open{true};
    };

    engine::Executor& executor_;
    const std::shared_ptr<Door> door_;
};

}  // namespace gateway::loopback
