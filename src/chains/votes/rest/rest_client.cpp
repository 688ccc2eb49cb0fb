#include "chains/votes/rest/rest_client.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "base/sanitize.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "chains/jsonrpc/retry_after.hpp"

namespace chains::votes::rest {
namespace {

constexpr std::size_t text_bytes_max = 200;

net::Url url_of(const std::string& text) {
    auto url = net::parse_url(text);
    if (!url || url->websocket) throw std::invalid_argument("no http or https URL");
    return std::move(*url);
}

domain::Milliseconds hold_of(const net::ClientResponse& response, domain::Timestamp now) {
    const bool asks_to_wait =
        response.status == 429 || (response.status == 503 && response.retry_after);
    return asks_to_wait ? jsonrpc::throttle_wait(response.retry_after, now)
                        : domain::Milliseconds{0};
}

}  // namespace

RestClient::RestClient(const std::string& base_url, const ports::Clock& clock,
                       std::shared_ptr<net::ClientContext> context, std::string helper_token)
    : client_(url_of(base_url), reply_bytes_max, std::move(context)),
      clock_(clock),
      helper_token_(std::move(helper_token)),
      secrets_(net::with_token(client_.secrets(), helper_token_)) {}

RestAnswer RestClient::get(const std::string& target, domain::Milliseconds timeout,
                           std::size_t bytes_max) {
    net::ClientRequest request{
        .method = "GET", .target = target, .repeatable = true, .response_bytes_max = bytes_max};
    if (!helper_token_.empty()) request.headers.emplace_back("X-Helper-Token", helper_token_);
    return exchange(request, timeout);
}

RestAnswer RestClient::post(const std::string& target, const std::string& json,
                            domain::Milliseconds timeout) {
    return exchange({.method = "POST", .target = target, .body = json, .repeatable = true},
                    timeout);
}

RestAnswer RestClient::exchange(const net::ClientRequest& request, domain::Milliseconds timeout) {
    net::ClientResult result = client_.exchange(request, timeout);
    if (auto* const problem = std::get_if<jsonrpc::TransportError>(&result))
        return std::move(*problem);
    auto& response = std::get<net::ClientResponse>(result);
    RestReply reply{.status = response.status,
                    .json = jsonrpc::parse(std::move(response.body)),
                    .error = {},
                    .hold = hold_of(response, clock_.wall())};
    if (reply.json) {
        const jsonrpc::Json& error = jsonrpc::member(*reply.json, "error");
        if (error.is_string()) reply.error = presentable(error.get_ref<const std::string&>());
    }
    return reply;
}

std::string RestClient::presentable(std::string_view text) const {
    return base::harmless_text(jsonrpc::sanitised(text, secrets_), text_bytes_max);
}

void RestClient::note_problem(std::optional<std::string> text) {
    if (client_.is_stopped()) return;
    const std::lock_guard lock(mutex_);
    problem_ = std::move(text);
}

std::optional<std::string> RestClient::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

}  // namespace chains::votes::rest
