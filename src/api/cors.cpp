#include "api/cors.hpp"

namespace api {

net::HttpResponse with_cors(net::HttpResponse response, const std::string& allow_origin) {
    if (allow_origin.empty()) return response;
    response.headers.emplace_back("Access-Control-Allow-Origin", allow_origin);
    response.headers.emplace_back("Access-Control-Expose-Headers",
                                  "Retry-After, Preference-Applied");
    if (allow_origin != "*") response.headers.emplace_back("Vary", "Origin");
    return response;
}

}  // namespace api
