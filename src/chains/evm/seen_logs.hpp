#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "chains/evm/receipt.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

// What one of several listeners delivered a moment ago, so that the others need not (evm-gateway
// 8.5). Marked after the delivery, never before it. Saves work only: whoever applies answers copes
// with repetitions. Any thread.
class SeenLogs {
public:
    explicit SeenLogs(const ports::Clock& clock,
                      domain::Milliseconds time_to_live = domain::Milliseconds{5'000},
                      std::size_t capacity = 100'000);

    // The same log of another block is another log.
    [[nodiscard]] bool has(const Log& log) const;
    void mark(const Log& log);
    [[nodiscard]] std::size_t size() const;

private:
    using Key = std::pair<domain::Bytes32, std::uint64_t>;  // block hash, log index

    void forget_old_locked(domain::Monotonic now);

    const ports::Clock& clock_;
    const domain::Milliseconds time_to_live_;
    const std::size_t capacity_;

    mutable std::mutex mutex_;
    std::map<Key, domain::Monotonic> marked_;
    std::deque<std::pair<domain::Monotonic, Key>> order_;  // oldest first
};

}  // namespace chains::evm
