#include "commands/client_names.hpp"

#include <memory>
#include <stdexcept>

#include "api/access/authenticator.hpp"
#include "platform/real_clock.hpp"

namespace commands {

std::function<std::string(std::int64_t)> client_names(const config::Settings& settings) {
    struct Keys {
        explicit Keys(const api::access::Options& options) : authenticator(options, clock) {}
        platform::RealClock clock;
        api::access::Authenticator authenticator;
    };
    try {
        return [keys = std::make_shared<const Keys>(settings.api.access)](std::int64_t client) {
            return keys->authenticator.client_name(client);
        };
    } catch (const std::runtime_error&) {
        return [](std::int64_t) { return std::string(); };
    }
}

}  // namespace commands
