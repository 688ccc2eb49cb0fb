#pragma once

#include <optional>
#include <vector>

#include "chains/loopback/options.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace chains::loopback {

// When the chain can not be reached; counts from construction, on the monotonic clock. Any thread.
class Outages {
public:
    Outages(std::vector<Outage> outages, const ports::Clock& clock);

    // The moment the chain is back; nothing while it is there.
    [[nodiscard]] std::optional<domain::Monotonic> end() const;

    [[nodiscard]] bool down() const { return end().has_value(); }

private:
    const std::vector<Outage> outages_;  // by start
    const ports::Clock& clock_;
    const domain::Monotonic start_;
};

}  // namespace chains::loopback
