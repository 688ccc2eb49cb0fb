#include "net/http_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "net/connection.hpp"
#include "net/listener.hpp"
#include "net/local_socket.hpp"
#include "net/server_core.hpp"

namespace net {

namespace {

using namespace std::chrono_literals;
using boost::asio::generic::stream_protocol;
using boost::system::error_code;

using Acceptor = boost::asio::basic_socket_acceptor<stream_protocol, Strand>;
using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Strand>;

constexpr int accepted_per_round = 8;
constexpr auto accept_pause = 100ms;
constexpr auto next_slice = 5ms;
constexpr auto drain_sweep_interval = 20ms;
constexpr std::size_t dropped_bytes = std::size_t{64} << 10U;  // of a peer that is turned away

std::unique_ptr<Tls> load_tls(const HttpOptions& options) {
    if (options.tls_certificate_file.empty() && options.tls_key_file.empty()) return nullptr;
    return std::make_unique<Tls>(TlsFiles{options.tls_certificate_file, options.tls_key_file});
}

Listeners listeners_of(const HttpOptions& options) {
    if (options.socket_file.empty()) {
        return listen_on(options.host, options.port, options.address_setting);
    }
    Listeners file;
    file.sockets.push_back(listen_on_file(options.socket_file));
    return file;
}

// The protocol a listening or accepted socket was made for.
stream_protocol protocol_of(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
    return {address.ss_family, 0};
}

// Asio hands ownership of a descriptor over when it has taken it.
template <class AsioSocket>
[[nodiscard]] bool take(AsioSocket& socket, base::Descriptor& descriptor) {
    error_code error;
    socket.assign(protocol_of(descriptor.get()), descriptor.get(), error);
    if (error) return false;
    descriptor.release();
    return true;
}

}  // namespace

class HttpServer::Running {
public:
    Running(const HttpOptions& options, HttpApplication& application,
            std::vector<base::Descriptor> listening)
        : core_(options, application, load_tls(options)),
          housekeeping_(boost::asio::make_strand(core_.context)),
          sweep_interval_(std::clamp<Clock::duration>(options.request_deadline / 8, 5ms, 1s)),
          sweep_timer_(housekeeping_) {
        auto listeners = listening.empty() ? listeners_of(options)
                                           : take_over(std::move(listening), options.host,
                                                       options.port, options.address_setting);
        port_ = listeners.port;
        for (auto& socket : listeners.sockets) {
            if (take(acceptors_.emplace_back(housekeeping_), socket)) continue;
            throw std::runtime_error("cannot watch the socket of " + options.host);
        }
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        core_.closing = true;
        stop_accepting();
        core_.connections.abandon_all();
        work_.reset();
        threads_.clear();
        if (!core_.options.socket_file.empty()) ::unlink(core_.options.socket_file.c_str());
    }

    void start() {
        if (work_) return;
        work_.emplace(core_.context.get_executor());
        for (auto& acceptor : acceptors_) spawn(accept(acceptor));
        spawn(sweep());
        const unsigned threads = std::max(core_.options.workers, 1U) + 1;
        for (unsigned index = 0; index < threads; ++index) {
            threads_.emplace_back([this] { core_.team.run(); });
        }
    }

    void stop_accepting() {
        boost::asio::post(housekeeping_, [this] { close_acceptors(); });
    }

    [[nodiscard]] bool drain(std::chrono::milliseconds patience) {
        if (!core_.draining) {
            core_.drain_started = Clock::now().time_since_epoch().count();
            core_.draining = true;
        }
        if (!work_) {
            close_acceptors();
            return true;
        }
        stop_accepting();
        return core_.connections.wait_until_empty(patience);
    }

    [[nodiscard]] HttpCounts counts() const {
        return {.connections = core_.connections.size(),
                .connections_refused = core_.connections_refused,
                .requests_read = core_.requests_read,
                .requests_unreadable = core_.requests_unreadable,
                .handshakes_failed = core_.handshakes_failed,
                .bytes_buffered = core_.room->budget.taken() + core_.room->answers.taken()};
    }

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::optional<std::string> reload_tls() {
        return core_.tls ? core_.tls->reload() : std::nullopt;
    }

private:
    void spawn(Awaitable<void> task) {
        boost::asio::co_spawn(housekeeping_, std::move(task), boost::asio::detached);
    }

    // Also a sign for the sweep that something has changed.
    void close_acceptors() {
        error_code ignored;
        for (auto& acceptor : acceptors_) acceptor.close(ignored);
        sweep_timer_.cancel();
        core_.connections.accepting_has_ended();
    }

    // By accept4, because Asio does not close accepted sockets on exec.
    Awaitable<void> accept(Acceptor& acceptor) {
        Timer pause(housekeeping_);
        while (acceptor.is_open()) {
            error_code error;
            co_await acceptor.async_wait(Acceptor::wait_read,
                                         boost::asio::redirect_error(use_awaitable, error));
            if (error || !acceptor.is_open()) continue;
            if (accept_some(acceptor.native_handle())) continue;
            pause.expires_after(accept_pause);
            co_await pause.async_wait(boost::asio::redirect_error(use_awaitable, error));
        }
    }

    // False: there are no descriptors or no memory for now.
    [[nodiscard]] bool accept_some(int listener) {
        for (int round = 0; round < accepted_per_round; ++round) {
            sockaddr_storage address{};
            socklen_t length = sizeof address;
            base::Descriptor socket(::accept4(listener, reinterpret_cast<sockaddr*>(&address),
                                              &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (socket.is_open()) {
                if (address.ss_family == AF_UNIX && !is_peer_trusted(socket.get())) {
                    core_.connections_refused.fetch_add(1, std::memory_order_relaxed);
                    continue;
                }
                admit(std::move(socket), PeerAddress(address));
                continue;
            }
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                return false;
            }
            if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
        }
        return true;
    }

    void admit(base::Descriptor descriptor, const PeerAddress& peer) {
        if (!core_.connections.enter(peer, core_.options.makes_room)) {
            return turn_away(descriptor);
        }
        std::shared_ptr<Connection> connection;
        try {
            Socket socket(boost::asio::make_strand(core_.context));
            if (take(socket, descriptor)) {
                connection = std::make_shared<Connection>(core_, std::move(socket), peer);
                core_.connections.add(connection);
            }
        } catch (const std::bad_alloc&) {
            connection.reset();
        }
        if (!connection) return core_.connections.give_up(peer);
        connection->start();
    }

    void turn_away(const base::Descriptor& socket) {
        core_.connections_refused.fetch_add(1, std::memory_order_relaxed);
        // Whoever wants to be answered under TLS has to be let in.
        if (core_.tls) return;
        HttpResponse response;
        try {
            response = core_.application.unreadable({}, HttpProblem::connections_too_many);
        } catch (...) {
            response = core_.failure({});
        }
        const auto bytes = to_bytes(response, {}, http_date_now(), false);
        // A request that is here already, left unread, would take the answer back.
        [[maybe_unused]] const auto dropped =
            ::recv(socket.get(), nullptr, dropped_bytes, MSG_TRUNC | MSG_DONTWAIT);
        [[maybe_unused]] const auto sent =
            ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        ::shutdown(socket.get(), SHUT_WR);
    }

    Awaitable<void> sweep() {
        while (!core_.closing) {
            const bool more = core_.connections.sweep(Clock::now());
            const auto interval =
                core_.draining ? std::min<Clock::duration>(sweep_interval_, drain_sweep_interval)
                               : sweep_interval_;
            sweep_timer_.expires_after(more ? Clock::duration(next_slice) : interval);
            error_code ignored;
            co_await sweep_timer_.async_wait(boost::asio::redirect_error(use_awaitable, ignored));
        }
    }

    ServerCore core_;
    const Strand housekeeping_;
    const Clock::duration sweep_interval_;
    int port_ = 0;
    std::vector<Acceptor> acceptors_;
    Timer sweep_timer_;
    std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
    std::vector<std::jthread> threads_;
};

HttpServer::HttpServer(const HttpOptions& options, HttpApplication& application,
                       std::vector<base::Descriptor> listening)
    : running_(std::make_unique<Running>(options, application, std::move(listening))) {}

HttpServer::~HttpServer() = default;

void HttpServer::start() {
    running_->start();
}

int HttpServer::port() const {
    return running_->port();
}

void HttpServer::stop_accepting() {
    running_->stop_accepting();
}

bool HttpServer::drain(std::chrono::milliseconds patience) {
    return running_->drain(patience);
}

HttpCounts HttpServer::counts() const {
    return running_->counts();
}

std::optional<std::string> HttpServer::reload_tls() {
    return running_->reload_tls();
}

}  // namespace net
