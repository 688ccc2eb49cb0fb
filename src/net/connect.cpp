#include "net/connect.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "net/io_thread.hpp"
#include "net/local_socket.hpp"
#include "net/resolve.hpp"
#include "net/tls_trust.hpp"

namespace net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using ErrorCode = boost::system::error_code;
using Failure = std::optional<TransportError>;

constexpr const char* no_connection_in_time = "no connection in time";
constexpr std::size_t proxy_head_bytes_max = 16U << 10U;

TransportError unsent(std::string text) {
    return transport_error(TransportError::Kind::unsent, std::move(text));
}

std::string words_for(const ErrorCode& error) {
    if (error == beast::error::timeout || error == asio::error::timed_out) {
        return no_connection_in_time;
    }
    if (error == asio::error::connection_refused) return "connection refused";
    if (error == asio::error::network_unreachable || error == asio::error::host_unreachable) {
        return "no route";
    }
    if (error == asio::error::no_descriptors ||
        error == boost::system::errc::too_many_files_open_in_system) {
        return "no descriptors left";
    }
    return "connection failed";
}

TransportError unresolved(Unresolved why) {
    if (why == Unresolved::stopped) return stopped();
    return unsent(why == Unresolved::timed_out ? "no name look-up in time" : "name not found");
}

// TCP to the first address that takes us.
asio::awaitable<Failure> reach(Stream& stream, const Url& server, IoThread& thread,
                               Deadline deadline) {
    const auto resolved = co_await resolve(thread, server.host, server.port, deadline);
    if (const auto* const why = std::get_if<Unresolved>(&resolved)) co_return unresolved(*why);
    const auto& addresses = std::get<Addresses>(resolved);
    std::size_t left = addresses.size();
    ErrorCode last;
    for (const auto& address : addresses) {
        const Deadline now = std::chrono::steady_clock::now();
        auto& tcp = stream.next_layer();
        tcp.expires_at(now + (deadline - now) / static_cast<int>(left--));
        tcp.close();
        tcp.socket().open(address.protocol(), last);
        if (last) continue;
        // Asio's sockets would stay open in programs that are started.
        ::fcntl(tcp.socket().native_handle(), F_SETFD, FD_CLOEXEC);
        const auto [error] = co_await tcp.async_connect(address, as_values);
        if (!error) {
            ErrorCode ignored;
            tcp.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
            co_return std::nullopt;
        }
        last = error;
    }
    co_return unsent(words_for(last));
}

// The kernel answers at once.
Failure reach_file(Stream& stream, const std::string& path) {
    base::Descriptor socket = connect_to_file(path);
    if (!socket.is_open()) return unsent(std::generic_category().message(errno));
    ErrorCode error;
    stream.next_layer().socket().assign(asio::generic::stream_protocol(AF_UNIX, 0), socket.get(),
                                        error);
    if (error) return unsent(words_for(error));
    socket.release();
    return std::nullopt;
}

// RFC 9110, 9.3.6.
asio::awaitable<Failure> open_tunnel(Stream& stream, const Route& route) {
    const std::string place = route.target.host_and_port();
    http::request<http::empty_body> request(http::verb::connect, place, 11);
    request.set(http::field::host, place);
    request.set(http::field::user_agent, "posthouse");
    if (const std::string credentials = route.proxy->authorization(); !credentials.empty()) {
        request.set(http::field::proxy_authorization, credentials);
    }
    const auto [unwritten, written] = co_await http::async_write(stream, request, as_values);
    if (unwritten) co_return unsent("proxy: " + words_for(unwritten));

    beast::flat_buffer buffer(2 * proxy_head_bytes_max);
    http::response_parser<http::empty_body> parser;
    parser.header_limit(proxy_head_bytes_max);
    parser.skip(true);  // behind a success follow the bytes of the server
    const auto [unread, read] = co_await http::async_read(stream, buffer, parser, as_values);
    if (unread == beast::error::timeout) co_return unsent("proxy: no answer in time");
    if (unread) co_return unsent("proxy: no HTTP");
    const int status = static_cast<int>(parser.get().result_int());
    if (status < 200 || status > 299) co_return unsent("proxy: HTTP " + std::to_string(status));
    // Nobody has asked the server anything yet.
    if (buffer.size() > 0) co_return unsent("proxy: no HTTP");
    co_return std::nullopt;
}

asio::awaitable<Failure> shake_hands(Stream& stream, const Route& route) {
    Stream::Tls& tls = stream.start_tls(route.trust->context());
    if (!expect_host(tls.native_handle(), route.target.host)) co_return unsent("TLS failed");
    const auto [error] = co_await tls.async_handshake(asio::ssl::stream_base::client, as_values);
    if (!error) co_return std::nullopt;
    if (error == beast::error::timeout) co_return unsent(no_connection_in_time);
    co_return unsent(distrusts_certificate(tls.native_handle()) ? "certificate not trusted"
                                                                : "TLS failed");
}

}  // namespace

Route::Route(Url url, ClientContext& shared, TlsTrust* own)
    : target(std::move(url)),
      context(shared),
      proxy(context.proxies().proxy_for(target)),
      trust(!target.tls      ? nullptr
            : own != nullptr ? own
                             : &context.trust()) {}

asio::awaitable<Connected> connect(const Route& route, Deadline deadline) {
    auto stream = std::make_unique<Stream>(co_await asio::this_coro::executor);
    if (const std::string& file = route.target.socket_file; !file.empty()) {
        if (auto failure = reach_file(*stream, file)) co_return std::move(*failure);
        co_return std::move(stream);
    }
    const Url& server = route.proxy == nullptr ? route.target : *route.proxy;
    if (auto failure = co_await reach(*stream, server, route.context.thread(), deadline)) {
        if (route.proxy != nullptr) failure->text.insert(0, "proxy: ");
        co_return std::move(*failure);
    }
    stream->next_layer().expires_at(deadline);
    if (route.has_tunnel()) {
        if (auto failure = co_await open_tunnel(*stream, route)) co_return std::move(*failure);
    }
    if (route.trust != nullptr) {
        if (auto failure = co_await shake_hands(*stream, route)) co_return std::move(*failure);
    }
    co_return std::move(stream);
}

}  // namespace net
