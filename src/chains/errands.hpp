#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>

#include "domain/time.hpp"
#include "engine/executor.hpp"

namespace chains {

// Hands work to an executor and makes what is still there harmless once stopped, so that the work
// may refer to its owner. Any thread.
class Errands : public engine::Executor {
public:
    explicit Errands(engine::Executor& executor);
    ~Errands() override;
    Errands(const Errands&) = delete;
    Errands& operator=(const Errands&) = delete;

    void run(Task task) override;
    void run_after(domain::Milliseconds delay, Task task) override;

    // Waits for running work; nothing starts afterwards. Not from inside an errand.
    void stop();

private:
    struct Door {
        std::shared_mutex running;
        std::atomic<bool> open{true};
    };

    [[nodiscard]] Task guarded(Task task) const;

    engine::Executor& executor_;
    const std::shared_ptr<Door> door_;
};

}  // namespace chains
