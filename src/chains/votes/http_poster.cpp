#include <memory>
#include <stdexcept>
#include <utility>

#include "chains/votes/webhook.hpp"
#include "net/client.hpp"

namespace chains::votes {

namespace {

// Answers are not read, but an endpoint says much before somebody asks how much.
constexpr std::size_t answer_bytes_max = 1U << 20U;

net::Url url_of(const WebhookOptions& options) {
    std::optional<net::Url> url = net::parse_url(options.url);
    if (!url || url->websocket) throw std::invalid_argument("the webhook is no http or https URL");
    return *std::move(url);
}

class HttpPoster final : public Poster {
public:
    explicit HttpPoster(const WebhookOptions& options)
        : timeout_(options.timeout),
          client_(url_of(options), answer_bytes_max, options.client_context) {}

    std::optional<std::string> post(std::string_view json, const HeaderFields& fields) override {
        // Twice is once: the id tells.
        const net::ClientRequest request{
            .method = "POST", .target = {}, .body = json, .headers = fields, .repeatable = true};
        const net::ClientResult result = client_.exchange(request, timeout_);
        if (const auto* const error = std::get_if<net::TransportError>(&result)) return error->text;
        const int status = std::get<net::ClientResponse>(result).status;
        if (status >= 200 && status < 300) return std::nullopt;
        return "HTTP " + std::to_string(status);
    }

    void stop() override { client_.stop(); }

private:
    const domain::Milliseconds timeout_;
    net::Client client_;
};

}  // namespace

std::unique_ptr<Poster> make_poster(const WebhookOptions& options) {
    return std::make_unique<HttpPoster>(options);
}

}  // namespace chains::votes
