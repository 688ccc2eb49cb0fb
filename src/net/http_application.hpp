#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "net/http_message.hpp"

namespace net {

// One request that waits for its answer. Answer it once, from any thread, now or much later; the
// request is gone then. Dropped without an answer, it is answered by HttpApplication::failed.
class HttpExchange {
public:
    // Where it comes from: a connection, or an application that stands before another one and lets
    // that one see a request, and answer it, in its own way.
    class Source {
    public:
        virtual ~Source() = default;
        [[nodiscard]] virtual const HttpRequest& request() const = 0;
        [[nodiscard]] virtual const std::shared_ptr<const void>& ticket() const = 0;
        // Once, from any thread. Nothing: the exchange was dropped.
        virtual void answer(std::optional<HttpResponse> response) = 0;
        virtual void when_gone(std::function<void()> told) = 0;
    };

    explicit HttpExchange(std::shared_ptr<Source> source);
    HttpExchange(HttpExchange&& other) noexcept;
    HttpExchange& operator=(HttpExchange&& other) noexcept;
    ~HttpExchange();

    [[nodiscard]] const HttpRequest& request() const;
    // What HttpApplication::before_body found out about this request.
    [[nodiscard]] const std::shared_ptr<const void>& ticket() const;
    // Never blocks; the server sends.
    void answer(HttpResponse response);
    // `told` is called once, from any thread, when the peer has hung up before the answer. Not
    // after `answer`, nor beside it.
    void when_gone(std::function<void()> told);

private:
    void abandon() noexcept;

    std::shared_ptr<Source> source_;
};

// What an application thinks of a request whose head is here and whose body is not.
struct HeadVerdict {
    // The head is enough for it: unknown route, wrong method or content type. A body that was
    // announced is not read; the connection closes then.
    std::optional<HttpResponse> answer{};
    // Otherwise: what was found out, for HttpExchange::ticket.
    std::shared_ptr<const void> ticket{};
    // `serve` does not block and takes no longer than to read a small body; the answer comes from
    // another thread, soon as a rule.
    bool is_brief = false;
};

// Who decides what is answered.
class HttpApplication {
public:
    virtual ~HttpApplication() = default;

    // Any thread of the server, must not block. Called once for each request.
    [[nodiscard]] virtual HeadVerdict before_body(const HttpRequest& head) = 0;

    // Any thread of the server, may block. What it throws becomes `failed`.
    [[nodiscard]] virtual HttpResponse handle(const HttpRequest& request) = 0;

    // Any thread of the server, may block. Overridden by an application that answers without
    // holding a thread: it hands the exchange on and returns. What it throws is lost; the dropped
    // exchange becomes `failed`.
    virtual void serve(HttpExchange exchange);

    // Any thread of the server, must not block. `head` is as much of the request as could be read,
    // maybe nothing. The connection closes after the answer.
    [[nodiscard]] virtual HttpResponse unreadable(const HttpRequest& head, HttpProblem problem) = 0;

    // Any thread of the server. After an exception it is called inside the catch block, so
    // std::current_exception() is there for the log; nothing of it may be sent.
    [[nodiscard]] virtual HttpResponse failed(const HttpRequest& request) = 0;
};

}  // namespace net
