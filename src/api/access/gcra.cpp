#include "api/access/gcra.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace api::access {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t one_request = 1'000'000;
constexpr std::uint64_t one_second = 1'000'000'000;

std::uint64_t narrow(Wide value) {
    assert(value <= std::numeric_limits<std::uint64_t>::max());
    return static_cast<std::uint64_t>(value);
}

// What the rate has brought by then. Rounding down gives away less than a millionth of a request,
// once and not with each: an arrival is never less than a whole request after the one before.
std::uint64_t position(std::uint64_t now_ns, std::uint64_t micro_per_second) {
    return narrow(Wide{now_ns} * micro_per_second / one_second);
}

// The first nanosecond whose position is that far.
std::uint64_t time_of(std::uint64_t position, std::uint64_t micro_per_second) {
    return narrow((Wide{position} * one_second + micro_per_second - 1) / micro_per_second);
}

}  // namespace

Gcra::Gcra(const Allowance& allowance) : allowance_(allowance) {
    assert(allowance.micro_per_second > 0 && allowance.burst > 0);
}

std::optional<domain::Nanoseconds> Gcra::refused(domain::Monotonic now) {
    const std::uint64_t rate = allowance_.micro_per_second;
    const auto now_ns =
        static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 0));
    const std::uint64_t here = position(now_ns, rate);
    const std::uint64_t ahead_max = (std::uint64_t{allowance_.burst} - 1) * one_request;

    std::uint64_t arrival = arrival_.load(std::memory_order_relaxed);
    for (;;) {
        if (arrival > here + ahead_max) {
            const std::uint64_t due_ns = time_of(arrival - ahead_max, rate);
            return domain::Nanoseconds{static_cast<std::int64_t>(due_ns - now_ns)};
        }
        const std::uint64_t next = std::max(arrival, here) + one_request;
        if (arrival_.compare_exchange_weak(arrival, next, std::memory_order_relaxed)) return {};
    }
}

}  // namespace api::access
