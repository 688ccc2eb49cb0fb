#pragma once

#include <memory>

#include "chains/votes/options.hpp"
#include "engine/alerts.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace commands {

// Who is told of rounds that close with unrevealed shares, and the thread that tells.
class RoundAlerts {
public:
    virtual ~RoundAlerts() = default;
    [[nodiscard]] virtual engine::AlertSink& sink() = 0;
    // A report under way ends; what was not taken comes again with the next start.
    virtual void stop() = 0;
};

// Nothing when nobody is to be told. Throws std::runtime_error when the URL is none.
[[nodiscard]] std::unique_ptr<RoundAlerts> make_round_alerts(
    const chains::votes::WebhookOptions& options, engine::AlertEvents& events,
    const ports::Clock& clock, ports::Logger& logger);

}  // namespace commands
