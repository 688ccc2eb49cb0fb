#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "domain/time.hpp"
#include "engine/observer.hpp"
#include "ports/clock.hpp"

namespace api {

// Polls that wait for the end of their job. They hold no thread; one thread of their own answers
// them, so that neither the processor nor the other clients ever wait for them. Any thread unless
// said otherwise.
class LongPolls : public engine::Observer {
public:
    using Ticket = std::uint64_t;

    LongPolls(const ports::Clock& clock, std::size_t waiting_max);

    // A place until the job with this row id has ended or `wait` is over; then `done` is called
    // once, by the thread of run(). Nothing: there is no place.
    [[nodiscard]] std::optional<Ticket> wait(std::int64_t sequence, domain::Milliseconds wait,
                                             std::function<void()> done);
    // True: it was still waiting, and nobody will call its `done`.
    [[nodiscard]] bool withdraw(Ticket ticket);
    // It waits no longer: `done` is called soon, if it still was waiting.
    void finish_early(Ticket ticket);

    void stepped(const engine::StepFacts& facts) override;

    // Until stop(). One thread.
    void run();
    // Whoever waits is done now; nobody gets a place any more.
    void stop();
    // Calls `done` of all that need not wait longer; returns how long the next one may still wait.
    std::optional<domain::Nanoseconds> turn();

    [[nodiscard]] std::size_t waiting() const { return count_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t turned_away() const {
        return turned_away_.load(std::memory_order_relaxed);
    }

private:
    struct Waiter {
        std::int64_t sequence = 0;
        domain::Monotonic end;
        std::function<void()> done;
    };
    using Waiters = std::map<Ticket, Waiter>;

    void finish(Waiters::iterator waiter);

    const ports::Clock& clock_;
    const std::size_t waiting_max_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::uint64_t> turned_away_{0};
    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    Ticket next_ = 1;
    Waiters waiters_;
    std::set<std::pair<std::int64_t, Ticket>> by_sequence_;
    std::set<std::pair<domain::Monotonic, Ticket>> by_end_;
    std::vector<std::function<void()>> done_;
    bool look_again_ = false;  // since the last turn
    bool stopped_ = false;
};

}  // namespace api
