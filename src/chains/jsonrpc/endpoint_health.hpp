#pragma once

#include <atomic>
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

    void note_no_batches() { takes_batches_ = false; }
    [[nodiscard]] bool takes_batches() const { return takes_batches_; }

private:
    mutable std::mutex mutex_;
    domain::Monotonic throttled_until_{};
    domain::Monotonic avoided_until_{};
    unsigned failures_ = 0;  // in a row
    std::atomic<bool> takes_batches_{true};
};

}  // namespace chains::jsonrpc
