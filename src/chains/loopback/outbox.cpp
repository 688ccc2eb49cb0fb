#include "chains/loopback/outbox.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <exception>

#include "base/sanitize.hpp"

namespace chains::loopback {
namespace {

constexpr std::size_t page_max = 1'000;
constexpr domain::Milliseconds retry_pause{1'000};

}  // namespace

Outbox::Outbox(const Options& options, Ledger& ledger, const Answers& answers,
               const Outages& outages, engine::TaskGroup& task_group, const ports::Clock& clock,
               ports::Logger& logger)
    : wait_max_(options.confirmation.max + 2 * options.response.max),
      ledger_(ledger),
      answers_(answers),
      outages_(outages),
      task_group_(task_group),
      clock_(clock),
      logger_(logger) {}

void Outbox::listen(engine::GatewayEvents& events, std::uint64_t cursor) {
    // A ledger that was replaced starts behind what the listener has seen.
    ledger_.skip_to(cursor);
    std::vector<UpcomingAnswer> upcoming;
    for (const WaitingAnswer& answer : ledger_.waiting()) {
        const domain::Milliseconds delay = answer.ready - clock_.wall();
        upcoming.push_back({answer.id, std::clamp(delay, domain::Milliseconds{0}, wait_max_)});
    }
    {
        const std::lock_guard lock{delivering_};
        events_ = &events;
        delivered_ = cursor;
    }
    expect(upcoming);
    wake_at(clock_.monotonic());
}

void Outbox::expect(const std::vector<UpcomingAnswer>& upcoming) {
    if (upcoming.empty()) return;
    const domain::Monotonic now = clock_.monotonic();
    const std::lock_guard lock{mutex_};
    for (const UpcomingAnswer& answer : upcoming) upcoming_.emplace(now + answer.delay, answer.id);
    wake_at_locked(upcoming_.top().first);
}

void Outbox::deliver() {
    const std::lock_guard lock{delivering_};
    if (const auto end = outages_.end()) {
        wake_at(*end);
        return;
    }
    try {
        deliver_due();
        deliver_placed();
        note_problem(std::nullopt);
        wake_for_next();
    } catch (const std::exception& error) {
        note_problem(error.what());
        wake_at(clock_.monotonic() + retry_pause);
    }
}

std::optional<std::string> Outbox::problem() const {
    const std::lock_guard lock{mutex_};
    return problem_;
}

void Outbox::deliver_due() {
    const std::vector<Due> due = take_due();
    std::vector<std::int64_t> ids;
    ids.reserve(due.size());
    for (const auto& [time, id] : due) ids.push_back(id);
    try {
        ledger_.place(ids);
    } catch (...) {
        put_back(due);
        throw;
    }
}

void Outbox::deliver_placed() {
    for (;;) {
        const std::vector<PlacedAnswer> batch = ledger_.behind(delivered_, page_max);
        if (batch.empty()) return;
        engine::Answered answered;
        answered.cursor = batch.back().position;
        answered.answers.reserve(batch.size());
        for (const PlacedAnswer& placed : batch) answers_.make(placed, answered.answers);
        assert(events_ != nullptr && answered.cursor > delivered_);  // positions only rise
        events_->answered(std::move(answered));
        delivered_ = batch.back().position;
    }
}

std::vector<Outbox::Due> Outbox::take_due() {
    const domain::Monotonic now = clock_.monotonic();
    std::vector<Due> due;
    const std::lock_guard lock{mutex_};
    while (!upcoming_.empty() && upcoming_.top().first <= now) {
        due.push_back(upcoming_.top());
        upcoming_.pop();
    }
    return due;
}

void Outbox::put_back(const std::vector<Due>& taken) {
    const std::lock_guard lock{mutex_};
    for (const Due& due : taken) upcoming_.push(due);
}

void Outbox::note_problem(std::optional<std::string> problem) {
    const std::lock_guard lock{mutex_};
    if (problem && !problem_) {
        logger_.write(ports::LogLevel::error,
                      "loopback_answers_held error=" + base::log_value(*problem));
    }
    problem_ = std::move(problem);
}

void Outbox::wake_for_next() {
    const std::lock_guard lock{mutex_};
    if (!upcoming_.empty()) wake_at_locked(upcoming_.top().first);
}

void Outbox::wake_at(domain::Monotonic time) {
    const std::lock_guard lock{mutex_};
    wake_at_locked(time);
}

void Outbox::wake_at_locked(domain::Monotonic time) {
    if (wake_ && *wake_ <= time) return;
    wake_ = time;
    const auto delay = std::chrono::ceil<domain::Milliseconds>(time - clock_.monotonic());
    task_group_.run_after(delay, [this, time] {
        {
            const std::lock_guard lock{mutex_};
            if (wake_ == time) wake_.reset();
        }
        deliver();
    });
}

}  // namespace chains::loopback
