#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "net/admission.hpp"
#include "net/http_application.hpp"
#include "net/http_server.hpp"
#include "net/pending_request.hpp"
#include "net/tls.hpp"

namespace net {

class Connection;

using Clock = std::chrono::steady_clock;
using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Strand>;
template <class Result>
using Awaitable = boost::asio::awaitable<Result, Strand>;
inline constexpr boost::asio::use_awaitable_t<Strand> use_awaitable{};

// The threads that run the context. Asio on its own wakes another thread for each event; here one
// of them watches the sockets and does what is to be done, and another one is woken to take over
// when it begins something that may block. Any thread.
class ThreadTeam {
public:
    explicit ThreadTeam(boost::asio::io_context& context) : context_(context) {}

    // What each thread does, until the context has no more work.
    void run();
    // Around what may block, on a thread that runs.
    void step_out();
    void step_in();
    // On a thread that runs: it had nothing else to do when this came.
    [[nodiscard]] static bool is_alone();
    // On a thread that runs: something is about to come, and is looked for without a sleep for a
    // moment.
    static void stay_awake();

private:
    // False: there is no more work for anybody.
    [[nodiscard]] bool wait_for_turn();
    // False: it is the last one, which stays.
    [[nodiscard]] bool leave();
    void dismiss();
    // Zero: the context has no more work.
    [[nodiscard]] std::size_t run_next();

    boost::asio::io_context& context_;
    std::mutex mutex_;
    std::condition_variable wanted_;
    unsigned inside_ = 0;  // run the context and do nothing that may block
    bool dismissed_ = false;
};

// How many calls of HttpApplication::serve run at the same time, so that a thread is left to watch
// the sockets. Any thread.
class ServeSlots {
public:
    explicit ServeSlots(unsigned count) : free_(count) {}

    // False: none is free; the connection is resumed once it has one.
    [[nodiscard]] bool enter(const std::shared_ptr<Connection>& connection);
    void leave();

private:
    std::mutex mutex_;
    unsigned free_;
    std::deque<std::shared_ptr<Connection>> waiting_;
};

// Connections whose answer is here, on their way back to the server's threads. A commit answers
// many at once: they are resumed in one go, which wakes one thread and not one for each. Any
// thread.
class CompletionQueue {
public:
    explicit CompletionQueue(boost::asio::io_context& context) : context_(context) {}

    void post(std::shared_ptr<Connection> connection);

private:
    void resume_all();

    boost::asio::io_context& context_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Connection>> answered_;
};

// The open connections. Any thread.
class ConnectionTable {
public:
    ConnectionTable(std::size_t connections_max, std::size_t per_address_max)
        : admission_(connections_max, per_address_max) {}

    // False: there is no room. Then, with `makes_room`, the connection that waits longest for a
    // whole request may make some.
    [[nodiscard]] bool enter(const PeerAddress& peer, bool makes_room);
    // After `enter`: there is no connection after all.
    void give_up(const PeerAddress& peer);
    // After `enter`.
    void add(const std::shared_ptr<Connection>& connection);
    void leave(Connection& connection);

    // Has those looked after whose time may be up, each once until all were. True: there are more
    // of them, and the next call goes on with them.
    [[nodiscard]] bool sweep(Clock::time_point now);
    // The server closes: all of them go.
    void abandon_all();

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool wait_until_empty(std::chrono::milliseconds patience);
    void accepting_has_ended();

private:
    [[nodiscard]] bool make_room();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Admission admission_;
    std::list<std::shared_ptr<Connection>> connections_;
    std::list<std::shared_ptr<Connection>>::iterator next_swept_ = connections_.end();
    bool accepting_ = true;
};

// What the parts of a running server share.
struct ServerCore {
    // Throws std::runtime_error where the limit of open files is too low.
    ServerCore(const HttpOptions& with, HttpApplication& by, std::unique_ptr<Tls> secured_by);

    const HttpOptions options;
    HttpApplication& application;
    const std::unique_ptr<Tls> tls;  // none: plain TCP
    const std::shared_ptr<ReadingRoom> room;
    boost::asio::io_context context;
    ThreadTeam team;
    ServeSlots slots;
    CompletionQueue completions;
    ConnectionTable connections;

    std::atomic<bool> draining{false};
    std::atomic<Clock::rep> drain_started{0};
    std::atomic<bool> closing{false};
    std::atomic<std::uint64_t> connections_refused{0};
    std::atomic<std::uint64_t> requests_read{0};
    std::atomic<std::uint64_t> requests_unreadable{0};
    std::atomic<std::uint64_t> handshakes_failed{0};

    [[nodiscard]] HttpResponse failure(const HttpRequest& request) noexcept;
};

}  // namespace net
