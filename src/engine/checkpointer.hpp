#pragma once

#include <optional>

#include "domain/time.hpp"
#include "ports/logger.hpp"
#include "store/store.hpp"

namespace engine {

// Keeps the write-ahead log short, and free of what was wiped (share-helper 2.1): of a share that
// ended no byte is on disk any more a second later when nothing else goes on, and fifteen seconds
// later under unbroken load. A long read by somebody else delays both until it ends. One thread.
class Checkpointer {
public:
    Checkpointer(store::Store& store, ports::Logger& logger) : store_(store), logger_(logger) {}

    struct Moment {
        domain::Monotonic now;
        bool idle = false;                 // nobody waits for the next step
        bool at_work = false;              // answers of the gateway are under way
        bool maintained = false;           // maintenance came to its end in this step
        domain::Nanoseconds until_next{};  // the earliest the next step has something to do
    };
    // After each step, outside a transaction. Throws StorageError.
    void after_step(const Moment& moment);

    // When to come back at the latest.
    [[nodiscard]] std::optional<domain::Monotonic> next(domain::Monotonic now) const;

private:
    [[nodiscard]] bool must_truncate(const Moment& moment) const;
    void truncate(domain::Monotonic now);

    store::Store& store_;
    ports::Logger& logger_;
    std::optional<domain::Monotonic> wiped_since_;  // and still in the log
    domain::Monotonic next_truncation_{};
};

}  // namespace engine
