#include "gateway/votes/rest/rest_client.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "gateway/rpc/decode.hpp"
#include "gateway/rpc/node_error.hpp"
#include "gateway/rpc/parse.hpp"
#include "gateway/rpc/retry_after.hpp"
#include "gateway/votes/harmless_text.hpp"

namespace gateway::votes {
namespace {

constexpr std::size_t text_bytes_max = 200;

rpc::Url url_of(const std::string& text) {
    auto url = rpc::parse_url(text);
    if (!url || url->websocket) throw std::invalid_argument("no http or https URL");
    return std::move(*url);
}

std::shared_ptr<const rpc::TlsContext> tls_for(const rpc::Url& url) {
    return url.tls ? std::make_shared<const rpc::TlsContext>() : nullptr;
}

domain::Milliseconds hold_of(const rpc::HttpResponse& response, domain::Timestamp now) {
    const bool asks_to_wait =
        response.status == 429 || (response.status == 503 && response.retry_after);
    return asks_to_wait ? rpc::throttle_wait(response.retry_after, now) : domain::Milliseconds{0};
}

}  // namespace

RestClient::RestClient(const std::string& base_url, const engine::Clock& clock,
                       std::string helper_token)
    : endpoint_(url_of(base_url), tls_for(url_of(base_url)), reply_bytes_max),
      clock_(clock),
      helper_token_(std::move(helper_token)) {}

RestAnswer RestClient::get(const std::string& target, domain::Milliseconds timeout,
                           std::size_t bytes_max) {
    rpc::HttpRequest request{
        .method = "GET", .target = target, .repeatable = true, .response_bytes_max = bytes_max};
    if (!helper_token_.empty()) request.headers.emplace_back("X-Helper-Token", helper_token_);
    return exchange(request, timeout);
}

RestAnswer RestClient::post(const std::string& target, const std::string& json,
                            domain::Milliseconds timeout) {
    return exchange({.method = "POST", .target = target, .body = json, .repeatable = true},
                    timeout);
}

RestAnswer RestClient::exchange(const rpc::HttpRequest& request, domain::Milliseconds timeout) {
    rpc::Posted posted = endpoint_.exchange(request, timeout, stop_);
    if (auto* const trouble = std::get_if<rpc::Trouble>(&posted)) return std::move(*trouble);
    auto& response = std::get<rpc::HttpResponse>(posted);
    RestReply reply{.status = response.status,
                    .json = rpc::parse(std::move(response.body)),
                    .error = {},
                    .hold = hold_of(response, clock_.wall())};
    if (reply.json) {
        const rpc::Json& error = rpc::member(*reply.json, "error");
        if (error.is_string()) reply.error = presentable(error.get_ref<const std::string&>());
    }
    return reply;
}

std::string RestClient::presentable(std::string_view text) const {
    return harmless_text(rpc::sanitised(text, endpoint_.secrets()), text_bytes_max);
}

void RestClient::note_trouble(std::optional<std::string> text) {
    if (stop_.is_set()) return;
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(text);
}

std::optional<std::string> RestClient::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

}  // namespace gateway::votes
