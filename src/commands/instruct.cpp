#include "commands/instruct.hpp"

#include <cstdlib>
#include <string>

#include "api/admin/screens.hpp"
#include "commands/admin_client.hpp"

namespace commands {

int instruct(const config::Settings& settings, const config::Instruct& command, std::ostream& out,
             std::ostream& errors) {
    AdminClient client(settings.store);
    client.require_process(command.verb);
    bool all_done = true;
    for (const std::string& target : command.targets) {
        const net::ClientResponse response = client.post(target, command.body);
        const bool done = response.status == 200;
        all_done = all_done && done;
        if (command.json) {
            out << response.body << "\n";
        } else if (done) {
            out << api::admin::done_screen(response.body);
        } else {
            const std::string of = target.substr(0, target.rfind('/'));
            const std::string name = of.substr(of.rfind('/') + 1);
            errors << "posthouse: " << (name == "admin" ? command.verb : name) << ": "
                   << api::admin::error_screen(response.body) << "\n";
        }
    }
    return all_done ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace commands
