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

#include "api/admission.hpp"
#include "api/connection.hpp"
#include "api/file_descriptor.hpp"
#include "api/http_application.hpp"
#include "api/listener.hpp"
#include "api/returns.hpp"

namespace api {

struct HttpCounts {
    std::size_t connections = 0;            // open now
    std::uint64_t connections_refused = 0;  // over a limit
    std::uint64_t requests_unreadable = 0;
};

// Accepts, waits for requests to arrive in full, and owns every connection no worker is busy with.
// A peer that sends nothing, or slowly, costs a table entry and no thread.
class EventLoop {
public:
    struct Options {
        std::chrono::milliseconds request_deadline{30'000};
        std::size_t connections_max = 4096;
        std::size_t connections_per_address_max = 1024;
    };

    EventLoop(const Options& options, Listener& listener, HttpApplication& application,
              std::shared_ptr<Returns> returns);

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
    void turn_away(const FileDescriptor& socket);
    void pause_accepting();

    void on_event(int descriptor, std::uint32_t events);
    void read(Connection& connection);
    [[nodiscard]] bool advance(Connection& connection);
    void bring_home();
    void resume(Connection& connection);
    void give_up(Connection& connection, HttpProblem problem);

    [[nodiscard]] HttpResponse failure(const HttpRequest& request) noexcept;
    void reply(Connection& connection, const HttpResponse& response, bool close);
    void go_on_writing(Connection& connection);
    void after_answer(Connection& connection);
    void remove(Connection& connection);
    void close_unless_busy(Connection& connection);

    void sweep();
    void sweep(Connection& connection);

    const Options options_;
    const Clock::duration sweep_interval_;
    Listener& listener_;
    HttpApplication& application_;
    const std::shared_ptr<Returns> returns_;
    const FileDescriptor epoll_;

    Clock::time_point now_ = Clock::now();
    Clock::time_point next_sweep_ = now_;
    std::optional<Clock::time_point> drain_started_;
    bool accepting_paused_ = false;
    Admission admission_;
    std::vector<std::optional<Seat>> seats_;  // by descriptor
    std::vector<std::shared_ptr<Connection>> ready_;
    std::vector<std::shared_ptr<Connection>> returned_;
    std::vector<std::shared_ptr<Connection>> removed_;  // alive until the end of the round

    std::atomic<bool> accepting_{true};
    std::atomic<std::uint64_t> connections_refused_{0};
    std::atomic<std::uint64_t> requests_unreadable_{0};

    mutable std::mutex mutex_;
    std::condition_variable emptied_;
    std::size_t connections_ = 0;
    bool listener_closed_ = false;
};

}  // namespace api
