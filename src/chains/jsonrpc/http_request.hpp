#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chains/jsonrpc/url.hpp"

namespace chains::jsonrpc {

struct HttpRequest {
    std::string_view method{};  // GET or POST
    // Goes behind the path of the URL, `/` first, perhaps with a query; the URL's own query stays.
    // Empty: the URL as it is.
    std::string_view target{};
    std::string_view body{};  // of a POST
    // Beside those of every request. An Accept, Authorization, Content-Type or User-Agent takes the
    // place of ours: JSON, and the credentials of the URL.
    std::vector<std::pair<std::string, std::string>> headers{};
    // It changes nothing, or nothing more when it comes a second time.
    bool repeatable = false;
    std::size_t response_bytes_max = 0;  // of the body; 0: as the endpoint has it
};

// The bytes of it (RFC 9112). Nothing when target or headers hold what would end their line, or a
// header is one that this writes itself.
[[nodiscard]] std::optional<std::string> write_http(const HttpRequest& request, const Url& url);

}  // namespace chains::jsonrpc
