#include "engine/checkpointer.hpp"

#include <algorithm>
#include <string>

namespace engine {

namespace {

constexpr std::uint64_t bytes_idle = 4ULL << 20;  // checkpointed when nobody waits
// A truncation flushes twice, and what is written after it has to make the file longer again. So it
// is done for wiped shares when nothing goes on and nothing is due soon, …
constexpr domain::Milliseconds truncation_pause{1'000};
constexpr domain::Milliseconds rest_min{1'000};
// … after a while in a gap between two pieces of work, and at last wherever it falls.
constexpr domain::Milliseconds patience{10'000};
constexpr domain::Milliseconds gap_min{50};
constexpr domain::Milliseconds wiped_max{15'000};

}  // namespace

void Checkpointer::after_step(const Moment& moment) {
    const std::uint64_t bytes_max = store_.options().wal_bytes_max;
    if (!store_.wal_holds_wiped_data()) {
        wiped_since_.reset();
    } else if (!wiped_since_) {
        wiped_since_ = moment.now;
    }
    // Checkpoints cost a flush: small ones when nobody waits, a forced one when the log nears its
    // bound.
    if (must_truncate(moment)) {
        truncate(moment.now);
    } else if (store_.wal_bytes() > bytes_max || (moment.idle && store_.wal_bytes() > bytes_idle)) {
        store_.checkpoint();
    }
    if (moment.maintained && store_.wal_bytes() > bytes_max) {
        logger_.write(ports::LogLevel::warning,
                      "wal_large bytes=" + std::to_string(store_.wal_bytes()) +
                          " hint=\"a long read keeps the write-ahead log from shrinking\"");
    }
}

bool Checkpointer::must_truncate(const Moment& moment) const {
    if (moment.maintained && moment.idle && (store_.wal_bytes() > 0 || wiped_since_)) return true;
    if (!wiped_since_ || moment.now < next_truncation_) return false;
    const domain::Nanoseconds waited = moment.now - *wiped_since_;
    if (waited >= wiped_max) return true;
    if (!moment.idle) return false;
    const bool rests = !moment.at_work && moment.until_next >= rest_min;
    return rests || (waited >= patience && moment.until_next >= gap_min);
}

void Checkpointer::truncate(domain::Monotonic now) {
    next_truncation_ = now + truncation_pause;
    store_.truncate_wal();
    if (!store_.wal_holds_wiped_data()) wiped_since_.reset();
}

std::optional<domain::Monotonic> Checkpointer::next(domain::Monotonic now) const {
    if (!wiped_since_) return std::nullopt;
    if (next_truncation_ > now) return next_truncation_;
    const domain::Monotonic gap = *wiped_since_ + patience;
    return gap > now ? gap : std::max(now, *wiped_since_ + wiped_max);
}

}  // namespace engine
