#include "net/http_application.hpp"

#include <exception>
#include <utility>

#include "net/connection.hpp"
#include "net/workers.hpp"

namespace net {

HttpExchange::HttpExchange(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)) {
    connection_->returns().open_exchange();
}

HttpExchange::HttpExchange(HttpExchange&& other) noexcept = default;

HttpExchange& HttpExchange::operator=(HttpExchange&& other) noexcept {
    if (this != &other) {
        abandon();
        connection_ = std::move(other.connection_);
    }
    return *this;
}

HttpExchange::~HttpExchange() {
    abandon();
}

const HttpRequest& HttpExchange::request() const {
    return connection_->request();
}

void HttpExchange::answer(HttpResponse response) {
    const auto connection = std::move(connection_);
    Returns& returns = connection->returns();
    const bool sends_here =
        Workers::is_worker_thread() || (returns.is_last_exchange() && !returns.is_closed());
    returns.close_exchange();
    if (sends_here) {
        connection->answer(response);
    } else {
        connection->answer_through_loop(std::move(response));
    }
}

void HttpExchange::when_gone(std::function<void()> told) {
    connection_->when_gone(std::move(told));
}

void HttpExchange::abandon() noexcept {
    if (const auto connection = std::move(connection_)) {
        connection->returns().close_exchange();
        connection->answer_through_loop(std::nullopt);
    }
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
