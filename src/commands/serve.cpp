#include "commands/serve.hpp"

#include <string>

#include "commands/node.hpp"
#include "commands/service.hpp"
#include "commands/signals.hpp"
#include "platform/log.hpp"

namespace commands {

int serve(const config::Loaded& loaded) {
    platform::Log log(loaded.settings.log);
    for (const std::string& line : loaded.warnings) log.write(ports::LogLevel::warning, line);
    for (const std::string& line : loaded.notes) log.write(ports::LogLevel::info, line);

    if (loaded.settings.cluster) return Node(loaded.settings, log).run();

    Service service(loaded.settings, log);
    service.recover();
    service.listen();
    // A node of a cluster wakes itself with it; here it means nothing.
    while (service.wait() == wake_signal) {
    }
    service.stop();
    return service.exit_status();
}

}  // namespace commands
