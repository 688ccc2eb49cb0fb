#include "commands/round_alerts.hpp"

#include <string>

#include "commands/exit_status.hpp"

namespace commands {

std::unique_ptr<RoundAlerts> make_round_alerts(const chains::votes::WebhookOptions& options,
                                               engine::AlertEvents& events,
                                               const ports::Clock& clock, ports::Logger& logger) {
    if (options.url.empty()) return nullptr;
    try {
        return std::make_unique<RoundAlerts>(options, events, clock, logger);
    } catch (const std::invalid_argument& error) {
        throw BadSettings(std::string("helper.alert_webhook: ") + error.what());
    }
}

}  // namespace commands
