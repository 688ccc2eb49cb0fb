#include "api/idempotency_key.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace api {

namespace {

constexpr std::string_view name = "Idempotency-Key";
constexpr std::size_t bytes_max = 255;

ApiError refused(std::string_view issue) {
    return validation_failed({{std::string(name), std::string(issue)}});
}

}  // namespace

IdempotencyKey read_idempotency_key(const net::HttpRequest& request, std::int64_t client) {
    const auto is_key = [](const net::HttpHeader& header) {
        return net::equal_ignoring_case(header.name, name);
    };
    const auto found = std::ranges::find_if(request.headers, is_key);
    if (found == request.headers.end()) return NoIdempotencyKey{};
    if (std::ranges::count_if(request.headers, is_key) > 1) {
        return refused("Must be sent only once");
    }
    const std::string_view key = found->value;
    if (key.empty()) return refused("Must not be empty");
    if (key.size() > bytes_max) return refused("Must be at most 255 characters long");
    if (!std::ranges::all_of(key, base::is_visible)) {
        return refused("Must be visible ASCII characters without spaces");
    }
    std::string scope(request.path);
    scope.append(1, '\0').append(std::to_string(client)).append(1, '\0').append(key);
    return domain::sha256({reinterpret_cast<const std::uint8_t*>(scope.data()), scope.size()});
}

ApiError idempotency_key_reused() {
    ApiError api_error = refused("Was used for a request with other content; use a new key");
    api_error.status = 422;
    return api_error;
}

}  // namespace api
