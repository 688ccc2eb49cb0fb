#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "net/http_message.hpp"

namespace net {

class Connection;

// One request that waits for its answer. Answer it once, from any thread, now or much later; the
// request is gone then. Dropped without an answer, it is answered by HttpApplication::failed.
class HttpExchange {
public:
    explicit HttpExchange(std::shared_ptr<Connection> connection);
    HttpExchange(HttpExchange&& other) noexcept;
    HttpExchange& operator=(HttpExchange&& other) noexcept;
    ~HttpExchange();

    [[nodiscard]] const HttpRequest& request() const;
    // Never blocks. A worker thread sends at once, and so does any other while nobody else waits
    // for an answer; a thread that completes many requests in one go leaves the sending to the
    // server.
    void answer(HttpResponse response);
    // `told` is called once, from any thread, when the peer has hung up before the answer. Not
    // after `answer`, nor beside it.
    void when_gone(std::function<void()> told);

private:
    void abandon() noexcept;

    std::shared_ptr<Connection> connection_;
};

// Who decides what is answered.
class HttpApplication {
public:
    virtual ~HttpApplication() = default;

    // Event loop, must not block: an answer for which the head is enough (unknown route, wrong
    // method or content type). A body that was announced is not read; the connection closes then.
    [[nodiscard]] virtual std::optional<HttpResponse> before_body(const HttpRequest& head) = 0;

    // Worker thread, may block. What it throws becomes `failed`.
    [[nodiscard]] virtual HttpResponse handle(const HttpRequest& request) = 0;

    // Worker thread. Overridden by an application that answers without holding a worker: it hands
    // the exchange on and returns. What it throws is lost; the dropped exchange becomes `failed`.
    virtual void serve(HttpExchange exchange);

    // Event loop, must not block. `head` is as much of the request as could be read, maybe
    // nothing. The connection closes after the answer.
    [[nodiscard]] virtual HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) = 0;

    // Any thread of the server. After an exception it is called inside the catch block, so
    // std::current_exception() is there for the log; nothing of it may be sent.
    [[nodiscard]] virtual HttpResponse failed(const HttpRequest& request) = 0;
};

}  // namespace net
