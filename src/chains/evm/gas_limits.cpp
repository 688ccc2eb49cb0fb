#include "chains/evm/gas_limits.hpp"

#include <algorithm>
#include <chrono>

#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

namespace {

constexpr domain::Milliseconds ask_interval = std::chrono::minutes{1};
constexpr domain::Milliseconds named_for = std::chrono::minutes{10};
constexpr std::uint64_t estimate_max = 1ULL << 50U;

}  // namespace

GasLimits::GasLimits(jsonrpc::Node& node, const ports::Clock& clock) : node_(node), clock_(clock) {}

std::optional<std::uint64_t> GasLimits::limit_for(std::uint64_t estimate) {
    if (estimate == 0 || estimate > estimate_max) return std::nullopt;
    const std::uint64_t wanted = estimate * 12 / 10;
    const auto most = cap();
    if (!most) return wanted;
    return std::max(std::min(wanted, *most), estimate);
}

bool GasLimits::exceeds_block(std::uint64_t estimate) {
    const std::lock_guard lock{mutex_};
    const auto limit = block_limit();
    return limit && estimate > *limit;
}

std::optional<std::uint64_t> GasLimits::cap() {
    const std::lock_guard lock{mutex_};
    const bool named = named_ && clock_.monotonic() - named_at_ < named_for;
    const auto block = block_limit();
    if (!named) return block;
    return block ? std::min(*block, *named_) : named_;
}

void GasLimits::note_cap(std::uint64_t cap) {
    const std::lock_guard lock{mutex_};
    named_ = cap;
    named_at_ = clock_.monotonic();
}

std::optional<std::uint64_t> GasLimits::block_limit() {
    const domain::Monotonic now = clock_.monotonic();
    if (asked_ && now - *asked_ < ask_interval) return block_limit_;
    asked_ = now;
    const auto answer =
        node_.call({"eth_getBlockByNumber", jsonrpc::Json::array({"latest", false})});
    const auto* block = std::get_if<jsonrpc::Json>(&answer);
    if (block == nullptr) return block_limit_;
    const auto limit = jsonrpc::quantity(jsonrpc::member(*block, "gasLimit"));
    if (limit && *limit > 0) block_limit_ = *limit;
    return block_limit_;
}

}  // namespace chains::evm
