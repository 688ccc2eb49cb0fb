#include "net/connection.hpp"

#include <poll.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <string>
#include <utility>

namespace net {

namespace {

using namespace std::chrono_literals;
using boost::system::error_code;

// Answers without a body to wait for that one connection gets before it is somebody else's turn,
// and reads that do not empty its socket.
constexpr int answers_per_turn = 4;
constexpr int reads_per_turn = 8;
// An idle connection lives a little longer than we promise: the request that was sent in the last
// moment of the promise still arrives.
constexpr auto idle_grace = 1s;
constexpr auto linger_time = 1s;
constexpr auto drain_patience = 1s;        // for requests that have only begun to arrive
constexpr auto newcomer_patience = 300ms;  // for first requests that are about to

// What a peer may still send after its last answer before the connection is cut, if it is in the
// middle of a body; in the middle of a head it is half of the largest head.
constexpr std::size_t discarded_body_bytes_max = std::size_t{4} << 20U;

// A larger one is not read in a moment.
constexpr std::size_t brief_body_bytes_max = std::size_t{16} << 10U;

HttpResponse https_wanted() {
    return {.status = 400,
            .headers = {},
            .body = "this port speaks HTTPS\n",
            .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

Connection::Connection(ServerCore& core, Socket socket, const PeerAddress& peer)
    : core_(core),
      strand_(socket.get_executor()),
      socket_(std::move(socket)),
      transport_(socket_.native_handle()),
      peer_(peer),
      pending_(std::make_shared<PendingRequest>(core.room, peer.text(), *this)),
      reader_(pending_->reader()),
      phase_(core.tls ? Phase::securing : Phase::idle),
      since_(Clock::now().time_since_epoch().count()) {}

Connection::~Connection() {
    pending_->disown();
}

void Connection::start() {
    boost::asio::co_spawn(
        strand_, [self = shared_from_this()] { return self->run(); }, boost::asio::detached);
}

Awaitable<void> Connection::run() {
    const auto self = shared_from_this();
    try {
        bool secured = true;
        if (core_.tls) secured = co_await secure();
        if (secured) co_await serve_requests();
    } catch (...) {
        // No memory: the connection ends here.
    }
    finish();
}

void Connection::finish() {
    transport_.end();
    error_code ignored;
    socket_.close(ignored);
    // An exchange that is out still reads its request.
    if (phase() != Phase::working) reader_.release_memory();
    pending_->disown();
    core_.connections.leave(*this);
}

Awaitable<bool> Connection::secure() {
    // A session costs memory: not for a peer that says nothing.
    const bool speaks = co_await ready(Socket::wait_read);
    if (!speaks) co_return false;
    transport_.secure(core_.tls->session(socket_.native_handle()));
    for (;;) {
        const auto handshake = transport_.shake_hands();
        if (handshake == TlsSession::Handshake::done) {
            read_dry_ = false;
            enter(Phase::idle);
            co_return true;
        }
        if (handshake == TlsSession::Handshake::plain_http) {
            count_failed_handshake();
            co_await send(https_wanted(), true);
            co_return false;
        }
        if (handshake == TlsSession::Handshake::failed) {
            if (transport_.has_heard()) count_failed_handshake();
            co_await linger();
            co_return false;
        }
        const auto direction =
            transport_.handshake_waits_for_output() ? Socket::wait_write : Socket::wait_read;
        const bool in_time = co_await ready(direction);
        if (in_time) continue;
        if (transport_.has_heard()) count_failed_handshake();
        co_return false;
    }
}

Awaitable<void> Connection::serve_requests() {
    for (int answered = 1;; ++answered) {
        bool turn_is_over = answered % answers_per_turn == 0;
        Step step = co_await next_step();
        if (step == Step::head) {
            HeadVerdict verdict = judge();
            const auto& head = reader_.head();
            bool open = true;
            if (verdict.answer) {
                core_.requests_read.fetch_add(1, std::memory_order_relaxed);
                open = co_await send(*std::move(verdict.answer), head.announces_body());
            } else {
                if (!head.body_problem && !send_continue()) co_return;
                step = co_await next_step();
                if (step == Step::request) {
                    core_.requests_read.fetch_add(1, std::memory_order_relaxed);
                    auto response = co_await serve(std::move(verdict));
                    if (!response) co_return;
                    open = co_await send(*std::move(response), false);
                    turn_is_over = true;
                }
            }
            if (!open) co_return;
        }
        if (step == Step::refused) co_await turn_down();
        if (step == Step::refused || step == Step::more) co_return;

        reader_.next_request();
        enter(reader_.has_input() ? Phase::reading : Phase::idle);
        // Whoever has more to say waits until the others had their turn.
        if (reader_.has_input() && turn_is_over) {
            co_await boost::asio::post(strand_, use_awaitable);
        }
    }
}

Awaitable<Connection::Step> Connection::next_step() {
    for (int reads = 1;; ++reads) {
        const Step step = reader_.advance();
        if (step != Step::more) co_return step;
        if (phase() == Phase::idle && reader_.has_input()) enter(Phase::reading);
        if (broken_) co_return Step::more;
        if (peer_done_) {
            co_return reader_.has_input() ? reader_.refuse(HttpProblem::truncated) : Step::more;
        }
        bool in_time = !cut_ && !core_.closing;
        if (read_dry_) {
            in_time = co_await ready(waits_for_output_ ? Socket::wait_write : Socket::wait_read);
        } else if (reads % reads_per_turn == 0) {
            co_await boost::asio::post(strand_, use_awaitable);
        }
        if (!in_time && must_go()) co_return Step::more;
        if (!in_time && phase() == Phase::reading) co_return reader_.refuse(HttpProblem::deadline);
        const auto [bytes, stop] = transport_.read(reader_.space());
        reader_.filled(bytes);
        read_dry_ = stop != Transfer::Stop::full;
        waits_for_output_ = stop == Transfer::Stop::blocked_by_output;
        peer_done_ = peer_done_ || stop == Transfer::Stop::ended;
        broken_ = broken_ || stop == Transfer::Stop::broken;
        // A request that has come in the last moment still counts.
        if (!in_time && !reader_.has_input()) co_return Step::more;
        if (phase() == Phase::idle && !reader_.has_input()) reader_.release_memory();
    }
}

HeadVerdict Connection::judge() {
    try {
        return core_.application.before_body(reader_.request());
    } catch (...) {
        return {.answer = core_.failure(reader_.request())};
    }
}

// Tells a peer that asked first to send the body. False: it takes nothing.
bool Connection::send_continue() {
    const auto& head = reader_.head();
    if (!head.continue_expected || !head.announces_body()) return true;
    if (reader_.has_body_input()) return true;  // it did not wait
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    // Only a peer that takes none of its earlier answers has no room for 25 bytes.
    return transport_.write(go_on).bytes == go_on.size();
}

Awaitable<std::optional<HttpResponse>> Connection::serve(HeadVerdict verdict) {
    enter(Phase::working);
    peer_spoke_.store(false, std::memory_order_relaxed);
    if (!core_.slots.enter(shared_from_this())) co_await suspend();
    if (core_.closing) co_return std::nullopt;
    pending_->open(std::move(verdict.ticket));
    const bool is_brief = verdict.is_brief && reader_.request().body.size() <= brief_body_bytes_max;
    const bool stays = is_brief && ThreadTeam::is_alone();
    if (!stays) core_.team.step_out();
    try {
        core_.application.serve(HttpExchange(pending_));
    } catch (...) {
        // The exchange went down with it and answers as failed.
    }
    if (!stays) core_.team.step_in();
    core_.slots.leave();
    if (is_brief) ThreadTeam::stay_awake();
    if (pending_->wait()) co_await suspend();
    if (is_brief) ThreadTeam::stay_awake();
    auto response = pending_->take_answer();
    if (!response && !core_.closing) response = core_.failure(reader_.request());
    co_return response;
}

Awaitable<bool> Connection::send(HttpResponse response, bool close) {
    const bool closes = close || !reader_.head().keep_alive || peer_done_ || core_.draining ||
                        evicted_.load(std::memory_order_relaxed);
    const bool is_head = reader_.request().method == "HEAD";
    const std::string bytes =
        to_bytes(response, {.keep_alive = !closes, .idle_timeout = core_.options.idle_timeout},
                 http_date_now(), is_head);
    std::string().swap(response.body);  // not held twice while the peer takes its time
    std::string_view behind = is_head ? std::string_view() : response.fixed_body;
    BudgetPart held(core_.room->answers);
    enter(Phase::writing);
    for (std::string_view rest = bytes;;) {
        const auto [count, stop] = transport_.write(rest);
        rest.remove_prefix(count);
        if (stop == Transfer::Stop::full) {
            if (behind.empty()) break;
            rest = std::exchange(behind, {});
            continue;
        }
        if (stop != Transfer::Stop::blocked) co_return false;
        // From here on the peer says how long it is held.
        const bool is_small = bytes.size() <= InputBuffer::small_bytes;
        if (!is_small && !held.hold(bytes.size())) co_return false;
        const bool in_time = co_await ready(Socket::wait_write);
        if (!in_time) co_return false;
    }
    if (!closes) co_return true;
    co_await linger();
    co_return false;
}

Awaitable<void> Connection::turn_down() {
    core_.requests_unreadable.fetch_add(1, std::memory_order_relaxed);
    HttpResponse response;
    try {
        response = core_.application.unreadable(reader_.request(), reader_.problem());
    } catch (...) {
        response = core_.failure(reader_.request());
    }
    co_await send(std::move(response), true);
}

// Closing with unread bytes would reset the connection and take the last answer or alert back from
// a peer that is still sending, so it is read out for a moment.
Awaitable<void> Connection::linger() {
    transport_.stop_sending();
    enter(Phase::lingering);
    std::size_t left =
        reader_.is_in_body() ? discarded_body_bytes_max : core_.room->limits.head_bytes_max / 2;
    while (!peer_done_) {
        const auto [bytes, stop] = transport_.discard(left);
        left -= bytes;
        if (left == 0 || stop != Transfer::Stop::blocked) co_return;
        const bool in_time = co_await ready(Socket::wait_read);
        if (!in_time) co_return;
    }
}

Awaitable<bool> Connection::ready(Socket::wait_type direction) {
    if (cut_ || core_.closing) co_return false;
    error_code error;
    co_await socket_.async_wait(direction, boost::asio::redirect_error(use_awaitable, error));
    co_return !error && !cut_ && !core_.closing;
}

Awaitable<void> Connection::suspend() {
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<Strand>, void()>(
        [this](auto handler) { suspended_.emplace(std::move(handler)); }, use_awaitable);
}

void Connection::resume() {
    if (!suspended_) return;
    Handler handler = *std::move(suspended_);
    suspended_.reset();
    std::move(handler)();
}

void Connection::post_resume() {
    boost::asio::post(strand_, [self = shared_from_this()] { self->resume(); });
}

void Connection::dispatch_resume() {
    boost::asio::dispatch(strand_, [self = shared_from_this()] { self->resume(); });
}

void Connection::post_inspection() {
    boost::asio::post(strand_, [self = shared_from_this()] { self->inspect(); });
}

void Connection::post_abandonment() {
    boost::asio::post(strand_, [self = shared_from_this()] {
        self->cut();
        self->resume();
    });
}

bool Connection::must_go() const {
    return core_.closing || evicted_.load(std::memory_order_relaxed);
}

void Connection::count_failed_handshake() {
    core_.handshakes_failed.fetch_add(1, std::memory_order_relaxed);
    core_.requests_unreadable.fetch_add(1, std::memory_order_relaxed);
}

void Connection::enter(Phase phase) {
    if (phase == Phase::reading) has_asked_.store(true, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
    since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    cut_ = false;
}

bool Connection::is_due(Clock::time_point now) const {
    const auto age = now - since();
    const bool draining = core_.draining;
    const bool hurried =
        draining && now > Clock::time_point(Clock::duration(core_.drain_started)) + drain_patience;
    // Who has just come is about to ask, and can not know that it was not heard.
    const bool is_new = !has_asked_.load(std::memory_order_relaxed) && age <= newcomer_patience;
    switch (phase()) {
        case Phase::securing:
            return (draining && !is_new) || age > core_.options.request_deadline;
        case Phase::idle:
            return (draining && !is_new) || must_go() ||
                   age > core_.options.idle_timeout + idle_grace;
        case Phase::reading:
            return hurried || must_go() || age > core_.options.request_deadline;
        case Phase::working:
            return peer_spoke_.load(std::memory_order_relaxed);
        case Phase::writing:
            return age > core_.options.request_deadline;
        case Phase::lingering:
            return age > linger_time;
    }
    return false;
}

void Connection::inspect() {
    const auto now = Clock::now();
    if (!is_due(now)) return;
    if (phase() == Phase::working) return look_for_peer();
    // A handshake that has begun is given the patience of a request.
    const bool begun = phase() == Phase::securing && transport_.has_heard();
    const auto drain_started = Clock::time_point(Clock::duration(core_.drain_started));
    if (begun && now - since() <= core_.options.request_deadline &&
        now <= drain_started + drain_patience) {
        return;
    }
    cut();
}

void Connection::cut() {
    cut_ = true;
    error_code ignored;
    socket_.cancel(ignored);
}

// Beside the coroutine, which waits for the answer.
void Connection::watch_peer() {
    if (phase() != Phase::working) return;
    socket_.async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
        if (!error) self->look_for_peer();
    });
}

// A socket is readable by a pipelined request as well; behind one, the end is looked for now and
// then.
void Connection::look_for_peer() {
    if (phase() != Phase::working) return;
    pollfd peer{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
    const bool gone = ::poll(&peer, 1, 0) > 0;
    peer_spoke_.store(!gone, std::memory_order_relaxed);
    if (gone) pending_->note_gone();
}

void Connection::on_answer() {
    core_.completions.post(shared_from_this());
}

void Connection::on_watch() {
    boost::asio::post(strand_, [self = shared_from_this()] { self->watch_peer(); });
}

}  // namespace net
