#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/observer.hpp"
#include "ports/clock.hpp"

namespace api::admin {

// How many requests came and ended in the last minute and in the last hour, in steps of ten
// seconds. Shares are not among them unless told. Any thread may ask.
class RecentRates : public engine::Observer {
public:
    RecentRates(const ports::Clock& clock, bool with_shares);

    struct Counts {
        std::uint64_t accepted = 0;
        std::uint64_t completed = 0;
        std::uint64_t failed = 0;
        std::uint64_t timed_out = 0;
    };
    [[nodiscard]] Counts last_minute() const { return last(slots_per_minute); }
    [[nodiscard]] Counts last_hour() const { return last(slots_per_hour); }
    // Of each of the last 60 minutes, the oldest first; the last one is the running minute's.
    [[nodiscard]] std::vector<Counts> minutes() const;

    void stepped(const engine::StepFacts& facts) override;

private:
    static constexpr std::int64_t slots_per_minute = 6;
    static constexpr std::int64_t slots_per_hour = 360;

    struct Slot {
        std::int64_t number = -1;  // of ten seconds since the clock's zero
        Counts counts;
    };

    [[nodiscard]] std::int64_t number_now() const;
    [[nodiscard]] Counts last(std::int64_t slots) const;
    // The last `slots` in `parts` of the same length, the oldest first.
    [[nodiscard]] std::vector<Counts> last_by_part(std::int64_t slots, std::int64_t parts) const;

    const ports::Clock& clock_;
    const bool with_shares_;
    mutable std::mutex mutex_;  // guards what follows
    std::array<Slot, slots_per_hour + 1> slots_{};
};

}  // namespace api::admin
