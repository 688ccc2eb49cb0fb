#include "net/server_core.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>

#include "net/connection.hpp"

namespace net {

namespace {

// In slices: thousands of connections whose time is up at the same moment hold nobody else up.
constexpr int inspected_per_sweep = 64;

constexpr auto awake_max = std::chrono::microseconds{200};  // about what a fast disk flushes in

// Of a thread of a team.
thread_local bool alone = false;
thread_local Clock::time_point awake_until{};

std::size_t connections_max(const HttpOptions& options) {
    raise_file_limit();
    return connections_allowed(options.connections_max, options.descriptors_reserved);
}

}  // namespace

std::size_t ThreadTeam::run_next() {
    alone = true;
    std::size_t count = 0;
    while (count == 0 && Clock::now() < awake_until) {
        count = context_.poll_one();
        if (count == 0) std::this_thread::yield();
    }
    if (count == 0 && !context_.stopped()) count = context_.run_one();
    alone = false;
    return count;
}

bool ThreadTeam::is_alone() {
    return alone;
}

void ThreadTeam::stay_awake() {
    awake_until = Clock::now() + awake_max;
}

void ThreadTeam::run() {
    while (wait_for_turn()) {
        do {
            while (context_.poll_one() > 0) {
            }
            // Nothing to do now: one waits for more.
        } while (!leave() && run_next() > 0);
        if (context_.stopped()) return dismiss();
    }
}

bool ThreadTeam::wait_for_turn() {
    std::unique_lock lock(mutex_);
    wanted_.wait(lock, [&] { return inside_ == 0 || dismissed_; });
    ++inside_;
    return !dismissed_;
}

bool ThreadTeam::leave() {
    const std::lock_guard lock(mutex_);
    if (inside_ == 1) return false;
    --inside_;
    return true;
}

void ThreadTeam::step_out() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) wanted_.notify_one();
}

void ThreadTeam::step_in() {
    const std::lock_guard lock(mutex_);
    ++inside_;
}

void ThreadTeam::dismiss() {
    const std::lock_guard lock(mutex_);
    dismissed_ = true;
    wanted_.notify_all();
}

bool ServeSlots::enter(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    if (free_ > 0) {
        --free_;
        return true;
    }
    waiting_.push_back(connection);
    return false;
}

void ServeSlots::leave() {
    std::shared_ptr<Connection> next;
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) {
            ++free_;
            return;
        }
        next = std::move(waiting_.front());
        waiting_.pop_front();
    }
    next->post_resume();
}

void CompletionQueue::post(std::shared_ptr<Connection> connection) {
    {
        const std::lock_guard lock(mutex_);
        answered_.push_back(std::move(connection));
        if (answered_.size() > 1) return;
    }
    boost::asio::post(context_, [this] { resume_all(); });
}

void CompletionQueue::resume_all() {
    std::vector<std::shared_ptr<Connection>> answered;
    {
        const std::lock_guard lock(mutex_);
        answered.swap(answered_);
    }
    for (const auto& connection : answered) connection->dispatch_resume();
}

bool ConnectionTable::enter(const PeerAddress& peer, bool makes_room) {
    const std::lock_guard lock(mutex_);
    return admission_.enter(peer) || (makes_room && make_room() && admission_.enter(peer));
}

// Few connections only: all of them are looked at.
bool ConnectionTable::make_room() {
    Connection* quietest = nullptr;
    for (const auto& connection : connections_) {
        const auto phase = connection->phase();
        const bool waits = phase == Connection::Phase::idle || phase == Connection::Phase::reading;
        if (!waits || !connection->entry.counted) continue;
        if (quietest == nullptr || connection->since() < quietest->since()) {
            quietest = connection.get();
        }
    }
    if (quietest == nullptr) return false;
    admission_.leave(quietest->peer());
    quietest->entry.counted = false;
    quietest->evict();
    quietest->post_inspection();
    return true;
}

void ConnectionTable::give_up(const PeerAddress& peer) {
    const std::lock_guard lock(mutex_);
    admission_.leave(peer);
}

void ConnectionTable::add(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    connection->entry.counted = true;
    connection->entry.place = connections_.insert(connections_.end(), connection);
}

void ConnectionTable::leave(Connection& connection) {
    const std::lock_guard lock(mutex_);
    if (connection.entry.counted) admission_.leave(connection.peer());
    if (next_swept_ == connection.entry.place) ++next_swept_;
    connections_.erase(connection.entry.place);
    if (connections_.empty()) changed_.notify_all();
}

bool ConnectionTable::sweep(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    int inspected = 0;
    // Who stays due, such as a poll whose peer has said more, must not keep the others from it.
    if (next_swept_ == connections_.end()) next_swept_ = connections_.begin();
    for (; next_swept_ != connections_.end(); ++next_swept_) {
        if (!(*next_swept_)->is_due(now)) continue;
        if (inspected++ == inspected_per_sweep) return true;
        (*next_swept_)->post_inspection();
    }
    return false;
}

void ConnectionTable::abandon_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& connection : connections_) connection->post_abandonment();
}

std::size_t ConnectionTable::size() const {
    const std::lock_guard lock(mutex_);
    return admission_.connections();
}

bool ConnectionTable::wait_until_empty(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return !accepting_ && connections_.empty(); });
}

void ConnectionTable::accepting_has_ended() {
    const std::lock_guard lock(mutex_);
    accepting_ = false;
    changed_.notify_all();
}

ServerCore::ServerCore(const HttpOptions& with, HttpApplication& by,
                       std::unique_ptr<Tls> secured_by)
    : options(with),
      application(by),
      tls(std::move(secured_by)),
      room(std::make_shared<ReadingRoom>(ReadingLimits{.head_bytes_max = with.head_bytes_max,
                                                       .headers_max = with.headers_max,
                                                       .body_bytes_max = with.body_bytes_max},
                                         with.buffered_bytes_max)),
      team(context),
      slots(std::max(with.workers, 1U)),
      completions(context),
      connections(connections_max(with), with.connections_per_address_max) {}

HttpResponse ServerCore::failure(const HttpRequest& request) noexcept {
    try {
        return application.failed(request);
    } catch (...) {
        HttpResponse response;
        response.status = 500;
        response.content_type.clear();
        return response;
    }
}

}  // namespace net
