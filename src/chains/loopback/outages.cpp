#include "chains/loopback/outages.hpp"

#include <algorithm>
#include <utility>

namespace chains::loopback {
namespace {

std::vector<Outage> by_start(std::vector<Outage> outages) {
    std::ranges::sort(outages, {}, &Outage::start);
    return outages;
}

}  // namespace

Outages::Outages(std::vector<Outage> outages, const ports::Clock& clock)
    : outages_(by_start(std::move(outages))), clock_(clock), start_(clock.monotonic()) {}

std::optional<domain::Monotonic> Outages::end() const {
    if (outages_.empty()) return std::nullopt;
    const domain::Monotonic now = clock_.monotonic();
    domain::Monotonic end = now;
    for (const Outage& outage : outages_) {
        const domain::Monotonic begin = start_ + outage.start;
        if (begin <= end) end = std::max(end, begin + outage.duration);
    }
    if (end == now) return std::nullopt;
    return end;
}

}  // namespace chains::loopback
