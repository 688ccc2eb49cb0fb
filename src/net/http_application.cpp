#include "net/http_application.hpp"

#include <utility>

namespace net {

HttpExchange::HttpExchange(std::shared_ptr<Source> source) : source_(std::move(source)) {}

HttpExchange::HttpExchange(HttpExchange&& other) noexcept = default;

HttpExchange& HttpExchange::operator=(HttpExchange&& other) noexcept {
    if (this != &other) {
        abandon();
        source_ = std::move(other.source_);
    }
    return *this;
}

HttpExchange::~HttpExchange() {
    abandon();
}

const HttpRequest& HttpExchange::request() const {
    return source_->request();
}

const std::shared_ptr<const void>& HttpExchange::ticket() const {
    return source_->ticket();
}

void HttpExchange::answer(HttpResponse response) {
    const auto source = std::move(source_);
    source->answer(std::move(response));
}

void HttpExchange::when_gone(std::function<void()> told) {
    source_->when_gone(std::move(told));
}

void HttpExchange::abandon() noexcept {
    if (const auto source = std::move(source_)) source->answer(std::nullopt);
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
