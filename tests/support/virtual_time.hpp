#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"

namespace support {

// Stands still until it is moved. Starts at 2026-06-01 00:00 UTC. Any thread.
class VirtualClock : public ports::Clock {
public:
    explicit VirtualClock(domain::Timestamp start = domain::from_unix_ms(1'780'272'000'000))
        : wall_ns_(domain::Nanoseconds{start.time_since_epoch()}.count()) {}

    [[nodiscard]] domain::Timestamp wall() const override {
        return std::chrono::floor<domain::Milliseconds>(
            std::chrono::sys_time<domain::Nanoseconds>{domain::Nanoseconds{wall_ns_}});
    }

    [[nodiscard]] domain::Monotonic monotonic() const override {
        return domain::Monotonic{domain::Nanoseconds{monotonic_ns_}};
    }

    [[nodiscard]] std::string boot() const override { return std::to_string(boot_); }

    // The machine starts anew: what the monotonic clock said before compares with nothing.
    void reboot() {
        ++boot_;
        monotonic_ns_ = 1'000'000'000;
    }

    // Time passes: both clocks move.
    void advance(domain::Nanoseconds time) {
        wall_ns_ += time.count();
        monotonic_ns_ += time.count();
    }

    void advance_to(domain::Monotonic time) {
        if (time > monotonic()) advance(time - monotonic());
    }

    // Somebody sets the wall clock, forwards or back; no time passes.
    void step_wall(domain::Milliseconds by) { wall_ns_ += domain::Nanoseconds{by}.count(); }

    // The monotonic clock alone, for what must not look at the wall.
    void step_monotonic(domain::Nanoseconds by) { monotonic_ns_ += by.count(); }

private:
    std::atomic<std::int64_t> wall_ns_;
    std::atomic<std::int64_t> monotonic_ns_{1'000'000'000'000};
    std::atomic<int> boot_{1};
};

// Runs tasks in the caller's thread, in order of due time, equal ones in the order they came.
// One thread only.
class VirtualExecutor : public ports::Executor {
public:
    explicit VirtualExecutor(VirtualClock& clock) : clock_(clock) {}

    void run(Task task) override { run_after(domain::Milliseconds{0}, std::move(task)); }

    void run_after(domain::Milliseconds delay, Task task) override {
        tasks_.emplace(Key{clock_.monotonic() + delay, next_++}, std::move(task));
    }

    [[nodiscard]] std::size_t pending() const { return tasks_.size(); }

    [[nodiscard]] std::optional<domain::Monotonic> next_due() const {
        if (tasks_.empty()) return std::nullopt;
        return tasks_.begin()->first.first;
    }

    // Moves time to the earliest task and runs it. False when there is none.
    bool run_next() {
        if (tasks_.empty()) return false;
        auto first = tasks_.extract(tasks_.begin());
        clock_.advance_to(first.key().first);
        first.mapped()();
        return true;
    }

    // Until nothing is left; time goes as far as that takes.
    void run_all() {
        while (run_next()) continue;
    }

    // Runs everything that is due, also what it brings about, without moving time.
    void run_due() {
        while (!tasks_.empty() && tasks_.begin()->first.first <= clock_.monotonic()) run_next();
    }

    // Runs everything due up to `time` at its moment; time stands at `time` afterwards.
    void run_until(domain::Monotonic time) {
        while (!tasks_.empty() && tasks_.begin()->first.first <= time) run_next();
        clock_.advance_to(time);
    }

    void run_for(domain::Nanoseconds time) { run_until(clock_.monotonic() + time); }

    // As if the process died: what was handed in never runs.
    void drop_all() { tasks_.clear(); }

private:
    using Key = std::pair<domain::Monotonic, std::uint64_t>;

    VirtualClock& clock_;
    std::map<Key, Task> tasks_;
    std::uint64_t next_ = 0;
};

// The same bytes for the same seed. Any thread.
class SeededRandom : public ports::Random {
public:
    explicit SeededRandom(std::uint64_t seed) : generator_(seed) {}

    void fill(std::span<std::uint8_t> out) override {
        const std::lock_guard lock{mutex_};
        for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(generator_() >> 56U);
    }

    // Evenly from 0 to limit - 1.
    [[nodiscard]] std::uint64_t below(std::uint64_t limit) {
        const std::lock_guard lock{mutex_};
        return generator_() % limit;
    }

    [[nodiscard]] bool chance(std::uint32_t permille) { return below(1000) < permille; }

private:
    std::mutex mutex_;
    std::mt19937_64 generator_;
};

// Keeps every line. Any thread.
class RecordingLogger : public ports::Logger {
public:
    struct LogLine {
        ports::LogLevel level;
        std::string text;
    };

    void write(ports::LogLevel level, std::string_view line) override {
        const std::lock_guard lock{mutex_};
        lines_.push_back({level, std::string{line}});
    }

    [[nodiscard]] std::vector<LogLine> lines() const {
        const std::lock_guard lock{mutex_};
        return lines_;
    }

    // How many lines contain `part`.
    [[nodiscard]] std::size_t count(std::string_view part) const {
        const std::lock_guard lock{mutex_};
        std::size_t found = 0;
        for (const LogLine& line : lines_)
            found += line.text.find(part) != std::string::npos ? 1 : 0;
        return found;
    }

    void clear() {
        const std::lock_guard lock{mutex_};
        lines_.clear();
    }

private:
    mutable std::mutex mutex_;
    std::vector<LogLine> lines_;
};

}  // namespace support
