#include "api/lookups.hpp"

#include <chrono>
#include <mutex>
#include <utility>

namespace api {

namespace {

constexpr domain::Nanoseconds waiting_max = std::chrono::seconds(10);

}  // namespace

Lookups::Lookups(ports::Executor& executor, const ports::Clock& clock, std::size_t pending_max)
    : executor_(executor),
      clock_(clock),
      pending_max_(pending_max),
      lifetime_(std::make_shared<Lifetime>()) {}

Lookups::~Lookups() {
    // First, so that a stream of new work can not keep the lock away from us.
    lifetime_->open = false;
    const std::unique_lock lock{lifetime_->running};
}

bool Lookups::start(std::function<void()> work, std::function<void()> too_late) {
    if (lifetime_->pending.fetch_add(1) >= pending_max_) {
        --lifetime_->pending;
        return false;
    }
    executor_.run([lifetime = lifetime_, &clock = clock_, since = clock_.monotonic(),
                   work = std::move(work), too_late = std::move(too_late)] {
        const std::shared_lock lock{lifetime->running};
        if (lifetime->open) (clock.monotonic() - since > waiting_max ? too_late : work)();
        --lifetime->pending;
    });
    return true;
}

void Lookups::start_after(domain::Milliseconds delay, std::function<void()> work) {
    executor_.run_after(delay, [lifetime = lifetime_, work = std::move(work)] {
        const std::shared_lock lock{lifetime->running};
        if (lifetime->open) work();
    });
}

}  // namespace api
