#include "engine/token_bucket.hpp"

#include <algorithm>
#include <cassert>

namespace engine {

namespace {
constexpr std::uint64_t one_token = 1'000'000'000;  // a rate of r fills r of these per nanosecond
}

TokenBucket::TokenBucket(std::uint32_t per_second, std::uint32_t burst, domain::Monotonic now)
    : per_second_(per_second),
      full_(one_token * std::max<std::uint32_t>(burst, 1)),
      level_(full_),
      filled_(now) {}

bool TokenBucket::try_take(domain::Monotonic now) {
    refill(now);
    if (level_ < one_token) return false;
    level_ -= one_token;
    return true;
}

domain::Monotonic TokenBucket::next_token(domain::Monotonic now) const {
    TokenBucket later = *this;
    later.refill(now);
    if (later.level_ >= one_token) return now;
    if (per_second_ == 0) return domain::Monotonic::max();
    const std::uint64_t missing = one_token - later.level_;
    assert(missing <= one_token);
    return now + domain::Nanoseconds{(missing + per_second_ - 1) / per_second_};
}

void TokenBucket::change_rate(std::uint32_t per_second, std::uint32_t burst,
                              domain::Monotonic now) {
    refill(now);
    per_second_ = per_second;
    full_ = one_token * std::max<std::uint32_t>(burst, 1);
    level_ = std::min(level_, full_);
}

void TokenBucket::refill(domain::Monotonic now) {
    if (now <= filled_) return;
    const auto elapsed = static_cast<std::uint64_t>((now - filled_).count());
    filled_ = now;
    if (per_second_ == 0) return;
    const std::uint64_t missing = full_ - level_;
    // Compared as a quotient: the product may not fit.
    level_ = elapsed > missing / per_second_ ? full_ : level_ + elapsed * per_second_;
    assert(level_ <= full_);
}

}  // namespace engine
