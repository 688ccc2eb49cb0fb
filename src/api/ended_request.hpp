#pragma once

#include <string>

#include "store/ended_requests.hpp"

namespace api {

// One line of JSON without its end: what became of a request, for accounts and audits. Holds
// nothing of what was asked and answered.
[[nodiscard]] std::string json_line(const store::EndedRequest& request);

}  // namespace api
