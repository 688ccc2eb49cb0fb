#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "net/http_application.hpp"

namespace api::admin {

// One resource of the admin interface.
struct AdminRoute {
    std::string path;     // a `*` stands for one part that is not empty
    std::string methods;  // for Allow: `GET, HEAD`, `POST` …
    // What a request for it gets; a POST announces JSON. Any thread; respond once, now or later,
    // from any thread.
    std::function<void(const net::HttpRequest&, net::Respond)> answer;
    // For people with a browser: it admits them itself, and what is posted is a form.
    bool is_page = false;

    [[nodiscard]] bool covers(std::string_view asked) const;
    [[nodiscard]] bool allows(std::string_view method) const;
    // Both.
    [[nodiscard]] bool takes(std::string_view method, std::string_view asked) const;
};

// Of `/a/b/c`: `c`, and `/a/b`.
[[nodiscard]] inline std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}
[[nodiscard]] inline std::string_view without_last_part(std::string_view path) {
    return path.substr(0, path.rfind('/'));
}

}  // namespace api::admin
