#include "net/connection.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace net {

namespace {

// A body up to this size gets its whole room at once; a larger one as it really arrives, so that
// announcing megabytes costs the announcer as much as it costs us.
constexpr std::size_t body_bytes_trusted = std::size_t{64} << 10U;

// What a peer may still send after its last answer before the connection is cut, if it is in the
// middle of a body; in the middle of a head it is half of the largest head.
constexpr std::size_t discarded_body_bytes_max = std::size_t{4} << 20U;

}  // namespace

Connection::Connection(FileDescriptor socket, std::unique_ptr<TlsSession> tls, std::string remote,
                       std::shared_ptr<Returns> returns)
    : transport_(std::move(socket), std::move(tls)),
      remote_(std::move(remote)),
      returns_(std::move(returns)),
      phase_(transport_.is_secured() ? Phase::securing : Phase::reading),
      input_(returns_->budget()) {}

bool Connection::note_input() {
    auto expected = Owner::worker;
    if (owner_.compare_exchange_strong(expected, Owner::worker_with_input,
                                       std::memory_order_acq_rel)) {
        return true;
    }
    return expected == Owner::worker_with_input;
}

void Connection::receive() {
    // The smallest size is outside the budget and always granted.
    if (input_.capacity() == 0 && !input_.reserve(InputBuffer::small_bytes)) return;
    using Stop = Transfer::Stop;
    const auto [bytes, stop] = transport_.read(input_.space());
    input_.filled(bytes);
    if (head_bytes_ == 0) skip_empty_lines();  // they are no sign of life
    buffer_was_filled_ = stop == Stop::full;
    input_waits_for_output_ = stop == Stop::blocked_by_output;
    if (bytes > 0 && !input_waits_for_output_) return;
    more_assumed_ = false;
    peer_done_ = peer_done_ || stop == Stop::ended;
    broken_ = broken_ || stop == Stop::broken;
}

Connection::Step Connection::advance() {
    return head_bytes_ == 0 ? read_next_head() : read_body();
}

// RFC 9112, 2.2: those before a request line.
void Connection::skip_empty_lines() {
    while (input_.bytes().starts_with("\r\n")) input_.consume(2);
}

Connection::Step Connection::read_next_head() {
    skip_empty_lines();
    const std::string_view bytes = input_.bytes();
    if (bytes.empty() || bytes == "\r") return Step::more;

    const std::size_t bytes_max = returns_->limits().head_bytes_max;
    const auto end = head_end_.find(bytes.substr(0, bytes_max));
    if (head_end_.malformed()) return refuse(HttpProblem::malformed_head);
    if (end) {
        read_head_from(bytes.substr(0, *end));
        if (head_.head_problem) return refuse(*head_.head_problem);
        head_bytes_ = *end;
        return Step::head;
    }
    // Not worth waiting for: TLS, binary or worse.
    if (static_cast<unsigned char>(bytes.front()) <= ' ') {
        return refuse(HttpProblem::malformed_head);
    }
    if (bytes.size() >= bytes_max) return refuse(HttpProblem::head_too_large);
    if (bytes.size() < input_.capacity()) return Step::more;
    const bool has_room = input_.reserve(std::min(2 * bytes.size(), bytes_max + 1));
    return has_room ? Step::more : refuse(HttpProblem::overloaded);
}

Connection::Step Connection::read_body() {
    if (head_.body_problem) return refuse(*head_.body_problem);
    const std::size_t arrived = input_.bytes().size();
    if (arrived >= request_bytes()) {
        const auto head = input_.bytes().substr(0, head_bytes_);
        if (head.data() != head_place_) read_head_from(head);
        head_.request.body = input_.bytes().substr(head_bytes_, head_.body_bytes);
        return Step::request;
    }
    // One byte more than needed: a read that does not fill the buffer has emptied the socket.
    const std::size_t whole = request_bytes() + 1;
    const bool trusted = whole <= body_bytes_trusted;
    if (trusted ? whole <= input_.capacity() : arrived < input_.capacity()) return Step::more;
    const std::size_t room =
        trusted ? whole : std::min(whole, std::max(body_bytes_trusted, 2 * arrived));
    return input_.reserve(room) ? Step::more : refuse(HttpProblem::overloaded);
}

Connection::Step Connection::refuse(HttpProblem problem) {
    problem_ = problem;
    const std::size_t head_bytes =
        head_bytes_ > 0 ? head_bytes_ : returns_->limits().head_bytes_max;
    read_head_from(input_.bytes().substr(0, head_bytes));
    return Step::refused;
}

void Connection::read_head_from(std::string_view bytes) {
    read_head(bytes, returns_->limits(), head_);
    head_.request.remote = remote_;
    head_place_ = bytes.data();
}

void Connection::send_continue() {
    if (!head_.continue_expected || head_.body_bytes == 0) return;
    if (input_.bytes().size() > head_bytes_) return;  // it did not wait
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    // Only a peer that takes none of its earlier answers has no room for 25 bytes.
    if (transport_.write(go_on).bytes < go_on.size()) broken_ = true;
}

bool Connection::discard_input() {
    std::array<char, 16384> waste;
    const std::size_t bytes_max =
        head_bytes_ > 0 ? discarded_body_bytes_max : returns_->limits().head_bytes_max / 2;
    while (discarded_bytes_ < bytes_max) {
        const std::size_t room = std::min(waste.size(), bytes_max - discarded_bytes_);
        const auto [bytes, stop] = transport_.discard({waste.data(), room});
        discarded_bytes_ += bytes;
        if (bytes == 0) return stop == Transfer::Stop::blocked;
    }
    return false;
}

Connection::Sending Connection::send(const HttpResponse& response, bool close) {
    {
        const std::lock_guard lock(gone_mutex_);
        told_gone_ = nullptr;
    }
    closes_ = close || !head_.keep_alive || peer_done_ || returns_->is_draining();
    output_ = to_bytes(response, {.keep_alive = !closes_, .idle_timeout = returns_->idle_timeout()},
                       head_.request.method == "HEAD");
    output_sent_ = 0;
    return send_rest();
}

Connection::Sending Connection::send_rest() {
    const auto [bytes, stop] = transport_.write(std::string_view(output_).substr(output_sent_));
    output_sent_ += bytes;
    if (stop == Transfer::Stop::blocked) return Sending::blocked;
    if (stop == Transfer::Stop::broken) {
        broken_ = true;
        return Sending::broken;
    }
    std::string().swap(output_);
    return Sending::done;
}

void Connection::next_request() {
    input_.consume(request_bytes());
    if (!has_input() && input_.capacity() > InputBuffer::small_bytes) input_.release();
    head_end_ = {};
    head_bytes_ = 0;
}

void Connection::answer(const HttpResponse& response) {
    switch (send(response, false)) {
        case Sending::blocked:
            enter(Phase::writing, Clock::now());
            break;
        case Sending::broken:
            break;
        case Sending::done:
            if (closes_) {
                enter(Phase::lingering, Clock::now());
                break;
            }
            next_request();
            enter(Phase::reading, Clock::now());
            if (has_input() || may_have_more() || input_waits_for_output_) break;
            auto expected = Owner::worker;
            if (owner_.compare_exchange_strong(expected, Owner::loop, std::memory_order_acq_rel)) {
                return;
            }
            break;
    }
    returns_->post(shared_from_this());
}

void Connection::answer_through_loop(std::optional<HttpResponse> response) {
    answer_ = std::move(response);
    returns_->post(shared_from_this());
}

void Connection::enter(Phase phase, Clock::time_point now) {
    phase_ = phase;
    since_ = now;
}

void Connection::when_gone(std::function<void()> told) {
    {
        const std::lock_guard lock(gone_mutex_);
        if (!gone_) {
            told_gone_ = std::move(told);
            return;
        }
    }
    told();
}

void Connection::note_gone() {
    std::function<void()> told;
    {
        const std::lock_guard lock(gone_mutex_);
        gone_ = true;
        told.swap(told_gone_);
    }
    if (told) told();
}

void Connection::release_memory() {
    if (has_input()) return;
    input_.release();
    std::vector<HttpHeader>().swap(head_.request.headers);
}

}  // namespace net
