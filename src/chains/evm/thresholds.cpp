#include "chains/evm/thresholds.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/sanitize.hpp"
#include "chains/evm/calls.hpp"

namespace chains::evm {
namespace {

constexpr std::size_t contexts_max = 10'000;
// Far more than there are contexts in use: events name what their authors like.
constexpr std::size_t look_ups_max = 16;
constexpr domain::Milliseconds pause_after_failure{2'000};

}  // namespace

Thresholds::Thresholds(const Options& options, jsonrpc::Node& protocol, const ports::Clock& clock,
                       ports::Executor& executor, ports::Logger& logger)
    : options_(options),
      protocol_(protocol),
      clock_(clock),
      logger_(logger),
      task_group_(executor) {}

Thresholds::~Thresholds() {
    stop();
}

void Thresholds::stop() {
    task_group_.stop();
}

std::optional<std::uint32_t> Thresholds::find(const domain::Bytes32& context) {
    const std::lock_guard lock{mutex_};
    Entry& entry = touch_locked(context);
    if (needs_look_up_locked(entry)) {
        entry.looking = true;
        entry.forgotten = false;
        ++looking_;
        task_group_.run_after(domain::Milliseconds{0}, [this, context] { look_up(context, 1); });
    }
    return entry.value;
}

void Thresholds::forget(const domain::Bytes32& context) {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(context);
    if (found == entries_.end()) return;
    found->second.value.reset();
    found->second.forgotten = true;
}

Thresholds::Entry& Thresholds::touch_locked(const domain::Bytes32& context) {
    if (const auto known = entries_.find(context); known != entries_.end()) {
        by_use_.splice(by_use_.end(), by_use_, known->second.place);
        return known->second;
    }
    if (entries_.size() >= contexts_max) make_room_locked();
    const auto place = by_use_.insert(by_use_.end(), context);
    return entries_.emplace(context, Entry{place}).first->second;
}

void Thresholds::make_room_locked() {
    const auto idle = std::ranges::find_if(
        by_use_, [this](const domain::Bytes32& context) { return !entries_.at(context).looking; });
    assert(idle != by_use_.end());
    entries_.erase(*idle);
    by_use_.erase(idle);
}

bool Thresholds::needs_look_up_locked(const Entry& entry) const {
    if (entry.looking || looking_ >= look_ups_max) return false;
    const domain::Monotonic now = clock_.monotonic();
    if (entry.failed && now - *entry.failed < pause_after_failure) return false;
    return !entry.value || now - entry.learned > options_.protocol_config.threshold_age_max;
}

void Thresholds::look_up(const domain::Bytes32& context, std::uint32_t attempt) {
    const Found found = ask(context);
    if (const auto* value = std::get_if<std::uint32_t>(&found)) {
        learn(context, *value);
        return;
    }
    const auto& unread = std::get<NoResult>(found);
    const Options::Retry& retry = options_.protocol_config.retry;
    if (attempt >= retry.attempts_max) {
        give_up(context, unread.reason);
        return;
    }
    task_group_.run_after(std::max(retry.pause, unread.wait),
                          [this, context, attempt] { look_up(context, attempt + 1); });
}

Thresholds::Found Thresholds::ask(const domain::Bytes32& context) {
    const auto read = read_eth_call(protocol_.call(
        eth_call(options_.protocol_config.address,
                 getter(Getter::user_decryption_threshold_for_context, context), "latest")));
    if (const auto* unread = std::get_if<NoResult>(&read)) return *unread;
    const std::optional<std::uint64_t> number = decode_number(std::get<domain::Bytes>(read), 0);
    if (!number || *number == 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
        return NoResult{"malformed answer"};
    }
    return static_cast<std::uint32_t>(*number);
}

void Thresholds::learn(const domain::Bytes32& context, std::uint32_t value) {
    const std::lock_guard lock{mutex_};
    Entry& entry = entries_.at(context);
    entry.looking = false;
    --looking_;
    entry.failed.reset();
    entry.error.clear();
    if (entry.forgotten) return;
    entry.value = value;
    entry.learned = clock_.monotonic();
}

void Thresholds::give_up(const domain::Bytes32& context, const std::string& error) {
    {
        const std::lock_guard lock{mutex_};
        Entry& entry = entries_.at(context);
        entry.looking = false;
        --looking_;
        entry.failed = clock_.monotonic();
        if (entry.error == error) return;
        entry.error = error;
    }
    logger_.write(ports::LogLevel::warning, "threshold_not_found context=0x" +
                                                domain::to_hex(context) +
                                                " error=" + base::log_value(error));
}

}  // namespace chains::evm
