#include "net/client.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cassert>
#include <cerrno>
#include <future>
#include <tuple>

#include "net/client_request.hpp"
#include "net/connect.hpp"
#include "net/io_thread.hpp"
#include "net/tls_trust.hpp"

namespace net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using ErrorCode = boost::system::error_code;
using Kind = TransportError::Kind;
using Milliseconds = std::chrono::milliseconds;
using Parser = http::response_parser<http::string_body>;

// Responses before the real one: what always is there to be read never lets a deadline pass.
constexpr unsigned interim_max = 16;
constexpr std::size_t head_bytes_max = 64U << 10U;
constexpr std::size_t buffer_bytes_max = 2 * head_bytes_max;  // trailers are a head too
constexpr std::chrono::seconds connect_max{3};

// Open as far as we know, and nothing has come unasked.
bool is_quiet(Stream& stream) {
    char byte = 0;
    const auto socket = stream.next_layer().socket().native_handle();
    const bool nothing_came = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
                              (errno == EAGAIN || errno == EWOULDBLOCK);
    return nothing_came && (stream.tls() == nullptr || has_no_data(stream.tls()->native_handle()));
}

// One request on one connection.
struct Attempt {
    ClientResult result;
    bool ended_silently = false;  // before the first byte of an answer
};

TransportError error_for(const ErrorCode& error, Milliseconds timeout) {
    if (error == beast::error::timeout) {
        return transport_error(Kind::timed_out, "no answer in " + in_words(timeout));
    }
    if (error == http::error::header_limit || error == http::error::body_limit ||
        error == http::error::buffer_overflow) {
        return transport_error(Kind::garbled, "answer too large");
    }
    const bool is_end = error == http::error::end_of_stream ||
                        error == http::error::partial_message ||
                        error.category() != make_error_code(http::error::bad_version).category();
    return is_end ? transport_error(Kind::lost, "connection broken")
                  : transport_error(Kind::garbled, "no HTTP");
}

// The codings of a body beside `chunked` are none that we asked for.
bool has_foreign_coding(const Parser& parser) {
    const auto& head = parser.get();
    const auto coding = head.find(http::field::transfer_encoding);
    return coding != head.end() && !beast::iequals(coding->value(), "chunked");
}

ClientResponse response_in(Parser& parser, bool with_headers) {
    ClientResponse response;
    response.status = static_cast<int>(parser.get().result_int());
    const auto retry_after = parser.get().find(http::field::retry_after);
    if (retry_after != parser.get().end()) response.retry_after = retry_after->value();
    if (with_headers) {
        for (const auto& field : parser.get()) {
            response.headers.emplace_back(field.name_string(), field.value());
        }
    }
    response.body = std::move(parser.get().body());
    return response;
}

}  // namespace

class Client::Impl {
public:
    Impl(Url url, std::size_t response_bytes_max, ClientContext& context, const ClientTls& tls,
         std::size_t idle_max)
        : trust_(tls.is_empty() ? nullptr : std::make_unique<TlsTrust>(tls)),
          route_(std::move(url), context, trust_.get()),
          response_bytes_max_(response_bytes_max),
          idle_max_(idle_max),
          secrets_(route_.target.secrets()),
          tasks_(context.thread()) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() { stop(); }

    // `request` lives until `done`.
    std::function<void()> start(const ClientRequest& request, Milliseconds timeout, Done done) {
        // Of what was never started nobody else tells.
        const auto told = std::make_shared<Done>(std::move(done));
        auto cancel =
            tasks_.start([this, &request, timeout] { return exchange(request, timeout); },
                         [this, told](const std::exception_ptr& failure, ClientResult result) {
                             if (failure) result = transport_error(Kind::lost, "connection broken");
                             if (stopped_ && std::holds_alternative<TransportError>(result))
                                 result = stopped();
                             (*told)(std::move(result));
                         });
        if (!cancel) (*told)(stopped());
        return cancel ? *std::move(cancel) : [] {};
    }

    void stop() {
        stopped_ = true;
        tasks_.stop();
    }

    [[nodiscard]] bool is_stopped() const { return stopped_; }
    [[nodiscard]] bool is_this_thread() const { return route_.context.thread().is_this_thread(); }
    [[nodiscard]] const std::vector<std::string>& secrets() const { return secrets_; }

private:
    asio::awaitable<ClientResult> exchange(const ClientRequest& request, Milliseconds timeout) {
        const auto message = message_of(request, route_);
        if (!message) {
            co_return transport_error(Kind::unsent, "a request that HTTP can not carry");
        }
        const Deadline begin = std::chrono::steady_clock::now();
        const Deadline deadline = begin + timeout;
        if (auto stream = take_idle()) {
            stream->next_layer().expires_at(deadline);
            auto attempt = co_await ask(std::move(stream), *message, request, timeout);
            if (!attempt.ended_silently) co_return std::move(attempt.result);
            idle_.clear();  // whatever ended this one ended the others
            if (!request.repeatable) co_return std::move(attempt.result);
        }
        auto connected = co_await connect(route_, std::min(deadline, begin + connect_max));
        if (auto* const error = std::get_if<TransportError>(&connected)) {
            co_return std::move(*error);
        }
        auto stream = std::get<std::unique_ptr<Stream>>(std::move(connected));
        stream->next_layer().expires_at(deadline);
        auto attempt = co_await ask(std::move(stream), *message, request, timeout);
        co_return std::move(attempt.result);
    }

    // The stream knows the deadline.
    asio::awaitable<Attempt> ask(std::unique_ptr<Stream> stream, const RequestMessage& message,
                                 const ClientRequest& request, Milliseconds timeout) {
        const auto [unwritten, written] = co_await http::async_write(*stream, message, as_values);
        // Otherwise: who takes no more of a request may have answered it already.
        if (unwritten == beast::error::timeout) co_return Attempt{error_for(unwritten, timeout)};
        if (request.written) request.written();

        beast::flat_buffer buffer(buffer_bytes_max);
        for (unsigned heard = 0; heard <= interim_max; ++heard) {
            Parser parser;
            parser.header_limit(head_bytes_max);
            parser.body_limit(request.response_bytes_max > 0 ? request.response_bytes_max
                                                             : response_bytes_max_);
            parser.skip(message.method() == http::verb::head);
            auto [error, read] =
                co_await http::async_read_header(*stream, buffer, parser, as_values);
            if (error) {
                const bool silent = heard == 0 && !parser.got_some() && buffer.size() == 0;
                const bool by_us =
                    error == beast::error::timeout || error == asio::error::operation_aborted;
                co_return Attempt{error_for(error, timeout), silent && !by_us};
            }
            if (has_foreign_coding(parser)) {
                co_return Attempt{transport_error(Kind::garbled, "no HTTP")};
            }
            // Interim responses announce the real one.
            if (parser.get().result_int() < 200) continue;
            if (!parser.is_done()) {
                std::tie(error, read) =
                    co_await http::async_read(*stream, buffer, parser, as_values);
            }
            const bool cut = error == asio::ssl::error::stream_truncated;
            if (cut)
                parser.put_eof(error);  // TLS without a farewell; HTTP knows whether it is whole
            if (error) co_return Attempt{error_for(error, timeout)};
            if (parser.keep_alive() && !cut && buffer.size() == 0) keep(std::move(stream));
            co_return Attempt{response_in(parser, request.passed_on)};
        }
        co_return Attempt{transport_error(Kind::garbled, "no end of interim responses")};
    }

    std::unique_ptr<Stream> take_idle() {
        while (!idle_.empty()) {
            auto stream = std::move(idle_.back());
            idle_.pop_back();
            if (is_quiet(*stream)) return stream;
        }
        return nullptr;
    }

    void keep(std::unique_ptr<Stream> stream) {
        if (idle_.size() < idle_max_) idle_.push_back(std::move(stream));
    }

    const std::unique_ptr<TlsTrust> trust_;  // null: the context's
    const Route route_;
    const std::size_t response_bytes_max_;
    const std::size_t idle_max_;
    const std::vector<std::string> secrets_;
    std::atomic<bool> stopped_{false};
    // Of the I/O thread alone; the last used at the back.
    std::vector<std::unique_ptr<Stream>> idle_;
    Tasks tasks_;  // goes away first
};

Client::Client(Url url, std::size_t response_bytes_max, std::shared_ptr<ClientContext> context,
               const ClientTls& tls, std::size_t idle_max)
    : context_(context ? std::move(context) : std::make_shared<ClientContext>()),
      impl_(std::make_unique<Impl>(std::move(url), response_bytes_max, *context_, tls, idle_max)) {}

Client::~Client() = default;

ClientResult Client::exchange(const ClientRequest& request, std::chrono::milliseconds timeout) {
    assert(!impl_->is_this_thread());
    std::promise<ClientResult> answered;
    impl_->start(request, timeout,
                 [&answered](ClientResult result) { answered.set_value(std::move(result)); });
    return answered.get_future().get();
}

void Client::post(std::string json, bool repeatable, std::chrono::milliseconds timeout, Done done) {
    send({.method = "POST", .body = std::move(json), .repeatable = repeatable}, timeout,
         std::move(done));
}

void Client::send(OwnedRequest request, std::chrono::milliseconds timeout, Done done) {
    struct Owned {
        OwnedRequest texts;
        ClientRequest request;
    };
    const auto owned = std::make_shared<Owned>(Owned{std::move(request), {}});
    owned->request = {.method = owned->texts.method,
                      .target = owned->texts.target,
                      .body = owned->texts.body,
                      .headers = owned->texts.headers,
                      .repeatable = owned->texts.repeatable,
                      .written = owned->texts.written};
    impl_->start(owned->request, timeout,
                 [owned, done = std::move(done)](ClientResult result) { done(std::move(result)); });
}

std::function<void()> Client::start(const ClientRequest& request, std::chrono::milliseconds timeout,
                                    Done done) {
    return impl_->start(request, timeout, std::move(done));
}

void Client::stop() {
    impl_->stop();
}

bool Client::is_stopped() const {
    return impl_->is_stopped();
}

const std::vector<std::string>& Client::secrets() const {
    return impl_->secrets();
}

}  // namespace net
