#include "chains/evm/gas_limits.hpp"

#include <algorithm>
#include <chrono>

#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

namespace {

constexpr domain::Milliseconds ask_interval = std::chrono::minutes{1};
constexpr domain::Milliseconds named_for = std::chrono::minutes{10};
constexpr std::uint64_t estimate_max = 1ULL << 50U;

// What a transaction costs before it runs, all its data being zeros (EIP-2028).
constexpr std::uint64_t least_gas(std::size_t data_bytes) {
    return 21'000 + 4 * std::uint64_t{data_bytes};
}

}  // namespace

GasLimits::GasLimits(jsonrpc::Node& node, const ports::Clock& clock) : node_(node), clock_(clock) {}

std::optional<std::uint64_t> GasLimits::limit_for(std::uint64_t estimate, std::size_t data_bytes) {
    if (estimate < least_gas(data_bytes) || estimate > estimate_max) return std::nullopt;
    const std::uint64_t wanted = estimate * 12 / 10;
    const auto most = cap();
    // One below the estimate is not believed: the node estimated it.
    return most && *most >= estimate ? std::min(wanted, *most) : wanted;
}

bool GasLimits::exceeds_block(std::uint64_t estimate) {
    const std::lock_guard lock{mutex_};
    const auto exceeds = [&] {
        const auto limit = block_limit();
        return limit && estimate > *limit;
    };
    if (!exceeds()) return false;
    // It ends the request: one block does not decide that.
    asked_.reset();
    block_limit_.reset();
    return exceeds();
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
