#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/role.hpp>
#include <memory>
#include <utility>

// A connection to a server. Includes Beast: for the files of net only.
namespace net {

// Awaited operations hand out what they ended with, and throw only once their coroutine is ended.
inline constexpr auto as_values = boost::asio::as_tuple(boost::asio::use_awaitable);

// TCP or a socket file, plain or under TLS, behind one type, so that what stands on it is compiled
// once. Times out as its next layer is told to.
class Stream {
public:
    using Plain = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
    using Tls = boost::asio::ssl::stream<Plain&>;
    using executor_type = Plain::executor_type;
    using next_layer_type = Plain;

    explicit Stream(const executor_type& executor) : plain_(executor) {}

    [[nodiscard]] executor_type get_executor() noexcept { return plain_.get_executor(); }
    [[nodiscard]] Plain& next_layer() noexcept { return plain_; }
    [[nodiscard]] const Plain& next_layer() const noexcept { return plain_; }

    // Everything from now on is encrypted.
    Tls& start_tls(boost::asio::ssl::context& context) {
        tls_ = std::make_unique<Tls>(plain_, context);
        return *tls_;
    }
    [[nodiscard]] Tls* tls() { return tls_.get(); }

    template <typename Buffers, typename Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return tls_ ? tls_->async_read_some(buffers, std::forward<Token>(token))
                    : plain_.async_read_some(buffers, std::forward<Token>(token));
    }
    template <typename Buffers, typename Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return tls_ ? tls_->async_write_some(buffers, std::forward<Token>(token))
                    : plain_.async_write_some(buffers, std::forward<Token>(token));
    }

private:
    Plain plain_;
    std::unique_ptr<Tls> tls_;
};

// How a WebSocket ends the stream below it. Nothing is waited for, and nothing that goes wrong here
// takes the place of why it ends; the socket itself stays until the peer had time to read that.
template <typename Handler>
void async_teardown(boost::beast::role_type, Stream& stream, Handler&& handler) {
    boost::system::error_code ignored;
    stream.next_layer().socket().shutdown(boost::asio::socket_base::shutdown_both, ignored);
    boost::asio::post(stream.get_executor(),
                      boost::beast::bind_front_handler(std::forward<Handler>(handler),
                                                       boost::system::error_code{}));
}

}  // namespace net
