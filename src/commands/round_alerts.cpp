#include "commands/round_alerts.hpp"

#include <stdexcept>
#include <string>

#include "chains/votes/webhook.hpp"
#include "platform/worker_pool.hpp"

namespace commands {

namespace {

class WebhookAlerts final : public RoundAlerts {
public:
    WebhookAlerts(const chains::votes::WebhookOptions& options, engine::AlertEvents& events,
                  const ports::Clock& clock, ports::Logger& logger)
        : worker_(1),
          poster_(chains::votes::make_poster(options)),
          webhook_(options, *poster_, events, worker_, clock, logger) {}

    [[nodiscard]] engine::AlertSink& sink() override { return webhook_; }
    void stop() override { webhook_.stop(); }

private:
    platform::WorkerPool worker_;
    std::unique_ptr<chains::votes::Poster> poster_;
    chains::votes::Webhook webhook_;
};

}  // namespace

std::unique_ptr<RoundAlerts> make_round_alerts(const chains::votes::WebhookOptions& options,
                                               engine::AlertEvents& events,
                                               const ports::Clock& clock, ports::Logger& logger) {
    if (options.url.empty()) return nullptr;
    try {
        return std::make_unique<WebhookAlerts>(options, events, clock, logger);
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(std::string("helper.alert_webhook: ") + error.what());
    }
}

}  // namespace commands
