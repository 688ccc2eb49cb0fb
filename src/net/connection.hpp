#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_message.hpp"
#include "net/input_buffer.hpp"
#include "net/request_head.hpp"
#include "net/returns.hpp"
#include "net/transport.hpp"

namespace net {

// One accepted socket. At any moment exactly one party owns it: the event loop, or whoever works
// on the request it delivered. Only the owner calls it, except for `owned_by_loop` and
// `note_input`. No call blocks.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    using Clock = std::chrono::steady_clock;

    enum class Phase {
        securing,   // the TLS handshake is not over
        reading,    // idle as long as nothing of a request has arrived
        working,    // a complete request is out with a worker
        writing,    // the rest of an answer waits for the peer to take it
        lingering,  // the last answer is out; the peer may still be sending
    };
    enum class Step {
        more,     // the next step needs bytes that are not here yet
        head,     // a head is complete and may be answered; `advance` again to read its body
        request,  // the request is whole
        refused,  // it will never be; `problem` says why
    };
    enum class Sending { done, blocked, broken };

    // With a TLS session its handshake comes first.
    Connection(FileDescriptor socket, std::unique_ptr<TlsSession> tls, std::string remote,
               std::shared_ptr<Returns> returns);

    [[nodiscard]] bool owned_by_loop() const {
        return owner_.load(std::memory_order_acquire) == Owner::loop;
    }
    // The loop, while the connection is away: it has something to read when it comes back.
    // False: it came back meanwhile.
    [[nodiscard]] bool note_input();
    void give_away() { owner_.store(Owner::worker, std::memory_order_release); }
    void take_back() { owner_.store(Owner::loop, std::memory_order_relaxed); }

    // A step of the TLS handshake, while `securing`.
    [[nodiscard]] TlsSession::Handshake shake_hands() { return transport_.shake_hands(); }
    // An event that says "writable" is a reason to go on reading, or with the handshake.
    [[nodiscard]] bool input_waits_for_output() const {
        return input_waits_for_output_ || transport_.handshake_waits_for_output();
    }
    // While `securing`: something has arrived.
    [[nodiscard]] bool has_heard() const { return transport_.has_heard(); }

    // Takes from the socket what it has and the buffer holds.
    void receive();
    // Makes the next step with the bytes that are here.
    [[nodiscard]] Step advance();
    // Gives up on the request, as `advance` may; `request` is then what could be read of its head.
    Step refuse(HttpProblem problem);
    [[nodiscard]] HttpProblem problem() const { return problem_; }
    // Tells a peer that asked first to send the body.
    void send_continue();
    // Throws away what arrives. False: the peer is done, or has sent more than is polite.
    [[nodiscard]] bool discard_input();

    [[nodiscard]] const RequestHead& head() const { return head_; }
    [[nodiscard]] const HttpRequest& request() const { return head_.request; }

    // One send, as far as the socket takes it; `send_rest` goes on.
    [[nodiscard]] Sending send(const HttpResponse& response, bool close);
    [[nodiscard]] Sending send_rest();
    // Forgets the answered request.
    void next_request();

    // Any thread that owns it: sends the answer itself. The connection goes to sleep if nothing
    // else is to be done, otherwise home to the loop.
    void answer(const HttpResponse& response);
    [[nodiscard]] Returns& returns() { return *returns_; }
    // Any owner: leaves the sending to the loop; without a response the loop has to find one.
    void answer_through_loop(std::optional<HttpResponse> response);
    [[nodiscard]] std::optional<HttpResponse> take_answer() {
        return std::exchange(answer_, std::nullopt);
    }

    void enter(Phase phase, Clock::time_point now);
    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] Clock::time_point since() const { return since_; }

    [[nodiscard]] bool has_input() const { return !input_.bytes().empty(); }
    [[nodiscard]] bool is_idle() const { return phase_ == Phase::reading && !has_input(); }
    [[nodiscard]] bool is_broken() const { return broken_; }
    [[nodiscard]] bool peer_is_done() const { return peer_done_; }
    [[nodiscard]] bool closes_after_answer() const { return closes_; }
    // The socket may hold bytes that no event will announce again.
    [[nodiscard]] bool may_have_more() const { return more_assumed_ || buffer_was_filled_; }
    void assume_more() { more_assumed_ = true; }

    // Any thread that works on the request: `told` is called once when the peer has hung up, at
    // least its sending half; at once if it has already. It must be quick. Forgotten with the
    // answer.
    void when_gone(std::function<void()> told);
    // The loop: the peer has hung up.
    void note_gone();

    // The loop. Waits for its next turn although there is input.
    [[nodiscard]] bool is_postponed() const { return postponed_; }
    void postpone(bool value) { postponed_ = value; }

    void release_memory();
    void stop_sending() { transport_.stop_sending(); }
    void close() { transport_.close(); }
    [[nodiscard]] int descriptor() const { return transport_.descriptor(); }
    [[nodiscard]] const std::string& remote() const { return remote_; }

private:
    enum class Owner { loop, worker, worker_with_input };

    void skip_empty_lines();
    [[nodiscard]] Step read_next_head();
    [[nodiscard]] Step read_body();
    void read_head_from(std::string_view bytes);
    [[nodiscard]] std::size_t request_bytes() const { return head_bytes_ + head_.body_bytes; }

    Transport transport_;
    const std::string remote_;
    const std::shared_ptr<Returns> returns_;
    std::atomic<Owner> owner_{Owner::loop};

    Phase phase_;
    Clock::time_point since_ = Clock::now();

    InputBuffer input_;
    HeadEnd head_end_;
    std::size_t head_bytes_ = 0;  // 0: the head is not complete
    const char* head_place_ = nullptr;
    RequestHead head_;
    HttpProblem problem_{};
    bool peer_done_ = false;
    bool more_assumed_ = false;
    bool buffer_was_filled_ = false;
    bool input_waits_for_output_ = false;
    std::size_t discarded_bytes_ = 0;

    std::optional<HttpResponse> answer_;
    std::string output_;
    std::size_t output_sent_ = 0;
    bool closes_ = false;
    bool broken_ = false;
    bool postponed_ = false;

    std::mutex gone_mutex_;  // guards what follows
    bool gone_ = false;
    std::function<void()> told_gone_;
};

}  // namespace net
