#include "chains/evm/listener.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "base/sanitize.hpp"
#include "base/text.hpp"

namespace chains::evm {

using domain::Milliseconds;

namespace {

// Beyond the pause and the node's own time-outs: a poll that takes longer hangs.
constexpr Milliseconds patience{60'000};
// Between two polls, however often a subscription wakes them.
constexpr Milliseconds woken_pause{20};

// Scheme, host and port.
std::string origin_of(std::string_view url) {
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
    std::string_view authority = url.substr(begin, end - begin);
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        authority.remove_prefix(at + 1);
    }
    std::string origin{url.substr(0, begin)};
    origin += authority;
    return base::lower_case(origin);
}

constexpr std::string_view name_prefix = "evm-";

}  // namespace

std::optional<std::uint64_t> furthest_cursor(const engine::Resume& resume) {
    std::optional<std::uint64_t> furthest;
    for (const auto& [name, cursor] : resume.cursors) {
        if (name.starts_with(name_prefix)) furthest = std::max(furthest.value_or(cursor), cursor);
    }
    return furthest;
}

std::string listener_name(const Options::Listener& listener) {
    const bool polling = listener.type == Options::Listener::Type::polling;
    const std::string text = (polling ? "polling " : "subscription ") + origin_of(listener.url);
    const domain::Bytes32 digest =
        domain::sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return std::string(name_prefix) + domain::to_hex(domain::ByteView{digest}.first(4));
}

std::vector<std::string> listener_names(const std::vector<Options::Listener>& listeners) {
    std::map<std::string, std::size_t> times;
    std::vector<std::string> names;
    for (const Options::Listener& listener : listeners) {
        std::string name = listener_name(listener);
        const std::size_t time = ++times[name];
        if (time > 1) name += "-" + std::to_string(time);
        names.push_back(std::move(name));
    }
    return names;
}

Listener::Listener(const Options& options, std::string name, jsonrpc::Node& node,
                   ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger,
                   SeenLogs* seen)
    : options_(options),
      name_(std::move(name)),
      node_(node),
      clock_(clock),
      logger_(logger),
      reader_(options, name_, node, clock, logger, seen),
      task_group_(executor) {}

Listener::~Listener() {
    stop();
}

void Listener::start(engine::GatewayEvents& events, std::optional<std::uint64_t> cursor) {
    reader_.start(events, cursor);
    const std::lock_guard lock{mutex_};
    next_ = reader_.next();
    started_ = true;
    polled_at_ = clock_.monotonic();
    wake_at_locked(polled_at_);
}

void Listener::wake() {
    const std::lock_guard lock{mutex_};
    if (polling_) {
        woken_ = true;
    } else {
        wake_at_locked(std::max(clock_.monotonic(), polled_at_ + woken_pause));
    }
}

void Listener::read_again(std::uint64_t block) {
    {
        const std::lock_guard lock{mutex_};
        again_ = std::min(again_.value_or(block), block);
    }
    wake();
}

void Listener::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    node_.stop();
    task_group_.stop();
}

std::optional<std::string> Listener::problem() const {
    const std::lock_guard lock{mutex_};
    if (problem_ || !started_ || stopped_) return problem_;
    const auto since = clock_.monotonic() - polled_at_;
    if (since <= options_.listening.poll_interval + 2 * options_.call_timeout + patience) {
        return std::nullopt;
    }
    return "no poll for " +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(since).count()) + " s";
}

std::optional<std::uint64_t> Listener::head_lag(std::optional<std::uint64_t> head) const {
    const std::lock_guard lock{mutex_};
    if (!head_ || !next_) return std::nullopt;
    const std::uint64_t behind = std::max(*head_, head.value_or(0)) + 1;
    return behind - std::min(behind, *next_);
}

bool Listener::has_start() const {
    const std::lock_guard lock{mutex_};
    return next_.has_value();
}

void Listener::wake_at_locked(domain::Monotonic time) {
    if (!started_ || stopped_) return;
    time = std::max(time, held_until_);
    if (wake_ && *wake_ <= time) return;
    wake_ = time;
    const auto delay = std::chrono::ceil<Milliseconds>(time - clock_.monotonic());
    task_group_.run_after(delay, [this, time] { wake(time); });
}

void Listener::wake(domain::Monotonic time) {
    std::optional<std::uint64_t> again;
    {
        const std::lock_guard lock{mutex_};
        if (wake_ != time || polling_ || stopped_) return;
        wake_.reset();
        polling_ = true;
        woken_ = false;
        again = std::exchange(again_, {});
    }
    if (again) reader_.read_again(*again);
    const ChainReader::Step step = reader_.step();
    const std::lock_guard lock{mutex_};
    polling_ = false;
    note_locked(step);
    if (step.stopped) return;
    const domain::Monotonic now = clock_.monotonic();
    if (step.held) held_until_ = now + step.pause;
    wake_at_locked(now + (woken_ ? std::min(woken_pause, step.pause) : step.pause));
}

void Listener::note_locked(const ChainReader::Step& step) {
    // Cut off, it says nothing about the node.
    if (step.stopped) return;
    head_ = reader_.head();
    next_ = reader_.next();
    polled_at_ = clock_.monotonic();
    if (step.problem && !problem_) {
        logger_.write(ports::LogLevel::warning, "listener_trouble listener=" + name_ +
                                                    " error=" + base::log_value(*step.problem));
    } else if (!step.problem && problem_) {
        logger_.write(ports::LogLevel::info, "listener_recovered listener=" + name_);
    }
    problem_ = step.problem;
}

}  // namespace chains::evm
