#pragma once

#include <cstddef>
#include <mutex>

#include "domain/time.hpp"

namespace chains::jsonrpc {

// What one URL's answers so far mean for the next call. Any thread.
class EndpointHealth {
public:
    // It asked to be left alone.
    void throttle(domain::Milliseconds wait, domain::Monotonic now);
    // How long it still is, rounded up; zero: it may be asked.
    [[nodiscard]] domain::Milliseconds throttled_for(domain::Monotonic now) const;

    // No connection or no answer. After three in a row the URL is avoided; one call every 5 s finds
    // out whether it is back.
    void note_failure(domain::Monotonic now);
    void note_answer();
    [[nodiscard]] bool should_avoid(domain::Monotonic now);

    // How many calls it takes in one request. More are tried again after ten minutes.
    [[nodiscard]] std::size_t batch_max(domain::Monotonic now) const;
    void limit_batches(std::size_t calls, domain::Monotonic now);
    // Whether a batch of so many was throttled as a whole. Three in a row may be too large for the
    // rate: half of it is the limit then.
    void note_batch(std::size_t calls, bool throttled, domain::Monotonic now);

private:
    void limit_batches_locked(std::size_t calls, domain::Monotonic now);

    mutable std::mutex mutex_;
    domain::Monotonic throttled_until_{};
    domain::Monotonic avoided_until_{};
    unsigned failures_ = 0;           // in a row
    unsigned throttled_batches_ = 0;  // in a row
    std::size_t batch_max_ = 0;
    domain::Monotonic batches_limited_until_{};
};

}  // namespace chains::jsonrpc
