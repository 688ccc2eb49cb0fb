#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "net/admission.hpp"
#include "net/connection.hpp"
#include "net/file_descriptor.hpp"
#include "net/http_application.hpp"
#include "net/listener.hpp"
#include "net/returns.hpp"
#include "net/tls.hpp"

namespace net {

struct HttpCounts {
    std::size_t connections = 0;            // open now
    std::uint64_t connections_refused = 0;  // over a limit
    std::uint64_t requests_read = 0;  // whole ones, and those whose head was enough for an answer
    std::uint64_t requests_unreadable = 0;  // failed handshakes among them
    std::uint64_t handshakes_failed = 0;    // TLS; not those of a peer that never sent anything
    std::size_t bytes_buffered = 0;         // now, in requests beyond 4 KiB for each
};

// Accepts, waits for requests to arrive in full, and owns every connection no worker is busy with.
// A peer that sends nothing, or slowly, costs a table entry and no thread.
class EventLoop {
public:
    struct Options {
        std::chrono::milliseconds request_deadline{30'000};
        std::size_t connections_max = 16'384;
        std::size_t connections_per_address_max = 8'192;
        bool makes_room = false;  // when full, closes the connection that waits longest
    };

    // Without `tls` connections are plain TCP.
    EventLoop(const Options& options, Listener& listener, const Tls* tls,
              HttpApplication& application, std::shared_ptr<Returns> returns);

    // One thread at a time. Waits for something to happen and deals with it; adds the connections
    // whose requests are complete and which belong to a worker now.
    void watch(std::vector<std::shared_ptr<Connection>>& ready);
    // When nobody watches any more.
    void close();

    // Any thread.
    void wake() { returns_->wake(); }
    void stop_accepting();
    void drain();
    // After `drain`. True: every connection is closed.
    [[nodiscard]] bool wait_until_empty(std::chrono::milliseconds patience);
    [[nodiscard]] HttpCounts counts() const;

private:
    using Clock = Connection::Clock;

    struct Seat {
        std::shared_ptr<Connection> connection;
        PeerAddress peer;
    };

    void obey();
    [[nodiscard]] int wait_ms() const;

    void accept_connections();
    void seat(FileDescriptor socket, const PeerAddress& peer);
    [[nodiscard]] bool make_room();
    void turn_away(const FileDescriptor& socket);
    void pause_accepting();

    void on_event(int descriptor, std::uint32_t events);
    void secure(Connection& connection);
    void count_failed_handshake();
    void read(Connection& connection);
    [[nodiscard]] bool advance(Connection& connection);
    void go_on_with_postponed();
    void bring_home();
    void resume(Connection& connection);
    void give_up(Connection& connection, HttpProblem problem);
    void turn_down(Connection& connection);

    [[nodiscard]] HttpResponse failure(const HttpRequest& request) noexcept;
    void reply(Connection& connection, const HttpResponse& response, bool close);
    void go_on_writing(Connection& connection);
    void after_answer(Connection& connection);
    void linger(Connection& connection);
    void remove(Connection& connection);
    void close_unless_busy(Connection& connection);

    void sweep();
    // True: it took some time.
    bool sweep(Connection& connection);
    bool sweep_handshake(Connection& connection);
    bool sweep_request(Connection& connection);

    const Options options_;
    const Clock::duration sweep_interval_;
    Listener& listener_;
    const Tls* const tls_;
    HttpApplication& application_;
    const std::shared_ptr<Returns> returns_;
    const FileDescriptor epoll_;

    Clock::time_point now_ = Clock::now();
    Clock::time_point next_sweep_ = now_;
    std::size_t sweep_place_ = 0;  // where the next one begins
    std::optional<Clock::time_point> drain_started_;
    bool accepting_paused_ = false;
    Admission admission_;
    std::vector<std::optional<Seat>> seats_;  // by descriptor
    std::vector<std::shared_ptr<Connection>> ready_;
    std::vector<std::shared_ptr<Connection>> returned_;
    std::vector<std::shared_ptr<Connection>> postponed_;  // have had their turn of this round
    std::vector<std::shared_ptr<Connection>> removed_;    // alive until the end of the round

    std::atomic<bool> accepting_{true};
    std::atomic<std::uint64_t> connections_refused_{0};
    std::atomic<std::uint64_t> requests_read_{0};
    std::atomic<std::uint64_t> requests_unreadable_{0};
    std::atomic<std::uint64_t> handshakes_failed_{0};

    mutable std::mutex mutex_;
    std::condition_variable emptied_;
    std::size_t connections_ = 0;
    bool listener_closed_ = false;
};

}  // namespace net
