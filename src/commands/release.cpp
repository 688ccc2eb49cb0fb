#include "commands/release.hpp"

#include <cstdlib>
#include <stdexcept>

#include "api/admin/release_route.hpp"
#include "commands/admin_client.hpp"

namespace commands {

int release(const config::Settings& settings, const std::vector<std::string>& jobs,
            std::ostream& out) {
    AdminClient client(settings.store);
    client.require_process("release");
    const net::ClientResponse response =
        client.post("/admin/release", api::admin::release_body(jobs));
    const api::admin::Released released = api::admin::read_released(response.body);
    if (response.status != 200) throw std::runtime_error("not released: " + released.error);
    out << "released: " << released.count << "\n";
    for (const std::string& job : released.not_held) out << "not held: " << job << "\n";
    return released.not_held.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace commands
