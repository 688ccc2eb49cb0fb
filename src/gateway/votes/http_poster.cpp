#include <memory>
#include <stdexcept>
#include <utility>

#include "gateway/rpc/endpoint.hpp"
#include "gateway/rpc/tls_context.hpp"
#include "gateway/rpc/url.hpp"
#include "gateway/votes/webhook.hpp"

namespace gateway {

namespace {

// Answers are not read, but an endpoint says much before somebody asks how much.
constexpr std::size_t answer_bytes_max = 1U << 20U;

rpc::Url url_of(const WebhookOptions& options) {
    std::optional<rpc::Url> url = rpc::parse_url(options.url);
    if (!url || url->websocket) throw std::invalid_argument("the webhook is no http or https URL");
    return *std::move(url);
}

class HttpPoster final : public Poster {
public:
    HttpPoster(rpc::Url url, domain::Milliseconds timeout)
        : timeout_(timeout),
          endpoint_(url, url.tls ? std::make_shared<const rpc::TlsContext>() : nullptr,
                    answer_bytes_max) {}

    std::optional<std::string> post(std::string_view json, const HeaderFields& fields) override {
        // Twice is once: the id tells.
        const rpc::HttpRequest request{
            .method = "POST", .target = {}, .body = json, .headers = fields, .repeatable = true};
        const rpc::Posted posted = endpoint_.exchange(request, timeout_, stop_);
        if (const auto* const trouble = std::get_if<rpc::Trouble>(&posted)) return trouble->text;
        const int status = std::get<rpc::HttpResponse>(posted).status;
        if (status >= 200 && status < 300) return std::nullopt;
        return "HTTP " + std::to_string(status);
    }

    void stop() override { stop_.set(); }

private:
    const domain::Milliseconds timeout_;
    rpc::Signal stop_;
    rpc::Endpoint endpoint_;
};

}  // namespace

std::unique_ptr<Poster> make_poster(const WebhookOptions& options) {
    return std::make_unique<HttpPoster>(url_of(options), options.timeout);
}

}  // namespace gateway
