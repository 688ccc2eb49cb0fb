#include "engine/wal_keeper.hpp"

#include <algorithm>
#include <string>

namespace engine {

namespace {

constexpr std::uint64_t bytes_idle = 4ULL << 20;  // checkpointed when nobody waits
// A truncation flushes twice: not more often than this for wiped shares …
constexpr domain::Milliseconds truncation_pause{1'000};
// … and not right before something is due, unless there was no better moment for so long.
constexpr domain::Milliseconds quiet_min{50};
constexpr domain::Milliseconds wiped_max{10'000};

}  // namespace

void WalKeeper::after_step(const Moment& moment) {
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
        journal_.write(Level::warning,
                       "wal_large bytes=" + std::to_string(store_.wal_bytes()) +
                           " hint=\"a long read keeps the write-ahead log from shrinking\"");
    }
}

bool WalKeeper::must_truncate(const Moment& moment) const {
    if (moment.maintained && moment.idle && (store_.wal_bytes() > 0 || wiped_since_)) return true;
    if (!wiped_since_ || moment.now < next_truncation_) return false;
    const bool quiet = moment.idle && moment.until_next >= quiet_min;
    return quiet || moment.now - *wiped_since_ >= wiped_max;
}

void WalKeeper::truncate(domain::Monotonic now) {
    next_truncation_ = now + truncation_pause;
    store_.truncate_wal();
    if (!store_.wal_holds_wiped_data()) wiped_since_.reset();
}

std::optional<domain::Monotonic> WalKeeper::next(domain::Monotonic now) const {
    if (!wiped_since_) return std::nullopt;
    if (next_truncation_ > now) return next_truncation_;
    return std::max(now, *wiped_since_ + wiped_max);
}

}  // namespace engine
