#include <memory>
#include <stdexcept>
#include <utility>

#include "chains/jsonrpc/endpoint.hpp"
#include "chains/jsonrpc/tls_context.hpp"
#include "chains/jsonrpc/url.hpp"
#include "chains/votes/webhook.hpp"

namespace chains {

namespace {

// Answers are not read, but an endpoint says much before somebody asks how much.
constexpr std::size_t answer_bytes_max = 1U << 20U;

jsonrpc::Url url_of(const WebhookOptions& options) {
    std::optional<jsonrpc::Url> url = jsonrpc::parse_url(options.url);
    if (!url || url->websocket) throw std::invalid_argument("the webhook is no http or https URL");
    return *std::move(url);
}

class HttpPoster final : public Poster {
public:
    HttpPoster(const jsonrpc::Url& url, domain::Milliseconds timeout)
        : timeout_(timeout),
          endpoint_(url, url.tls ? std::make_shared<const jsonrpc::TlsContext>() : nullptr,
                    answer_bytes_max) {}

    std::optional<std::string> post(std::string_view json, const HeaderFields& fields) override {
        // Twice is once: the id tells.
        const jsonrpc::HttpRequest request{
            .method = "POST", .target = {}, .body = json, .headers = fields, .repeatable = true};
        const jsonrpc::Posted posted = endpoint_.exchange(request, timeout_, stop_);
        if (const auto* const trouble = std::get_if<jsonrpc::Trouble>(&posted))
            return trouble->text;
        const int status = std::get<jsonrpc::HttpResponse>(posted).status;
        if (status >= 200 && status < 300) return std::nullopt;
        return "HTTP " + std::to_string(status);
    }

    void stop() override { stop_.set(); }

private:
    const domain::Milliseconds timeout_;
    jsonrpc::Signal stop_;
    jsonrpc::Endpoint endpoint_;
};

}  // namespace

std::unique_ptr<Poster> make_poster(const WebhookOptions& options) {
    return std::make_unique<HttpPoster>(url_of(options), options.timeout);
}

}  // namespace chains
