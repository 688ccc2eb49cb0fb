#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "chains/loopback/answers.hpp"
#include "chains/loopback/ledger.hpp"
#include "chains/loopback/miner.hpp"
#include "chains/loopback/outages.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::loopback {

// Delivers answers in the order of their places in the ledger, each place before the next, so a
// listener that remembers one cursor misses nothing. An answer gets its place when its time has
// come: within a process by the monotonic clock, after a restart by its ready time, but no later
// than the longest latency from then. During an outage everything waits. Any thread.
class Outbox {
public:
    Outbox(const Options& options, Ledger& ledger, const Answers& answers, const Outages& outages,
           engine::TaskGroup& task_group, const ports::Clock& clock, ports::Logger& logger);

    // Once. Delivers what is behind `cursor` and, in time, what waits in the ledger.
    void listen(engine::GatewayEvents& events, std::uint64_t cursor);

    void expect(const std::vector<UpcomingAnswer>& upcoming);

    // Delivers what is due now. From a task.
    void deliver();

    // What keeps it from delivering, apart from outages.
    [[nodiscard]] std::optional<std::string> problem() const;

private:
    using Due = std::pair<domain::Monotonic, std::int64_t>;

    void deliver_due();
    void deliver_placed();
    [[nodiscard]] std::vector<Due> take_due();
    void put_back(const std::vector<Due>& taken);
    void note_problem(std::optional<std::string> problem);
    void wake_for_next();
    void wake_at(domain::Monotonic time);
    void wake_at_locked(domain::Monotonic time);

    const domain::Milliseconds wait_max_;
    Ledger& ledger_;
    const Answers& answers_;
    const Outages& outages_;
    engine::TaskGroup& task_group_;
    const ports::Clock& clock_;
    ports::Logger& logger_;

    std::mutex delivering_;  // held while answers leave: their order is the order of places
    engine::GatewayEvents* events_ = nullptr;
    std::uint64_t delivered_ = 0;

    mutable std::mutex mutex_;  // for what follows
    std::priority_queue<Due, std::vector<Due>, std::greater<>> upcoming_;
    std::optional<domain::Monotonic> wake_;  // the earliest task on its way
    std::optional<std::string> problem_;
};

}  // namespace chains::loopback
