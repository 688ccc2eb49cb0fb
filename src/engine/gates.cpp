#include "engine/gates.hpp"

#include <algorithm>
#include <cassert>

namespace engine {

using domain::Family;
using domain::QueuePosition;
using domain::Stage;
using domain::Status;

namespace {

template <typename QueueOptions>
std::uint32_t soft_capacity(const QueueOptions& options) {
    return options.capacity - std::min(options.capacity, options.safety_margin);
}

template <typename QueueOptions>
bool has_no_room(const QueueOptions& options, const FairQueue& queue, std::int64_t client) {
    if (queue.size() < soft_capacity(options)) return false;
    return queue.size() >= options.capacity || queue.has_its_share(client, soft_capacity(options));
}

std::uint32_t burst_of(const SendGateOptions& options) {
    return options.burst == 0 ? options.per_seconds : options.burst;
}

// Its queues do not move: the longest Retry-After.
void stand_still(QueuePosition& position) {
    position.tx_per_second = 0;
    position.readiness_concurrency = 0;
}

}  // namespace

Tuning tuning_of(const Options& options) {
    return {options.retry_after,
            {options.sending.input_proof.per_seconds, options.sending.public_decrypt.per_seconds,
             options.sending.user_decrypt.per_seconds}};
}

Gates::Gates(const Options& options, domain::Monotonic now)
    : tuning_(tuning_of(options)),
      checks_{check_queue_for(options.readiness.public_decrypt, options.fair_queues),
              check_queue_for(options.readiness.user_decrypt, options.fair_queues)},
      sends_{send_queue_for(options.sending.input_proof, options.fair_queues, now),
             send_queue_for(options.sending.public_decrypt, options.fair_queues, now),
             send_queue_for(options.sending.user_decrypt, options.fair_queues, now)},
      sends_max_(options.sends_max),
      shares_max_(std::max<std::uint32_t>(options.shares.max_concurrent_proofs, 1)),
      confirms_max_(options.shares.confirms_max) {}

Gates::CheckQueue Gates::check_queue_for(const ReadinessGateOptions& options, bool fair) {
    return {options, FairQueue{fair}, 0};
}

Gates::SendQueue Gates::send_queue_for(const SendGateOptions& options, bool fair,
                                       domain::Monotonic now) {
    return {options, FairQueue{fair}, {options.per_seconds, burst_of(options), now}};
}

Gates::CheckQueue* Gates::check_queue(Family family) {
    if (family == Family::public_decrypt) return &checks_[0];
    if (family == Family::user_decrypt) return &checks_[1];
    return nullptr;
}

const Gates::CheckQueue* Gates::check_queue(Family family) const {
    return const_cast<Gates*>(this)->check_queue(family);
}

Gates::SendQueue& Gates::send_queue(Family family) {
    assert(family != Family::share);
    return sends_[static_cast<std::size_t>(family)];
}

const Gates::SendQueue& Gates::send_queue(Family family) const {
    return const_cast<Gates*>(this)->send_queue(family);
}

void Gates::enqueue_check(const store::Row& row) {
    assert(row.status == Status::queued && domain::is_decrypt(row.kind));
    const std::lock_guard lock(mutex_);
    check_queue(domain::family_of(row.kind))->waiting.push(row.id.sequence, row.client);
}

void Gates::enqueue_send(const store::Row& row) {
    assert(row.status != Status::queued && !domain::is_terminal(row.status));
    const std::lock_guard lock(mutex_);
    send_queue(domain::family_of(row.kind)).waiting.push(row.id.sequence, row.client);
}

void Gates::enqueue_check_again(const store::Row& row) {
    assert(row.status == Status::queued && domain::is_decrypt(row.kind));
    const std::lock_guard lock(mutex_);
    check_queue(domain::family_of(row.kind))->waiting.push_again(row.id.sequence, row.client);
}

void Gates::enqueue_send_again(const store::Row& row) {
    assert(row.status != Status::queued && !domain::is_terminal(row.status));
    const std::lock_guard lock(mutex_);
    send_queue(domain::family_of(row.kind)).waiting.push_again(row.id.sequence, row.client);
}

void Gates::leave(Id id, Family family) {
    if (family == Family::share) return;
    const std::lock_guard lock(mutex_);
    if (CheckQueue* queue = check_queue(family)) queue->waiting.remove(id);
    send_queue(family).waiting.remove(id);
}

bool Gates::holds(Id id, Family family) const {
    if (family == Family::share) return false;
    const CheckQueue* queue = check_queue(family);
    return (queue != nullptr && queue->waiting.contains(id)) ||
           send_queue(family).waiting.contains(id);
}

void Gates::clear_queues() {
    const std::lock_guard lock(mutex_);
    for (CheckQueue& queue : checks_) queue.waiting.clear();
    for (SendQueue& queue : sends_) queue.waiting.clear();
}

bool Gates::is_full(Family family, std::int64_t client) const {
    if (family == Family::share) return false;
    const SendQueue& sending = send_queue(family);
    if (has_no_room(sending.options, sending.waiting, client)) return true;
    const CheckQueue* queue = check_queue(family);
    return queue != nullptr && has_no_room(queue->options, queue->waiting, client);
}

std::optional<Gates::Id> Gates::pass_check(Family family, domain::Monotonic now) {
    CheckQueue& queue = *check_queue(family);
    if (is_paused(family) || now < checks_held_until_ ||
        queue.running >= queue.options.max_concurrency) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    const std::optional<Id> id = queue.waiting.pop_front();
    if (id) ++queue.running;
    assert(queue.running <= queue.options.max_concurrency);
    return id;
}

void Gates::give_back_check(Family family) {
    assert(check_queue(family) != nullptr);
    CheckQueue& queue = *check_queue(family);
    assert(queue.running > 0);
    --queue.running;
}

std::optional<Gates::Id> Gates::pass_sending(Family family, domain::Monotonic now) {
    SendQueue& queue = send_queue(family);
    if (is_paused(family) || now < sends_held_until_ || sends_in_flight_ >= sends_max_ ||
        queue.waiting.empty() || !queue.tokens.try_take(now)) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    ++sends_in_flight_;
    const std::optional<Id> id = queue.waiting.pop_front();
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

bool Gates::lets_through(const store::Row& row, domain::Monotonic now) const {
    const Family family = domain::family_of(row.kind);
    if (family == Family::share) return free_share_slots() > 0;
    if (is_paused(family)) return false;
    if (row.status != Status::queued) {
        return now >= sends_held_until_ && sends_in_flight_ < sends_max_;
    }
    const CheckQueue* queue = check_queue(family);
    return queue != nullptr && now >= checks_held_until_ &&
           queue->running < queue->options.max_concurrency;
}

std::uint32_t Gates::free_share_slots() const {
    if (is_paused(Family::share)) return 0;
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

void Gates::take_confirm() {
    assert(confirms_ < confirms_max_);
    ++confirms_;
}

void Gates::give_back_confirm() {
    assert(confirms_ > 0);
    --confirms_;
}

void Gates::retune(const Tuning& tuning, domain::Monotonic now) {
    const std::lock_guard lock(mutex_);
    const std::array<std::uint32_t, 3> rates{tuning.per_seconds.input_proof,
                                             tuning.per_seconds.public_decrypt,
                                             tuning.per_seconds.user_decrypt};
    for (std::size_t i = 0; i < sends_.size(); ++i) {
        SendQueue& queue = sends_[i];
        if (queue.options.per_seconds == rates[i]) continue;
        queue.options.per_seconds = rates[i];
        queue.tokens.change_rate(rates[i], burst_of(queue.options), now);
    }
    tuning_ = tuning;
}

std::uint32_t Gates::sends_in_any_second_max(Family family) const {
    const SendGateOptions& options = send_queue(family).options;
    return options.per_seconds + burst_of(options);
}

void Gates::pause(Family family, domain::Timestamp since) {
    const std::lock_guard lock(mutex_);
    pauses_.at(static_cast<std::size_t>(family)) = since;
}

void Gates::resume(Family family) {
    const std::lock_guard lock(mutex_);
    pauses_.at(static_cast<std::size_t>(family)).reset();
}

std::optional<domain::Timestamp> Gates::paused_since(Family family) const {
    return pauses_.at(static_cast<std::size_t>(family));
}

void Gates::undo_pauses() {
    const std::lock_guard lock(mutex_);
    pauses_ = pauses_before_;
}

std::vector<Family> Gates::paused() const {
    const std::lock_guard lock(mutex_);
    std::vector<Family> paused;
    for (const Family family : domain::families) {
        if (is_paused(family)) paused.push_back(family);
    }
    return paused;
}

void Gates::restore_permits(const Work& work) {
    for (CheckQueue& queue : checks_) queue.running = 0;
    sends_in_flight_ = 0;
    shares_in_work_ = 0;
    confirms_ = 0;
    for (const auto& [id, entry] : work.entries()) {
        if (entry.task == Task::confirm) {
            ++confirms_;
        } else if (entry.family == Family::share) {
            ++shares_in_work_;
        } else if (entry.task == Task::check) {
            ++check_queue(entry.family)->running;
        } else {
            ++sends_in_flight_;
        }
    }
    assert(permits() == work.entries().size());
}

std::size_t Gates::permits() const {
    return std::size_t{sends_in_flight_} + shares_in_work_ + confirms_ + checks_[0].running +
           checks_[1].running;
}

std::optional<domain::Monotonic> Gates::next_token(domain::Monotonic now) const {
    std::optional<domain::Monotonic> earliest;
    const auto no_later_than = [&](domain::Monotonic time) {
        if (!earliest || time < *earliest) earliest = time;
    };
    if (now < checks_held_until_) {
        for (const Family family : {Family::public_decrypt, Family::user_decrypt}) {
            const bool waits = !check_queue(family)->waiting.empty() && !is_paused(family);
            if (waits) no_later_than(checks_held_until_);
        }
    }
    if (sends_in_flight_ >= sends_max_) return earliest;
    for (const Family family :
         {Family::input_proof, Family::public_decrypt, Family::user_decrypt}) {
        const SendQueue& queue = send_queue(family);
        if (queue.waiting.empty() || is_paused(family)) continue;
        no_later_than(std::max(queue.tokens.next_token(now), sends_held_until_));
    }
    return earliest;
}

std::uint32_t Gates::checks_running(Family family) const {
    assert(check_queue(family) != nullptr);
    return check_queue(family)->running;
}

QueuePosition Gates::position_of(const store::Row& row, std::int64_t seconds_in_status) const {
    assert(row.kind != domain::Kind::share);
    const std::lock_guard lock(mutex_);
    const Family family = domain::family_of(row.kind);
    const Id id = row.id.sequence;
    const SendQueue& sending = send_queue(family);
    QueuePosition position;
    position.family = family;
    position.tx_queue_size = sending.waiting.position_of_next(row.client);
    position.tx_per_second = sending.tokens.per_second();
    position.seconds_in_status = seconds_in_status;
    const CheckQueue* check = check_queue(family);
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
    if (is_paused(family)) stand_still(position);
    return position;
}

QueuePosition Gates::position_of_new(Family family, std::int64_t client) const {
    const std::lock_guard lock(mutex_);
    const SendQueue& sending = send_queue(family);
    QueuePosition position;
    position.family = family;
    position.tx_queue_size = sending.waiting.position_of_next(client);
    position.tx_per_second = sending.tokens.per_second();
    if (const CheckQueue* check = check_queue(family)) {
        position.stage = Stage::readiness_queue;
        position.ahead = check->waiting.position_of_next(client);
        position.readiness_concurrency = check->options.max_concurrency;
    } else {
        position.stage = Stage::tx_queue;
        position.ahead = sending.waiting.position_of_next(client);
    }
    if (is_paused(family)) stand_still(position);
    return position;
}

std::uint32_t Gates::retry_after_seconds(const QueuePosition& position) const {
    const std::lock_guard lock(mutex_);
    return domain::retry_after_seconds(position, tuning_.retry_after);
}

std::uint32_t Gates::longest_retry_after_seconds() const {
    const std::lock_guard lock(mutex_);
    return tuning_.retry_after.max_seconds;
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
