#include "api/admin/admin_route.hpp"

#include <algorithm>

namespace api::admin {

bool AdminRoute::covers(std::string_view asked) const {
    std::string_view pattern = path;
    while (!pattern.empty() && !asked.empty()) {
        const std::size_t part = std::min(asked.find('/', 1), asked.size());
        const std::size_t wanted = std::min(pattern.find('/', 1), pattern.size());
        const bool fits = pattern.substr(0, wanted) == "/*"
                              ? part > 1
                              : pattern.substr(0, wanted) == asked.substr(0, part);
        if (!fits) return false;
        pattern.remove_prefix(wanted);
        asked.remove_prefix(part);
    }
    return pattern.empty() && asked.empty();
}

bool AdminRoute::allows(std::string_view method) const {
    return (", " + methods + ",").find(" " + std::string(method) + ",") != std::string::npos;
}

bool AdminRoute::takes(std::string_view method, std::string_view asked) const {
    return allows(method) && covers(asked);
}

}  // namespace api::admin
