#include "api/access/authenticator.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace api::access {

namespace {

constexpr std::string_view bearer = "Bearer";
constexpr std::string_view key_name = "x-api-key";

// The one share route everybody may ask (share-helper 1).
constexpr std::string_view share_paths = "/shielded-vote/";
constexpr std::string_view open_share_path = "/shielded-vote/v1/status";

// What a request shows: one key, however often.
class ShownKeys {
public:
    void add(std::string_view key, bool in_cookie = false) {
        differ_ = differ_ || (key_ && *key_ != key);
        key_ = key;
        outside_cookies_ = outside_cookies_ || !in_cookie;
    }
    [[nodiscard]] std::optional<std::string_view> one() const {
        return differ_ ? std::nullopt : key_;
    }
    [[nodiscard]] bool in_cookie_only() const { return key_ && !outside_cookies_; }

private:
    std::optional<std::string_view> key_;
    bool differ_ = false;
    bool outside_cookies_ = false;
};

void add_bearer(std::string_view value, ShownKeys& shown) {
    const std::size_t end = std::min(value.find(' '), value.size());
    if (net::equal_ignoring_case(value.substr(0, end), bearer))
        shown.add(base::trimmed(value.substr(end), " "));
}

void add_cookies(std::string_view value, ShownKeys& shown) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find(';'), value.size());
        const std::string_view cookie = base::trimmed(value.substr(0, end), " ");
        if (cookie.starts_with(key_name) && cookie.substr(key_name.size()).starts_with('=')) {
            shown.add(cookie.substr(key_name.size() + 1), true);
        }
        value.remove_prefix(std::min(end + 1, value.size()));
    }
}

ShownKeys client_key_in(const net::HttpRequest& head) {
    ShownKeys shown;
    for (const auto& [name, value] : head.headers) {
        if (net::equal_ignoring_case(name, key_name)) {
            shown.add(value);
        } else if (net::equal_ignoring_case(name, "authorization")) {
            add_bearer(value, shown);
        } else if (net::equal_ignoring_case(name, "cookie")) {
            add_cookies(value, shown);
        }
    }
    return shown;
}

ShownKeys share_token_in(const net::HttpRequest& head) {
    ShownKeys shown;
    for (const auto& [name, value] : head.headers) {
        if (net::equal_ignoring_case(name, "x-helper-token")) shown.add(value);
    }
    return shown;
}

}  // namespace

Authenticator::Authenticator(const Options& options, const ports::Clock& clock)
    : clock_(clock),
      clients_({"client_keys", options.client_keys_file, {}, options.credentials_directory}),
      share_tokens_({"share_tokens", options.share_tokens_file, options.share_api_token,
                     options.credentials_directory}) {}

std::optional<Pass> Authenticator::admit(const net::HttpRequest& head) const {
    const KeyStore* realm = realm_of(head.path);
    if (realm == nullptr) return Pass{};
    const ShownKeys shown = realm == &clients_ ? client_key_in(head) : share_token_in(head);
    const auto text = shown.one();
    auto key = text ? realm->find(*text) : nullptr;
    if (!key) return {};
    return Pass{realm, std::move(key), shown.in_cookie_only()};
}

bool Authenticator::is_valid(const Pass& pass) const {
    return pass.realm == nullptr || pass.realm->knows(*pass.key);
}

std::optional<domain::Nanoseconds> Authenticator::refused(const Pass& pass,
                                                          std::string_view method) const {
    if (method != "POST" || !pass.key || !pass.key->limiter) return {};
    return pass.key->limiter->refused(clock_.monotonic());
}

std::string Authenticator::client_name(std::int64_t id) const {
    std::string name = clients_.client_name(static_cast<std::uint64_t>(id));
    return name.empty() ? share_tokens_.client_name(static_cast<std::uint64_t>(id)) : name;
}

std::vector<std::reference_wrapper<KeyStore>> Authenticator::reloadable() {
    std::vector<std::reference_wrapper<KeyStore>> rings;
    for (KeyStore* ring : {&clients_, &share_tokens_}) {
        if (ring->has_file()) rings.emplace_back(*ring);
    }
    return rings;
}

const KeyStore* Authenticator::realm_of(std::string_view path) const {
    const KeyStore* realm = nullptr;
    if (path.starts_with(share_paths) && path != open_share_path) realm = &share_tokens_;
    if (path.starts_with("/v2/") || path.starts_with("/v3/")) realm = &clients_;
    return realm != nullptr && realm->is_needed() ? realm : nullptr;
}

}  // namespace api::access
