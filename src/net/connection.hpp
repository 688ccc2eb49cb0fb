#pragma once

#include <atomic>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <memory>
#include <optional>

#include "net/admission.hpp"
#include "net/pending_request.hpp"
#include "net/server_core.hpp"
#include "net/transport.hpp"

namespace net {

// One accepted socket: a coroutine on a strand of its own. Everything happens on the strand, but
// for what is said to come from any thread.
class Connection : public std::enable_shared_from_this<Connection>, public PendingRequest::Owner {
public:
    enum class Phase {
        securing,   // the TLS handshake is not over
        idle,       // nothing of a request has arrived
        reading,    // a request is arriving
        working,    // a request is out with the application
        writing,    // the rest of an answer waits for the peer to take it
        lingering,  // the last answer is out; the peer may still be sending
    };

    Connection(ServerCore& core, Socket socket, const PeerAddress& peer);
    ~Connection() override;

    // Once. It keeps itself alive until its end.
    void start();
    // Any thread.
    void on_answer() override;
    void on_watch() override;
    // Any thread: continues on the strand.
    void post_resume();
    void dispatch_resume();
    void post_inspection();
    void post_abandonment();

    // Any thread.
    [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_relaxed); }
    [[nodiscard]] Clock::time_point since() const {
        return Clock::time_point(Clock::duration(since_.load(std::memory_order_relaxed)));
    }
    // Its time is up, or it wants to be looked at again.
    [[nodiscard]] bool is_due(Clock::time_point now) const;

    // Under the lock of the table.
    struct Entry {
        std::list<std::shared_ptr<Connection>>::iterator place;
        bool counted = false;
    };
    Entry entry;
    [[nodiscard]] const PeerAddress& peer() const { return peer_; }
    // Closes after the answer it is about to give, if any.
    void evict() { evicted_.store(true, std::memory_order_relaxed); }

private:
    using Step = RequestReader::Step;
    using Handler =
        boost::asio::async_result<boost::asio::use_awaitable_t<Strand>, void()>::handler_type;

    Awaitable<void> run();
    // False: the connection is over.
    Awaitable<bool> secure();
    Awaitable<void> serve_requests();
    // Reads until there is a next step; `more` is the end of the connection.
    Awaitable<Step> next_step();
    Awaitable<std::optional<HttpResponse>> serve(HeadVerdict verdict);
    // False: the connection is over.
    Awaitable<bool> send(HttpResponse response, bool close);
    Awaitable<void> turn_down();
    Awaitable<void> linger();
    // False: the time is up, or the server closes.
    Awaitable<bool> ready(Socket::wait_type direction);
    // Until `resume`, which may be on its way already: it runs on the strand, after this.
    Awaitable<void> suspend();

    [[nodiscard]] HeadVerdict judge();
    [[nodiscard]] bool send_continue();
    [[nodiscard]] bool must_go() const;
    void count_failed_handshake();

    void resume();
    void enter(Phase phase);
    void inspect();
    void cut();
    void watch_peer();
    void look_for_peer();
    void finish();

    ServerCore& core_;
    Strand strand_;
    Socket socket_;
    Transport transport_;
    const PeerAddress peer_;
    const std::shared_ptr<PendingRequest> pending_;
    RequestReader& reader_;

    std::atomic<Phase> phase_;
    std::atomic<Clock::rep> since_;
    std::atomic<bool> evicted_{false};
    std::atomic<bool> has_asked_{false};
    std::atomic<bool> peer_spoke_{false};  // its end is looked for behind what it sent
    bool cut_ = false;                     // what it waits for is given up
    bool read_dry_ = true;                 // the socket has had nothing more the last time
    bool waits_for_output_ = false;        // before it can read on (TLS)
    bool peer_done_ = false;
    bool broken_ = false;
    std::optional<Handler> suspended_;
};

}  // namespace net
