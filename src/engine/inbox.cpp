#include "engine/inbox.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
constexpr std::size_t answers_max = 10'000;
constexpr domain::Nanoseconds look_around_max = std::chrono::microseconds{200};

template <typename Event>
void append(std::vector<Event>& to, std::vector<Event>& from) {
    if (to.empty()) {
        to.swap(from);
        return;
    }
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
}

}  // namespace

bool Events::empty() const {
    return size() == 0 && !stop;
}

std::size_t Events::size() const {
    return std::apply([](const auto&... kind) { return (kind.size() + ...); }, kinds_of(*this));
}

template <typename Event>
std::optional<Event> Inbox::put_unless_full(std::vector<Event>& where, std::size_t max,
                                            Event event) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        if (closed_ || where.size() >= max) return event;
        where.push_back(std::move(event));
        something_there_.store(true, std::memory_order_relaxed);
        wake = std::exchange(waiting_, false);
    }
    if (wake) arrived_.notify_one();
    return std::nullopt;
}

std::optional<Submission> Inbox::submit(Submission submission) {
    return put_unless_full(events_.submissions, submissions_max_, std::move(submission));
}

std::optional<Retune> Inbox::retune(Retune change) {
    return put_unless_full(events_.retunes, unbounded, std::move(change));
}

std::optional<Instruction> Inbox::instruct(Instruction instruction) {
    return put_unless_full(events_.instructions, unbounded, std::move(instruction));
}

template <typename Event>
void Inbox::put(std::vector<Event>& where, std::vector<Event>&& events) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        append(where, events);
        something_there_.store(true, std::memory_order_relaxed);
        wake = std::exchange(waiting_, false);
    }
    if (wake) arrived_.notify_one();
}

template <typename Event>
void Inbox::put_one(std::vector<Event>& where, Event event) {
    std::vector<Event> events;
    events.push_back(std::move(event));
    put(where, std::move(events));
}

void Inbox::checked(std::vector<Checked> events) {
    put(events_.checked, std::move(events));
}
void Inbox::prepared(std::vector<Prepared> events) {
    put(events_.prepared, std::move(events));
}
void Inbox::sent(std::vector<Sent> events) {
    put(events_.sent, std::move(events));
}

void Inbox::sealed(std::vector<Signed> events) {
    put(events_.sealed, std::move(events));
}

void Inbox::confirmed(std::vector<Confirmed> events) {
    put(events_.confirmed, std::move(events));
}

void Inbox::account_found(AccountFound event) {
    put_one(events_.accounts, std::move(event));
}

void Inbox::accounts_settled(AccountsSettled event) {
    put_one(events_.accounts_settled, event);
}

void Inbox::own_sealed(store::OwnTransaction own) {
    put_one(events_.own_sealed, std::move(own));
}

void Inbox::own_settled(OwnSettled event) {
    put_one(events_.own_settled, std::move(event));
}

void Inbox::answered(Answered event) {
    put_one(events_.answered, std::move(event));
}

bool Inbox::has_too_many_answers() {
    const std::lock_guard lock(mutex_);
    std::size_t answers = 0;
    for (const Answered& event : events_.answered) answers += event.answers.size();
    return answers >= answers_max;
}

void Inbox::block_news(BlockNews news) {
    put_one(events_.block_news, std::move(news));
}

void Inbox::alert_taken(AlertMark alert) {
    put_one(events_.alerts_taken, alert);
}

void Inbox::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

void Inbox::stop() {
    {
        const std::lock_guard lock(mutex_);
        events_.stop = true;
        something_there_.store(true, std::memory_order_relaxed);
        waiting_ = false;
    }
    arrived_.notify_one();
}

void Inbox::drain(Events& events) {
    const std::lock_guard lock(mutex_);
    was_busy_ = was_busy_ || !events_.empty();
    something_there_.store(false, std::memory_order_relaxed);
    std::vector<Submission> later;
    if (!events.submissions.empty()) later.swap(events_.submissions);
    std::vector<Answered> answers_later;
    if (!events.answered.empty()) answers_later.swap(events_.answered);
    std::apply(
        [&](auto&... to) {
            std::apply([&](auto&... from) { (append(to, from), ...); }, kinds_of(events_));
        },
        kinds_of(events));
    events.stop = events.stop || std::exchange(events_.stop, false);
    assert(events_.empty());
    events_.submissions.swap(later);
    events_.answered.swap(answers_later);
}

// Whoever was just answered often asks again at once: looking around for a moment spares both the
// cost of a sleep, which is that of a flush on a fast disk.
void Inbox::look_around(domain::Nanoseconds limit) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!something_there_.load(std::memory_order_relaxed) &&
           std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
}

void Inbox::wait(domain::Nanoseconds limit) {
    if (std::exchange(was_busy_, false)) look_around(std::min(limit, look_around_max));
    std::unique_lock lock(mutex_);
    if (!events_.empty() || limit <= domain::Nanoseconds::zero()) return;
    waiting_ = true;
    arrived_.wait_for(lock, limit, [&] { return !waiting_; });
    waiting_ = false;
}

void Inbox::wait_for_stop(domain::Nanoseconds limit) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, limit, [&] { return events_.stop; });
}

std::size_t Inbox::size() {
    const std::lock_guard lock(mutex_);
    return events_.size();
}

bool Inbox::is_empty() {
    const std::lock_guard lock(mutex_);
    return events_.empty();
}

}  // namespace engine
