#pragma once

#include <memory>

#include "chains/votes/webhook.hpp"
#include "engine/alerts.hpp"
#include "platform/worker_pool.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace commands {

// Who is told of rounds that close with unrevealed shares, and the thread that tells.
class RoundAlerts {
public:
    RoundAlerts(const chains::votes::WebhookOptions& options, engine::AlertEvents& events,
                const ports::Clock& clock, ports::Logger& logger)
        : poster_(chains::votes::make_poster(options)),
          webhook_(options, *poster_, events, worker_, clock, logger) {}

    [[nodiscard]] engine::AlertSink& sink() { return webhook_; }
    // A report under way ends; what was not taken comes again with the next start.
    void stop() { webhook_.stop(); }

private:
    platform::WorkerPool worker_{1};
    std::unique_ptr<chains::votes::Poster> poster_;
    chains::votes::Webhook webhook_;
};

// Nothing when nobody is to be told. Throws BadSettings when the URL is none.
[[nodiscard]] std::unique_ptr<RoundAlerts> make_round_alerts(
    const chains::votes::WebhookOptions& options, engine::AlertEvents& events,
    const ports::Clock& clock, ports::Logger& logger);

}  // namespace commands
