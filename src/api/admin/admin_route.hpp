#pragma once

#include <functional>
#include <string>

#include "net/http_application.hpp"

namespace api::admin {

// One resource of the admin interface.
struct AdminRoute {
    std::string path;     // a `*` stands for one part that is not empty
    std::string methods;  // for Allow: `GET, HEAD`, `POST` …
    // What a request for it gets; a POST announces JSON. Any thread; respond once, now or later,
    // from any thread.
    std::function<void(const net::HttpRequest&, net::Respond)> answer;
};

}  // namespace api::admin
