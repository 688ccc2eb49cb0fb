#include "api/admin/cluster_route.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"

namespace api::admin {

AdminRoute step_down_route(std::function<std::optional<std::string>()> step_down) {
    return {
        std::string(step_down_target), "POST",
        [step_down = std::move(step_down)](const net::HttpRequest&, const net::Respond& respond) {
            if (const auto why_not = step_down()) {
                return respond(admin_error(409, *why_not));
            }
            respond(admin_answer(200, {{"stepped_down", true}}));
        }};
}

}  // namespace api::admin
