#include "net/websocket.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <future>
#include <utility>

#include "net/connect.hpp"
#include "net/io_thread.hpp"

namespace net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

using ErrorCode = boost::system::error_code;
using Kind = TransportError::Kind;
using End = WebSocket::End;

constexpr std::chrono::seconds write_max{5};
constexpr std::chrono::milliseconds farewell_max{50};

template <typename Error>
bool is_of(const ErrorCode& error, Error any) {
    return error.category() == make_error_code(any).category();
}

TransportError handshake_error(const ErrorCode& error) {
    if (error == beast::error::timeout) {
        return transport_error(Kind::timed_out, "no answer to the handshake");
    }
    if (is_of(error, websocket::error::closed)) {
        return transport_error(Kind::garbled, "no WebSocket");
    }
    const bool is_end =
        error == http::error::end_of_stream || error == http::error::partial_message;
    if (is_of(error, http::error::bad_version) && !is_end) {
        return transport_error(Kind::garbled, "no HTTP");
    }
    return transport_error(Kind::lost, "connection broken");
}

End end_for(const ErrorCode& error) {
    if (error == beast::error::timeout) return End::silent;
    if (error == websocket::error::closed) return End::closed;
    if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow) {
        return End::too_large;
    }
    return is_of(error, websocket::error::closed) ? End::malformed : End::broken;
}

}  // namespace

// On the I/O thread.
class WebSocket::Connection {
public:
    Connection(std::unique_ptr<Stream> stream, const WebSocketOptions& options)
        : stream_(std::move(stream)), socket_(*stream_) {
        websocket::stream_base::timeout times{};
        times.handshake_timeout = options.open_timeout;
        times.idle_timeout = 2 * options.ping_interval;
        times.keep_alive_pings = true;
        socket_.set_option(times);
        socket_.read_message_max(options.message_bytes_max);
        socket_.auto_fragment(false);
    }

    asio::awaitable<Opened> shake_hands(const Url& url) {
        socket_.set_option(websocket::stream_base::decorator(
            [authorization = url.authorization()](websocket::request_type& request) {
                request.set(http::field::user_agent, "posthouse");
                if (!authorization.empty()) {
                    request.set(http::field::authorization, authorization);
                }
            }));
        websocket::response_type response;
        const auto [error] =
            co_await socket_.async_handshake(response, url.authority(), url.target, as_values);
        if (!error) co_return std::monostate{};
        if (error != websocket::error::upgrade_declined) co_return handshake_error(error);
        WebSocketRefusal refusal{static_cast<int>(response.result_int()), std::nullopt};
        const auto retry_after = response.find(http::field::retry_after);
        if (retry_after != response.end()) refusal.retry_after = retry_after->value();
        co_return refusal;
    }

    asio::awaitable<std::variant<std::string, End>> read() {
        beast::flat_buffer buffer;
        const auto [error, size] = co_await socket_.async_read(buffer, as_values);
        if (error) co_return end_for(error);
        co_return beast::buffers_to_string(buffer.data());
    }

    asio::awaitable<std::optional<End>> write(const std::string& text) {
        const auto limit = cut_after(write_max);
        const auto [error, size] = co_await socket_.async_write(asio::buffer(text), as_values);
        if (!error) co_return std::nullopt;
        co_return End::broken;  // half a frame may be out
    }

    // Beside a read that goes on.
    asio::awaitable<bool> close(CloseCode code) {
        const auto limit = cut_after(farewell_max);
        const auto [error] = co_await socket_.async_close(
            websocket::close_reason(static_cast<websocket::close_code>(code)), as_values);
        co_return !error;
    }

    void cut() { stream_->next_layer().close(); }

private:
    // Unless the timer goes before.
    std::unique_ptr<asio::steady_timer> cut_after(std::chrono::milliseconds time) {
        auto timer = std::make_unique<asio::steady_timer>(socket_.get_executor(), time);
        timer->async_wait([this](const ErrorCode& cancelled) {
            if (!cancelled) cut();
        });
        return timer;
    }

    const std::unique_ptr<Stream> stream_;
    websocket::stream<Stream&> socket_;
};

class WebSocket::Impl {
public:
    using Received = std::variant<std::string, End>;

    Impl(Url url, const WebSocketOptions& options, ClientContext& context)
        : route_(std::move(url), context), options_(options), tasks_(context.thread()) {}

    Opened open() {
        drop();
        return start<Opened>([this] { return connect_anew(); }, net::stopped()).get();
    }

    Received receive(Deadline deadline) {
        if (!reading_.valid()) {
            reading_ = start<Received>([this] { return connection_->read(); }, End::stopped);
        }
        if (reading_.wait_until(deadline) == std::future_status::timeout) return End::timed_out;
        return reading_.get();
    }

    std::optional<End> send(const std::string& text) {
        return start<std::optional<End>>([this, &text] { return connection_->write(text); },
                                         End::stopped)
            .get();
    }

    void close(CloseCode code) {
        start<bool>([this, code] { return connection_->close(code); }, false).wait();
    }

    void stop() { tasks_.stop(); }

private:
    // Once stopped, the result is `if_stopped`, unless it came before.
    template <typename Result, typename Make>
    std::future<Result> start(Make make, Result if_stopped) {
        const auto result = std::make_shared<std::promise<Result>>();
        const bool started =
            tasks_
                .start(std::move(make),
                       [result, if_stopped](const std::exception_ptr& cancelled, Result value) {
                           result->set_value(cancelled ? if_stopped : std::move(value));
                       })
                .has_value();
        if (!started) result->set_value(if_stopped);
        return result->get_future();
    }

    asio::awaitable<Opened> connect_anew() {
        auto connected =
            co_await connect(route_, std::chrono::steady_clock::now() + options_.open_timeout);
        if (auto* const error = std::get_if<TransportError>(&connected)) {
            co_return std::move(*error);
        }
        auto& stream = std::get<std::unique_ptr<Stream>>(connected);
        stream->next_layer().expires_never();  // a WebSocket has its own times
        connection_ = std::make_unique<Connection>(std::move(stream), options_);
        co_return co_await connection_->shake_hands(route_.target);
    }

    // What may still be read of the last connection.
    void drop() {
        if (!connection_) return;
        start<bool>([this] { return cut(); }, false).wait();
        if (reading_.valid()) static_cast<void>(reading_.get());
    }

    asio::awaitable<bool> cut() {
        connection_->cut();
        co_return true;
    }

    const Route route_;
    const WebSocketOptions options_;
    std::unique_ptr<Connection> connection_;
    std::future<Received> reading_;
    Tasks tasks_;  // goes away first
};

WebSocket::WebSocket(Url url, WebSocketOptions options, std::shared_ptr<ClientContext> context)
    : context_(context ? std::move(context) : std::make_shared<ClientContext>()),
      impl_(std::make_unique<Impl>(std::move(url), options, *context_)) {}

WebSocket::~WebSocket() = default;

WebSocket::Opened WebSocket::open() {
    return impl_->open();
}

std::variant<std::string, WebSocket::End> WebSocket::receive(Deadline deadline) {
    return impl_->receive(deadline);
}

std::optional<WebSocket::End> WebSocket::send(const std::string& text) {
    return impl_->send(text);
}

void WebSocket::close(CloseCode code) {
    impl_->close(code);
}

void WebSocket::stop() {
    impl_->stop();
}

}  // namespace net
