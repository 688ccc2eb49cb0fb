#pragma once

#include <string>

#include "net/http_message.hpp"

namespace api {

// What lets pages of `allow_origin` read the answer; empty: none.
[[nodiscard]] net::HttpResponse with_cors(net::HttpResponse response,
                                          const std::string& allow_origin);

}  // namespace api
