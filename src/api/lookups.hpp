#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <shared_mutex>

#include "ports/clock.hpp"
#include "ports/executor.hpp"

namespace api {

// Hands work that may block to an executor, so much at a time and no more, and none whose turn
// comes after more than ten seconds: who asked for it has no use for it any more. Work that is
// still there when this goes is harmless: it may refer to what outlives this. Any thread.
class Lookups {
public:
    // `executor` and `clock` outlive this.
    Lookups(ports::Executor& executor, const ports::Clock& clock, std::size_t pending_max);
    // Waits for running work; nothing starts afterwards. Not from inside the work.
    ~Lookups();
    Lookups(const Lookups&) = delete;
    Lookups& operator=(const Lookups&) = delete;

    // False: there is no room, and neither will be called. Otherwise one of them is, on the
    // executor: `too_late` in place of work that waited too long. They must not throw.
    [[nodiscard]] bool start(std::function<void()> work, std::function<void()> too_late);
    // Later, and whatever else waits; not at all when this has gone by then.
    void start_after(domain::Milliseconds delay, std::function<void()> work);

private:
    // Outlives the look-ups in the tasks that the executor still has.
    struct Lifetime {
        std::shared_mutex running;
        std::atomic<bool> open{true};
        std::atomic<std::size_t> pending{0};
    };

    ports::Executor& executor_;
    const ports::Clock& clock_;
    const std::size_t pending_max_;
    const std::shared_ptr<Lifetime> lifetime_;
};

}  // namespace api
