#include "net/request_reader.hpp"

#include <algorithm>

namespace net {

namespace {

// A body up to this size gets its whole room at once; a larger one as it really arrives, so that
// announcing megabytes costs the announcer as much as it costs us.
constexpr std::size_t body_bytes_trusted = std::size_t{64} << 10U;

constexpr std::size_t headers_kept = 16;  // room for them, while a connection is idle

// Before a request line; an old client sends one behind a body.
constexpr std::size_t empty_lines_max = 128;

}  // namespace

std::span<char> RequestReader::space() {
    // The smallest size is outside the budget and always granted.
    if (input_.capacity() == 0) static_cast<void>(input_.reserve(InputBuffer::small_bytes));
    return input_.space();
}

void RequestReader::filled(std::size_t count) {
    input_.filled(count);
    if (!is_in_body()) skip_empty_lines();  // they are no sign of life
}

RequestReader::Step RequestReader::advance() {
    if (!is_in_body()) return read_next_head();
    if (head_.body_problem) return refuse(*head_.body_problem);
    return head_.chunked ? read_chunks() : read_body();
}

// RFC 9112, 2.2: those before a request line.
void RequestReader::skip_empty_lines() {
    const std::string_view bytes = input_.bytes();
    std::size_t end = 0;
    while (bytes.substr(end).starts_with("\r\n")) end += 2;
    if (end == 0) return;
    input_.consume(end);
    empty_lines_ += end / 2;
}

RequestReader::Step RequestReader::read_next_head() {
    skip_empty_lines();
    if (empty_lines_ > empty_lines_max) return refuse(HttpProblem::malformed_head);
    const std::string_view bytes = input_.bytes();
    if (bytes.empty() || bytes == "\r") return Step::more;

    const auto end = head_end_.find(bytes.substr(0, limits_.head_bytes_max));
    if (head_end_.malformed()) return refuse(HttpProblem::malformed_head);
    if (end) {
        read_head_from(bytes.substr(0, *end));
        if (head_.head_problem) return refuse(*head_.head_problem);
        head_bytes_ = *end;
        body_bytes_ = 0;
        if (head_.chunked && !head_.body_problem) chunks_.emplace(limits_);
        return Step::head;
    }
    // Not worth waiting for: TLS, binary or worse.
    if (static_cast<unsigned char>(bytes.front()) <= ' ') {
        return refuse(HttpProblem::malformed_head);
    }
    if (bytes.size() >= limits_.head_bytes_max) return refuse(HttpProblem::head_too_large);
    if (bytes.size() < input_.capacity()) return Step::more;
    const std::size_t room = std::min(2 * bytes.size(), limits_.head_bytes_max + 1);
    return input_.reserve(room) ? Step::more : refuse(HttpProblem::overloaded);
}

RequestReader::Step RequestReader::read_body() {
    const std::size_t arrived = input_.bytes().size();
    const std::size_t whole = head_bytes_ + head_.body_bytes;
    if (arrived >= whole) {
        take_request();
        return Step::request;
    }
    // One byte more than needed: a read that does not fill the buffer has emptied the socket.
    const bool trusted = whole + 1 <= body_bytes_trusted;
    if (trusted ? whole + 1 <= input_.capacity() : arrived < input_.capacity()) return Step::more;
    const std::size_t room =
        trusted ? whole + 1 : std::min(whole + 1, std::max(body_bytes_trusted, 2 * arrived));
    return input_.reserve(room) ? Step::more : refuse(HttpProblem::overloaded);
}

// The data moves together behind the head, over the lines between the chunks.
RequestReader::Step RequestReader::read_chunks() {
    const std::size_t raw_place = head_bytes_ + body_bytes_;
    std::vector<std::string_view> pieces;
    const auto progress = chunks_->read(input_.bytes().substr(raw_place), pieces);
    std::size_t end = raw_place;
    for (const auto piece : pieces) {
        input_.move_to(end, piece);
        end += piece.size();
    }
    input_.remove(end, raw_place + progress.consumed - end);
    body_bytes_ = end - head_bytes_;
    if (progress.problem) return refuse(*progress.problem);
    if (progress.done) {
        head_.body_bytes = body_bytes_;
        take_request();
        return Step::request;
    }
    const std::size_t arrived = input_.bytes().size();
    if (arrived < input_.capacity()) return Step::more;
    // The framing of one line or trailer, beside the largest body.
    const std::size_t most = head_bytes_ + limits_.body_bytes_max + limits_.head_bytes_max + 1;
    return input_.reserve(std::min(2 * arrived, most)) ? Step::more
                                                       : refuse(HttpProblem::overloaded);
}

RequestReader::Step RequestReader::refuse(HttpProblem problem) {
    problem_ = problem;
    read_head_from(input_.bytes().substr(0, is_in_body() ? head_bytes_ : limits_.head_bytes_max));
    return Step::refused;
}

void RequestReader::take_request() {
    const auto head = input_.bytes().substr(0, head_bytes_);
    if (head.data() != head_place_) read_head_from(head);
    if (chunks_) head_.body_bytes = body_bytes_;
    head_.request.body = input_.bytes().substr(head_bytes_, head_.body_bytes);
}

void RequestReader::read_head_from(std::string_view bytes) {
    read_head(bytes, limits_, head_);
    head_.request.remote = remote_;
    head_place_ = bytes.data();
}

void RequestReader::next_request() {
    input_.consume(head_bytes_ + head_.body_bytes);
    if (!has_input()) input_.release();
    chunks_.reset();
    head_end_ = {};
    empty_lines_ = 0;
    head_bytes_ = 0;
    if (auto& headers = head_.request.headers; headers.capacity() > headers_kept) {
        std::vector<HttpHeader>().swap(headers);
    }
}

}  // namespace net
