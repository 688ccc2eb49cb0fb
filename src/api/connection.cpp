#include "api/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace api {

namespace {

// A body up to this size gets its whole room at once; a larger one as it really arrives, so that
// announcing megabytes costs the announcer as much as it costs us.
constexpr std::size_t body_bytes_trusted = std::size_t{64} << 10U;

// What a peer may still send after its last answer before the connection is cut.
constexpr std::size_t discarded_bytes_max = std::size_t{4} << 20U;

bool would_block(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

Connection::Connection(FileDescriptor socket, std::string remote, std::shared_ptr<Returns> returns)
    : socket_(std::move(socket)),
      remote_(std::move(remote)),
      returns_(std::move(returns)),
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
    const auto space = input_.space();
    ssize_t count = 0;
    do {
        count = ::recv(socket_.get(), space.data(), space.size(), 0);
    } while (count < 0 && errno == EINTR);

    if (count > 0) {
        input_.filled(static_cast<std::size_t>(count));
        buffer_was_filled_ = static_cast<std::size_t>(count) == space.size();
        return;
    }
    more_assumed_ = buffer_was_filled_ = false;
    if (count == 0) {
        peer_done_ = true;
    } else if (!would_block(errno)) {
        broken_ = true;
    }
}

Connection::Step Connection::advance() {
    return head_bytes_ == 0 ? read_next_head() : read_body();
}

Connection::Step Connection::read_next_head() {
    // RFC 9112, 2.2: empty lines before a request line are skipped.
    while (input_.bytes().starts_with("\r\n")) input_.consume(2);
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
    // A peer that cannot take 25 bytes will run into the deadline.
    [[maybe_unused]] const auto sent =
        ::send(socket_.get(), go_on.data(), go_on.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool Connection::discard_input() {
    std::array<char, 16384> waste;
    for (;;) {
        const auto count = ::recv(socket_.get(), waste.data(), waste.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return would_block(errno);
        if (count == 0) return false;
        discarded_bytes_ += static_cast<std::size_t>(count);
        if (discarded_bytes_ > discarded_bytes_max) return false;
    }
}

Connection::Sending Connection::send(const HttpResponse& response, bool close) {
    closes_ = close || !head_.keep_alive || peer_done_ || returns_->is_draining();
    output_ = to_bytes(response, {.keep_alive = !closes_, .idle_timeout = returns_->idle_timeout()},
                       head_.request.method == "HEAD");
    output_sent_ = 0;
    return send_rest();
}

Connection::Sending Connection::send_rest() {
    while (output_sent_ < output_.size()) {
        const auto count = ::send(socket_.get(), output_.data() + output_sent_,
                                  output_.size() - output_sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            output_sent_ += static_cast<std::size_t>(count);
        } else if (would_block(errno)) {
            return Sending::blocked;
        } else if (errno != EINTR) {
            broken_ = true;
            return Sending::broken;
        }
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
            if (has_input() || may_have_more()) break;
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

void Connection::release_memory() {
    if (has_input()) return;
    input_.release();
    std::vector<HttpHeader>().swap(head_.request.headers);
}

void Connection::stop_sending() {
    ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace api
