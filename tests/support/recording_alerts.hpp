#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/alerts.hpp"

namespace support {

// Keeps every alert; nobody takes them but the test.
class RecordingAlerts : public engine::AlertSink {
public:
    void raise(std::vector<engine::RoundAlert> alerts) override {
        ++calls;
        for (engine::RoundAlert& alert : alerts) raised.push_back(std::move(alert));
    }

    std::vector<engine::RoundAlert> raised;
    std::size_t calls = 0;
};

}  // namespace support
