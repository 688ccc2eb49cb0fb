#include "net/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

namespace net {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t input_events = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t hangup_events = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
// A request that is whole waits for the end of its round: rounds are short, also in a flood.
constexpr std::size_t events_per_round = 32;
constexpr int accepted_per_round = 8;
// Answers without a body to wait for that one connection gets before it is somebody else's turn.
constexpr int answers_per_turn = 4;
constexpr int swept_per_round = 64;
constexpr auto accept_pause = 100ms;
constexpr std::size_t dropped_bytes = std::size_t{64} << 10U;  // of a peer that is turned away
// An idle connection lives a little longer than we promise: the request that was sent in the last
// moment of the promise still arrives.
constexpr auto idle_grace = 1s;
constexpr auto warm_time = 1s;  // how long an idle connection keeps its small buffer
constexpr auto linger_time = 1s;
constexpr auto drain_patience = 1s;  // for requests that have only begun to arrive

FileDescriptor make_epoll() {
    FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll.is_open()) throw std::system_error(errno, std::system_category(), "epoll_create1");
    return epoll;
}

bool subscribe(int epoll, int operation, int descriptor, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    return ::epoll_ctl(epoll, operation, descriptor, &event) == 0;
}

HttpResponse https_wanted() {
    return {.status = 400,
            .headers = {},
            .body = "this port speaks HTTPS\n",
            .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

EventLoop::EventLoop(const Options& options, Listener& listener, const Tls* tls,
                     HttpApplication& application, std::shared_ptr<Returns> returns)
    : options_(options),
      sweep_interval_(std::clamp<Clock::duration>(options.request_deadline / 8, 5ms, 1s)),
      listener_(listener),
      tls_(tls),
      application_(application),
      returns_(std::move(returns)),
      epoll_(make_epoll()),
      admission_(options.connections_max, options.connections_per_address_max) {
    if (!subscribe(epoll_.get(), EPOLL_CTL_ADD, listener_.descriptor(), EPOLLIN) ||
        !subscribe(epoll_.get(), EPOLL_CTL_ADD, returns_->descriptor(), EPOLLIN)) {
        throw std::system_error(errno, std::system_category(), "epoll_ctl");
    }
}

void EventLoop::watch(std::vector<std::shared_ptr<Connection>>& ready) {
    std::array<epoll_event, events_per_round> events;
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    now_ = Clock::now();
    for (int index = 0; index < count; ++index) {
        const auto& event = events[static_cast<std::size_t>(index)];
        if (event.data.fd == returns_->descriptor()) {
            bring_home();
        } else if (listener_.is_open() && event.data.fd == listener_.descriptor()) {
            accept_connections();
        } else {
            on_event(event.data.fd, event.events);
        }
    }
    go_on_with_postponed();
    obey();
    if (now_ >= next_sweep_) sweep();
    removed_.clear();
    ready.swap(ready_);
}

void EventLoop::close() {
    returns_->close();
    seats_.clear();
}

void EventLoop::stop_accepting() {
    accepting_.store(false, std::memory_order_relaxed);
    returns_->wake();
}

void EventLoop::drain() {
    returns_->start_draining();
    stop_accepting();
}

bool EventLoop::wait_until_empty(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return emptied_.wait_for(lock, patience,
                             [this] { return listener_closed_ && connections_ == 0; });
}

HttpCounts EventLoop::counts() const {
    const std::lock_guard lock(mutex_);
    return {.connections = connections_,
            .connections_refused = connections_refused_.load(std::memory_order_relaxed),
            .requests_read = requests_read_.load(std::memory_order_relaxed),
            .requests_unreadable = requests_unreadable_.load(std::memory_order_relaxed),
            .handshakes_failed = handshakes_failed_.load(std::memory_order_relaxed),
            .bytes_buffered = returns_->budget().taken()};
}

void EventLoop::obey() {
    if (!accepting_.load(std::memory_order_relaxed) && listener_.is_open()) {
        listener_.close();
        const std::lock_guard lock(mutex_);
        listener_closed_ = true;
        emptied_.notify_all();
    }
    if (returns_->is_draining() && !drain_started_) {
        drain_started_ = now_;
        sweep_place_ = 0;
        sweep();
    }
}

int EventLoop::wait_ms() const {
    if (!postponed_.empty()) return 0;
    if (admission_.connections() == 0 && !accepting_paused_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_sweep_ - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

void EventLoop::accept_connections() {
    for (int round = 0; round < accepted_per_round; ++round) {
        sockaddr_storage address{};
        socklen_t length = sizeof address;
        FileDescriptor socket(::accept4(listener_.descriptor(),
                                        reinterpret_cast<sockaddr*>(&address), &length,
                                        SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket.is_open()) {
            const PeerAddress peer(address);
            if (admission_.enter(peer) || (make_room() && admission_.enter(peer))) {
                seat(std::move(socket), peer);
            } else {
                turn_away(socket);
            }
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return;
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            return pause_accepting();
        }
    }
}

// Few connections only: all of them are looked at.
bool EventLoop::make_room() {
    if (!options_.makes_room) return false;
    Connection* quietest = nullptr;
    for (const auto& place : seats_) {
        if (!place || !place->connection->owned_by_loop()) continue;
        Connection& connection = *place->connection;
        if (connection.phase() != Connection::Phase::reading) continue;
        if (quietest == nullptr || connection.since() < quietest->since()) quietest = &connection;
    }
    if (quietest == nullptr) return false;
    remove(*quietest);
    return true;
}

void EventLoop::seat(FileDescriptor socket, const PeerAddress& peer) {
    const int descriptor = socket.get();
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= seats_.size()) seats_.resize(index + 1);
    // Edge-triggered for the whole life of the connection: no call per request to arm it again.
    if (!subscribe(epoll_.get(), EPOLL_CTL_ADD, descriptor,
                   EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)) {
        admission_.leave(peer);
        return;
    }
    if (admission_.connections() == 1) next_sweep_ = now_ + sweep_interval_;
    auto session = tls_ == nullptr ? nullptr : tls_->session(descriptor);
    seats_[index] = Seat{
        std::make_shared<Connection>(std::move(socket), std::move(session), peer.text(), returns_),
        peer};
    const std::lock_guard lock(mutex_);
    connections_ = admission_.connections();
}

void EventLoop::turn_away(const FileDescriptor& socket) {
    connections_refused_.fetch_add(1, std::memory_order_relaxed);
    // Whoever wants to be answered under TLS has to be let in.
    if (tls_ != nullptr) return;
    HttpResponse response;
    try {
        response = application_.unreadable({}, HttpProblem::connections_too_many);
    } catch (...) {
        response = failure({});
    }
    const auto bytes = to_bytes(response, {}, false);
    // A request that is here already, left unread, would take the answer back.
    [[maybe_unused]] const auto dropped =
        ::recv(socket.get(), nullptr, dropped_bytes, MSG_TRUNC | MSG_DONTWAIT);
    [[maybe_unused]] const auto sent =
        ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(socket.get(), SHUT_WR);
}

void EventLoop::pause_accepting() {
    subscribe(epoll_.get(), EPOLL_CTL_MOD, listener_.descriptor(), 0);
    accepting_paused_ = true;
    next_sweep_ = std::min(next_sweep_, now_ + accept_pause);
}

void EventLoop::on_event(int descriptor, std::uint32_t events) {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= seats_.size() || !seats_[index]) return;
    Connection& connection = *seats_[index]->connection;
    if ((events & hangup_events) != 0) connection.note_gone();
    if (!connection.owned_by_loop()) {
        if ((events & input_events) == 0 || connection.note_input()) return;
    }
    if ((events & hangup_events) != 0) connection.assume_more();
    const bool may_go_on = (events & input_events) != 0 || connection.input_waits_for_output();
    switch (connection.phase()) {
        case Connection::Phase::securing:
            if (may_go_on) secure(connection);
            break;
        case Connection::Phase::reading:
            if (may_go_on && !connection.is_postponed()) read(connection);
            break;
        case Connection::Phase::writing:
            if ((events & input_events) != 0) connection.assume_more();
            go_on_writing(connection);
            break;
        case Connection::Phase::lingering:
            if (!connection.discard_input()) remove(connection);
            break;
        case Connection::Phase::working:
            break;
    }
}

void EventLoop::secure(Connection& connection) {
    switch (connection.shake_hands()) {
        case TlsSession::Handshake::waiting:
            return;
        case TlsSession::Handshake::done:
            connection.enter(Connection::Phase::reading, now_);
            connection.assume_more();
            return read(connection);
        case TlsSession::Handshake::plain_http:
            count_failed_handshake();
            return reply(connection, https_wanted(), true);
        case TlsSession::Handshake::failed:
            if (connection.has_heard()) count_failed_handshake();
            return linger(connection);
    }
}

void EventLoop::count_failed_handshake() {
    handshakes_failed_.fetch_add(1, std::memory_order_relaxed);
    requests_unreadable_.fetch_add(1, std::memory_order_relaxed);
}

void EventLoop::read(Connection& connection) {
    do {
        const bool was_idle = connection.is_idle();
        connection.receive();
        if (connection.is_broken()) return remove(connection);
        if (was_idle && connection.has_input()) {
            connection.enter(Connection::Phase::reading, now_);
        }
        if (!advance(connection)) return;
    } while (connection.may_have_more());
    if (!connection.peer_is_done()) return;
    if (connection.has_input()) {
        give_up(connection, HttpProblem::truncated);
    } else {
        remove(connection);
    }
}

// True: the connection waits for more bytes.
bool EventLoop::advance(Connection& connection) {
    int answered = 0;
    for (;;) {
        switch (connection.advance()) {
            case Connection::Step::more:
                return true;
            case Connection::Step::head: {
                std::optional<HttpResponse> answer;
                try {
                    answer = application_.before_body(connection.request());
                } catch (...) {
                    answer = failure(connection.request());
                }
                if (!answer) {
                    if (!connection.head().body_problem) connection.send_continue();
                    if (!connection.is_broken()) break;
                    remove(connection);
                    return false;
                }
                const auto& head = connection.head();
                requests_read_.fetch_add(1, std::memory_order_relaxed);
                reply(connection, *answer, head.body_bytes > 0 || head.body_problem);
                if (connection.phase() != Connection::Phase::reading) return false;
                // Whoever has more to say waits until the others had their turn.
                if (++answered == answers_per_turn) {
                    connection.postpone(true);
                    postponed_.push_back(connection.shared_from_this());
                    return false;
                }
                break;
            }
            case Connection::Step::request:
                requests_read_.fetch_add(1, std::memory_order_relaxed);
                connection.enter(Connection::Phase::working, now_);
                connection.give_away();
                ready_.push_back(connection.shared_from_this());
                return false;
            case Connection::Step::refused:
                turn_down(connection);
                return false;
        }
    }
}

// Those of the last round: what is postponed now has its turn in the next.
void EventLoop::go_on_with_postponed() {
    std::vector<std::shared_ptr<Connection>> waiting;
    waiting.swap(postponed_);
    for (const auto& connection : waiting) {
        connection->postpone(false);
        if (connection->owned_by_loop() && connection->phase() == Connection::Phase::reading) {
            resume(*connection);
        }
    }
}

void EventLoop::bring_home() {
    returns_->take(returned_);
    for (const auto& connection : returned_) {
        connection->take_back();
        if (connection->is_broken()) {
            remove(*connection);
            continue;
        }
        switch (connection->phase()) {
            case Connection::Phase::working: {
                const auto answer = connection->take_answer();
                reply(*connection, answer ? *answer : failure(connection->request()), false);
                if (connection->phase() == Connection::Phase::reading) resume(*connection);
                break;
            }
            case Connection::Phase::securing:
                break;  // never away
            case Connection::Phase::reading:
                resume(*connection);
                break;
            // The event that said "writable" may have come while the connection was away.
            case Connection::Phase::writing:
                go_on_writing(*connection);
                break;
            case Connection::Phase::lingering:
                after_answer(*connection);
                break;
        }
    }
    returned_.clear();
}

// For a connection whose events nobody looked at for a while.
void EventLoop::resume(Connection& connection) {
    connection.assume_more();
    if (connection.has_input()) connection.enter(Connection::Phase::reading, now_);
    if (advance(connection)) read(connection);
}

void EventLoop::give_up(Connection& connection, HttpProblem problem) {
    connection.refuse(problem);
    turn_down(connection);
}

// After a refusal.
void EventLoop::turn_down(Connection& connection) {
    requests_unreadable_.fetch_add(1, std::memory_order_relaxed);
    HttpResponse response;
    try {
        response = application_.unreadable(connection.request(), connection.problem());
    } catch (...) {
        response = failure(connection.request());
    }
    reply(connection, response, true);
}

HttpResponse EventLoop::failure(const HttpRequest& request) noexcept {
    try {
        return application_.failed(request);
    } catch (...) {
        HttpResponse response;
        response.status = 500;
        response.content_type.clear();
        return response;
    }
}

void EventLoop::reply(Connection& connection, const HttpResponse& response, bool close) {
    switch (connection.send(response, close)) {
        case Connection::Sending::done:
            return after_answer(connection);
        case Connection::Sending::blocked:
            return connection.enter(Connection::Phase::writing, now_);
        case Connection::Sending::broken:
            return remove(connection);
    }
}

void EventLoop::go_on_writing(Connection& connection) {
    switch (connection.send_rest()) {
        case Connection::Sending::done:
            after_answer(connection);
            if (connection.phase() == Connection::Phase::reading) resume(connection);
            return;
        case Connection::Sending::blocked:
            return;
        case Connection::Sending::broken:
            return remove(connection);
    }
}

void EventLoop::after_answer(Connection& connection) {
    if (!connection.closes_after_answer()) {
        connection.next_request();
        connection.enter(Connection::Phase::reading, now_);
        return;
    }
    linger(connection);
}

// Closing with unread bytes would reset the connection and take the last answer or alert back from
// a peer that is still sending, so it is read out for a moment.
void EventLoop::linger(Connection& connection) {
    connection.enter(Connection::Phase::lingering, now_);
    connection.stop_sending();
    if (connection.peer_is_done() || !connection.discard_input()) remove(connection);
}

void EventLoop::remove(Connection& connection) {
    auto& place = seats_[static_cast<std::size_t>(connection.descriptor())];
    admission_.leave(place->peer);
    removed_.push_back(std::move(place->connection));
    place.reset();
    connection.enter(Connection::Phase::lingering, now_);
    connection.close();
    const std::lock_guard lock(mutex_);
    connections_ = admission_.connections();
    if (connections_ == 0) emptied_.notify_all();
}

// A request that has come meanwhile still counts.
void EventLoop::close_unless_busy(Connection& connection) {
    read(connection);
    if (connection.owned_by_loop() && connection.is_idle()) remove(connection);
}

// In slices: thousands of connections whose time is up at the same moment hold nobody else up.
void EventLoop::sweep() {
    if (std::exchange(accepting_paused_, false) && listener_.is_open()) {
        subscribe(epoll_.get(), EPOLL_CTL_MOD, listener_.descriptor(), EPOLLIN);
    }
    for (int dealt_with = 0; sweep_place_ < seats_.size(); ++sweep_place_) {
        if (dealt_with == swept_per_round) {
            next_sweep_ = now_;
            return;
        }
        const auto& place = seats_[sweep_place_];
        if (!place || !place->connection->owned_by_loop()) continue;
        if (sweep(*place->connection)) ++dealt_with;
    }
    sweep_place_ = 0;
    next_sweep_ = now_ + (drain_started_ ? std::min<Clock::duration>(sweep_interval_, 20ms)
                                         : sweep_interval_);
}

bool EventLoop::sweep(Connection& connection) {
    const auto age = now_ - connection.since();
    switch (connection.phase()) {
        case Connection::Phase::securing:
            return sweep_handshake(connection);
        case Connection::Phase::reading:
            return sweep_request(connection);
        case Connection::Phase::writing:
            if (age <= options_.request_deadline) return false;
            break;
        case Connection::Phase::lingering:
            if (age <= linger_time) return false;
            break;
        case Connection::Phase::working:
            return false;
    }
    remove(connection);
    return true;
}

bool EventLoop::sweep_handshake(Connection& connection) {
    const bool heard = connection.has_heard();
    const bool hurried = drain_started_ && (!heard || now_ > *drain_started_ + drain_patience);
    if (!hurried && now_ - connection.since() <= options_.request_deadline) return false;
    if (heard) count_failed_handshake();
    remove(connection);
    return true;
}

bool EventLoop::sweep_request(Connection& connection) {
    const auto age = now_ - connection.since();
    if (!connection.is_idle()) {
        const bool hurried = drain_started_ && now_ > *drain_started_ + drain_patience;
        if (!hurried && age <= options_.request_deadline) return false;
        give_up(connection, HttpProblem::deadline);
        return true;
    }
    if (drain_started_ || age > returns_->idle_timeout() + idle_grace) {
        close_unless_busy(connection);
        return true;
    }
    if (age > warm_time) connection.release_memory();
    return false;
}

}  // namespace net
