#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/ended_requests.hpp"

namespace api {

// One line of JSON without its end: what became of a request, for accounts and audits. Holds
// nothing of what was asked and answered.
// `client_name` is empty for an id that nobody has now: then the id stands there.
[[nodiscard]] std::string json_line(const store::EndedRequest& request,
                                    const std::function<std::string(std::int64_t)>& client_name);

}  // namespace api
