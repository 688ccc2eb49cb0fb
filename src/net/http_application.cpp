#include "net/http_application.hpp"

#include <utility>

#include "net/pending_request.hpp"

namespace net {

HttpExchange::HttpExchange(std::shared_ptr<PendingRequest> pending)
    : pending_(std::move(pending)) {}

HttpExchange::HttpExchange(HttpExchange&& other) noexcept = default;

HttpExchange& HttpExchange::operator=(HttpExchange&& other) noexcept {
    if (this != &other) {
        abandon();
        pending_ = std::move(other.pending_);
    }
    return *this;
}

HttpExchange::~HttpExchange() {
    abandon();
}

const HttpRequest& HttpExchange::request() const {
    return pending_->reader().request();
}

const std::shared_ptr<const void>& HttpExchange::ticket() const {
    return pending_->ticket();
}

void HttpExchange::answer(HttpResponse response) {
    const auto pending = std::move(pending_);
    pending->answer(std::move(response));
}

void HttpExchange::when_gone(std::function<void()> told) {
    pending_->when_gone(std::move(told));
}

void HttpExchange::abandon() noexcept {
    if (const auto pending = std::move(pending_)) pending->answer(std::nullopt);
}

void HttpApplication::serve(HttpExchange exchange) {
    HttpResponse response;
    try {
        response = handle(exchange.request());
    } catch (...) {
        response = failed(exchange.request());
    }
    exchange.answer(std::move(response));
}

}  // namespace net
