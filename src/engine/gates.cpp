#include "engine/gates.hpp"

#include <algorithm>
#include <cassert>

namespace engine {

using domain::Family;
using domain::Stage;
using domain::QueuePosition;
using domain::Status;

namespace {

template <typename LineOptions>
std::uint32_t soft_capacity(const LineOptions& options) {
    return options.capacity - std::min(options.capacity, options.safety_margin);
}

template <typename LineOptions>
bool has_no_room(const LineOptions& options, const WaitingLine& line, std::int64_t client) {
    if (line.size() < soft_capacity(options)) return false;
    return line.size() >= options.capacity || line.has_its_share(client, soft_capacity(options));
}

std::uint32_t burst_of(const SendGateOptions& options) {
    return options.burst == 0 ? options.per_seconds : options.burst;
}

}  // namespace

Tuning tuning_of(const Options& options) {
    return {options.retry_after,
            {options.sending.input_proof.per_seconds, options.sending.public_decrypt.per_seconds,
             options.sending.user_decrypt.per_seconds}};
}

Gates::Gates(const Options& options, domain::Monotonic now)
    : tuning_(tuning_of(options)),
      checks_{check_line_for(options.readiness.public_decrypt, options.fair_queues),
              check_line_for(options.readiness.user_decrypt, options.fair_queues)},
      sends_{send_line_for(options.sending.input_proof, options.fair_queues, now),
             send_line_for(options.sending.public_decrypt, options.fair_queues, now),
             send_line_for(options.sending.user_decrypt, options.fair_queues, now)},
      sends_max_(options.sends_max),
      shares_max_(std::max<std::uint32_t>(options.shares.max_concurrent_proofs, 1)) {}

Gates::CheckLine Gates::check_line_for(const ReadinessGateOptions& options, bool fair) {
    return {options, WaitingLine{fair}, 0};
}

Gates::SendLine Gates::send_line_for(const SendGateOptions& options, bool fair,
                                     domain::Monotonic now) {
    return {options, WaitingLine{fair}, {options.per_seconds, burst_of(options), now}};
}

Gates::CheckLine* Gates::check_line(Family family) {
    if (family == Family::public_decrypt) return &checks_[0];
    if (family == Family::user_decrypt) return &checks_[1];
    return nullptr;
}

const Gates::CheckLine* Gates::check_line(Family family) const {
    return const_cast<Gates*>(this)->check_line(family);
}

Gates::SendLine& Gates::send_line(Family family) {
    assert(family != Family::share);
    return sends_[static_cast<std::size_t>(family)];
}

const Gates::SendLine& Gates::send_line(Family family) const {
    return const_cast<Gates*>(this)->send_line(family);
}

void Gates::line_up_for_check(const store::Row& row) {
    assert(row.status == Status::queued && domain::is_decrypt(row.kind));
    const std::lock_guard lock(mutex_);
    check_line(domain::family_of(row.kind))->waiting.push_back(row.id.sequence, row.client);
}

void Gates::line_up_for_sending(const store::Row& row) {
    assert(row.status != Status::queued && !domain::is_terminal(row.status));
    const std::lock_guard lock(mutex_);
    send_line(domain::family_of(row.kind)).waiting.push_back(row.id.sequence, row.client);
}

void Gates::line_up_for_resending(const store::Row& row) {
    assert(row.status != Status::queued && !domain::is_terminal(row.status));
    const std::lock_guard lock(mutex_);
    send_line(domain::family_of(row.kind)).waiting.push_front(row.id.sequence);
}

void Gates::leave(Id id, Family family) {
    if (family == Family::share) return;
    const std::lock_guard lock(mutex_);
    if (CheckLine* line = check_line(family)) line->waiting.remove(id);
    send_line(family).waiting.remove(id);
}

bool Gates::holds(Id id, Family family) const {
    if (family == Family::share) return false;
    const CheckLine* line = check_line(family);
    return (line != nullptr && line->waiting.contains(id)) ||
           send_line(family).waiting.contains(id);
}

void Gates::clear_lines() {
    const std::lock_guard lock(mutex_);
    for (CheckLine& line : checks_) line.waiting.clear();
    for (SendLine& line : sends_) line.waiting.clear();
}

bool Gates::is_full(Family family, std::int64_t client) const {
    if (family == Family::share) return false;
    const SendLine& sending = send_line(family);
    if (has_no_room(sending.options, sending.waiting, client)) return true;
    const CheckLine* line = check_line(family);
    return line != nullptr && has_no_room(line->options, line->waiting, client);
}

std::optional<Gates::Id> Gates::pass_check(Family family, domain::Monotonic now) {
    CheckLine& line = *check_line(family);
    if (now < checks_held_until_ || line.running >= line.options.max_concurrency) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    const std::optional<Id> id = line.waiting.pop_front();
    if (id) ++line.running;
    assert(line.running <= line.options.max_concurrency);
    return id;
}

void Gates::give_back_check(Family family) {
    assert(check_line(family) != nullptr);
    CheckLine& line = *check_line(family);
    assert(line.running > 0);
    --line.running;
}

std::optional<Gates::Id> Gates::pass_sending(Family family, domain::Monotonic now) {
    SendLine& line = send_line(family);
    if (now < sends_held_until_ || sends_in_flight_ >= sends_max_ || line.waiting.empty() ||
        !line.tokens.try_take(now)) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    ++sends_in_flight_;
    const std::optional<Id> id = line.waiting.pop_front();
    assert(id && sends_in_flight_ <= sends_max_);
    return id;
}

void Gates::hold_checks(domain::Monotonic until) {
    checks_held_until_ = std::max(checks_held_until_, until);
}

void Gates::hold_sending(domain::Monotonic until) {
    sends_held_until_ = std::max(sends_held_until_, until);
}

void Gates::give_back_sending() {
    assert(sends_in_flight_ > 0);
    --sends_in_flight_;
}

std::uint32_t Gates::free_share_slots() const {
    return shares_max_ - std::min(shares_max_, shares_in_work_);
}

void Gates::take_share_slot() {
    assert(shares_in_work_ < shares_max_);
    ++shares_in_work_;
}

void Gates::give_back_share_slot() {
    assert(shares_in_work_ > 0);
    --shares_in_work_;
}

void Gates::retune(const Tuning& tuning, domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    const std::array<std::uint32_t, 3> rates{tuning.per_seconds.input_proof,
                                             tuning.per_seconds.public_decrypt,
                                             tuning.per_seconds.user_decrypt};
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        SendLine& line = sends_[i];
        if (line.options.per_seconds == rates[i]) continue;
        line.options.per_seconds = rates[i];
        line.tokens = TokenBucket(rates[i], burst_of(line.options), now);
    }
    tuning_ = tuning;
}

void Gates::restore_permits(const Work& work) {
    for (CheckLine& line : checks_) line.running = 0;
    sends_in_flight_ = 0;
    shares_in_work_ = 0;
    for (const auto& [id, entry] : work.entries()) {
        if (entry.family == Family::share) {
            ++shares_in_work_;
        } else if (entry.task == Task::check) {
            ++check_line(entry.family)->running;
        } else {
            ++sends_in_flight_;
        }
    }
    assert(permits() == work.entries().size());
}

std::size_t Gates::permits() const {
    return std::size_t{sends_in_flight_} + shares_in_work_ + checks_[0].running + checks_[1].running;
}

std::optional<domain::Monotonic> Gates::next_token(domain::Monotonic now) const {
    std::optional<domain::Monotonic> earliest;
    const auto no_later_than = [&](domain::Monotonic time) {
        if (!earliest || time < *earliest) earliest = time;
    };
    if (now < checks_held_until_) {
        for (const CheckLine& line : checks_) {
            if (!line.waiting.empty()) no_later_than(checks_held_until_);
        }
    }
    if (sends_in_flight_ >= sends_max_) return earliest;
    for (const SendLine& line : sends_) {
        if (line.waiting.empty()) continue;
        no_later_than(std::max(line.tokens.next_token(now), sends_held_until_));
    }
    return earliest;
}

std::uint32_t Gates::checks_running(Family family) const {
    assert(check_line(family) != nullptr);
    return check_line(family)->running;
}

QueuePosition Gates::position_of(const store::Row& row, std::int64_t seconds_in_status) const {
    assert(row.kind != domain::Kind::share);
    const std::lock_guard lock(mutex_);
    const Family family = domain::family_of(row.kind);
    const Id id = row.id.sequence;
    const SendLine& sending = send_line(family);
    QueuePosition position;
    position.family = family;
    position.tx_queue_size = sending.waiting.position_of_next(row.client);
    position.tx_per_second = sending.tokens.per_second();
    position.seconds_in_status = seconds_in_status;
    const CheckLine* check = check_line(family);
    if (check != nullptr) position.readiness_concurrency = check->options.max_concurrency;

    switch (row.status) {
        case Status::queued: {
            const auto place = check != nullptr ? check->waiting.position(id) : std::nullopt;
            position.stage = place ? Stage::readiness_queue : Stage::readiness_check;
            position.ahead = place.value_or(0);
            break;
        }
        case Status::processing:
            position.stage = Stage::tx_queue;
            position.ahead = sending.waiting.position(id).value_or(0);
            break;
        case Status::tx_in_flight:
            position.stage = Stage::sending;
            break;
        case Status::receipt_received:
            position.stage = Stage::response;
            break;
        default:
            position.stage = Stage::done;
            break;
    }
    return position;
}

QueuePosition Gates::position_of_new(Family family, std::int64_t client) const {
    const std::lock_guard lock(mutex_);
    const SendLine& sending = send_line(family);
    QueuePosition position;
    position.family = family;
    position.tx_queue_size = sending.waiting.position_of_next(client);
    position.tx_per_second = sending.tokens.per_second();
    if (const CheckLine* check = check_line(family)) {
        position.stage = Stage::readiness_queue;
        position.ahead = check->waiting.position_of_next(client);
        position.readiness_concurrency = check->options.max_concurrency;
    } else {
        position.stage = Stage::tx_queue;
        position.ahead = sending.waiting.position_of_next(client);
    }
    return position;
}

std::uint32_t Gates::retry_after_seconds(const QueuePosition& position) const {
    const std::lock_guard lock(mutex_);
    return domain::retry_after_seconds(position, tuning_.retry_after);
}

std::uint32_t Gates::shortest_retry_after_seconds() const {
    const std::lock_guard lock(mutex_);
    return tuning_.retry_after.min_seconds;
}

std::optional<std::uint64_t> Gates::raw_eta_ms(const QueuePosition& position) const {
    const std::lock_guard lock(mutex_);
    return domain::raw_eta_ms(position, tuning_.retry_after);
}

Tuning Gates::tuning() const {
    const std::lock_guard lock(mutex_);
    return tuning_;
}

Gates::Depths Gates::depths() const {
    const std::lock_guard lock(mutex_);
    return {{checks_[0].waiting.size(), checks_[1].waiting.size()},
            {sends_[0].waiting.size(), sends_[1].waiting.size(), sends_[2].waiting.size()}};
}

}  // namespace engine
