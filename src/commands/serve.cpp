#include "commands/serve.hpp"

#include <string>

#include "commands/service.hpp"
#include "platform/log.hpp"

namespace commands {

int serve(const config::Loaded& loaded) {
    platform::Log log(loaded.settings.log);
    for (const std::string& line : loaded.warnings) log.write(ports::LogLevel::warning, line);
    for (const std::string& line : loaded.notes) log.write(ports::LogLevel::info, line);

    Service service(loaded.settings, log);
    service.recover();
    service.listen();
    service.wait();
    service.stop();
    return service.exit_status();
}

}  // namespace commands
