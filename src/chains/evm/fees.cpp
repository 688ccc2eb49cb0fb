#include "chains/evm/fees.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <vector>

#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

namespace {

constexpr jsonrpc::Wei price_max = jsonrpc::Wei{1}
                                   << 96U;  // far beyond any price; keeps sums in range
constexpr jsonrpc::Wei capless_factor = 10;
// Without a cap a tip is believed up to this, or up to what a busy chain asks for besides.
constexpr jsonrpc::Wei capless_tip = jsonrpc::Wei{500} * 1'000'000'000;
constexpr std::size_t blocks_max = 1'024;

jsonrpc::TransportError garbled(const char* what) {
    return {jsonrpc::TransportError::Kind::garbled, what, {}};
}

// The middle of the positive ones, the mean of the two middle ones when their number is even; at
// least 1 wei.
jsonrpc::Wei median(std::vector<jsonrpc::Wei> rewards) {
    if (rewards.empty()) return 1;
    std::ranges::sort(rewards);
    assert(rewards.front() > 0);
    const std::size_t middle = rewards.size() / 2;
    if (rewards.size() % 2 == 1) return rewards[middle];
    return (rewards[middle - 1] + rewards[middle]) / 2;
}

// A tip below this part of the fee moves nobody.
constexpr jsonrpc::Wei tiny_tip = 1'000;

// To what was named, as far as it is a price.
void raise_to(const FeeFloor& floor, const FeeQuote& market, FeeQuote& quote) {
    if (floor.max_fee && *floor.max_fee <= price_max) {
        quote.max_fee = std::max(quote.max_fee, *floor.max_fee);
    }
    if (quote.legacy || !floor.priority_fee || *floor.priority_fee > price_max) return;
    quote.priority_fee = std::max(quote.priority_fee, *floor.priority_fee);
    // The base fee has to be paid besides.
    const jsonrpc::Wei base = market.max_fee - std::min(market.max_fee, market.priority_fee);
    quote.max_fee = std::max(quote.max_fee, base + quote.priority_fee);
}

jsonrpc::Wei raised(jsonrpc::Wei price, std::uint32_t permille) {
    return price + (price * permille + 999) / 1'000;
}

}  // namespace

std::optional<FeeHistory> decode_fee_history(const jsonrpc::Json& history) {
    const jsonrpc::Json& bases = jsonrpc::member(history, "baseFeePerGas");
    const jsonrpc::Json& rewards = jsonrpc::member(history, "reward");
    FeeHistory decoded;
    if (bases.is_array() && bases.size() >= 2) {
        if (bases.size() > blocks_max) return std::nullopt;
        const auto base = jsonrpc::wei(bases[bases.size() - 2]);
        if (!base || *base > price_max) return std::nullopt;
        if (*base > 0) decoded.base = *base;
    }
    std::vector<jsonrpc::Wei> positive;
    if (rewards.is_array()) {
        if (rewards.size() > blocks_max) return std::nullopt;
        for (const jsonrpc::Json& of_block : rewards) {
            if (!of_block.is_array() || of_block.empty()) continue;
            const auto reward = jsonrpc::wei(of_block[0]);
            if (!reward || *reward > price_max) return std::nullopt;
            if (*reward > 0) positive.push_back(*reward);
        }
    }
    decoded.priority_fee = median(std::move(positive));
    return decoded;
}

FeeQuote fees_of(const Transaction& transaction) {
    return {transaction.legacy, transaction.priority_fee, transaction.max_fee};
}

void set_fees(Transaction& transaction, const FeeQuote& quote) {
    transaction.legacy = quote.legacy;
    transaction.priority_fee = quote.priority_fee;
    transaction.max_fee = quote.max_fee;
}

std::optional<FeeQuote> bumped(const FeeQuote& old, const FeeQuote& first, const FeeQuote& market,
                               const Options::Fees& options, const FeeFloor& floor) {
    FeeQuote higher;
    higher.legacy = old.legacy;
    higher.max_fee = std::max(raised(old.max_fee, options.bump_permille), market.max_fee);
    if (!old.legacy) {
        higher.priority_fee =
            std::max(raised(old.priority_fee, options.bump_permille), market.priority_fee);
        // An eighth of next to nothing is nothing: the tip would stay there for hours.
        if (old.priority_fee < old.max_fee / tiny_tip) {
            higher.priority_fee = std::max(higher.priority_fee, old.max_fee / tiny_tip);
        }
    }
    raise_to(floor, market, higher);
    if (!old.legacy) higher.max_fee = std::max(higher.max_fee, higher.priority_fee);
    if (higher.max_fee > price_max) return std::nullopt;
    const jsonrpc::Wei cap = options.max_fee_cap != 0
                                 ? options.max_fee_cap
                                 : capless_factor * std::max(market.max_fee, first.max_fee);
    assert(higher.max_fee >= old.max_fee && higher.priority_fee <= higher.max_fee);
    if (higher.max_fee <= cap) return higher;
    // The last step may be smaller than usual, if the cap still is a step above.
    higher.max_fee = cap;
    constexpr std::uint32_t least_permille = 101;
    const bool enough = higher.max_fee >= raised(old.max_fee, least_permille) &&
                        higher.priority_fee <= higher.max_fee;
    return enough ? std::optional{higher} : std::nullopt;
}

std::optional<FeeQuote> lowered(const FeeQuote& old, const FeeQuote& market,
                                std::optional<jsonrpc::Wei> most) {
    assert(market.max_fee >= market.priority_fee);
    const jsonrpc::Wei base =
        market.legacy ? market.max_fee : (market.max_fee - market.priority_fee) / 2;
    FeeQuote lower = old;
    lower.max_fee = most && *most < old.max_fee ? *most : base + market.priority_fee;
    lower.priority_fee = std::min(old.priority_fee, lower.max_fee);
    if (lower.max_fee < base || lower.max_fee >= old.max_fee) return std::nullopt;
    return lower;
}

Fees::Fees(const Options& options, jsonrpc::Node& node, const ports::Clock& clock)
    : options_(options), node_(node), clock_(clock) {}

FeeAnswer Fees::current() {
    const std::lock_guard lock{mutex_};
    const domain::Monotonic now = clock_.monotonic();
    if (quote_ && now - asked_ <= options_.fees.age_max) return *quote_;
    FeeAnswer answer = ask();
    if (const auto* quote = std::get_if<FeeQuote>(&answer)) {
        quote_ = *quote;
        asked_ = now;
    }
    return answer;
}

// Only a floor: trouble with it, or nonsense, is none.
jsonrpc::Wei Fees::tip_floor(const jsonrpc::Answer& answer) {
    constexpr domain::Milliseconds missing_for = std::chrono::minutes{10};
    if (std::holds_alternative<jsonrpc::NodeError>(answer)) {
        no_tip_until_ = clock_.monotonic() + missing_for;
    }
    const auto* result = std::get_if<jsonrpc::Json>(&answer);
    const auto tip = result != nullptr ? jsonrpc::wei(*result) : std::nullopt;
    return tip && *tip <= price_max ? *tip : jsonrpc::Wei{0};
}

FeeAnswer Fees::ask() {
    std::vector<jsonrpc::Call> calls{
        {"eth_feeHistory", {"0xa", "latest", jsonrpc::Json::array({20.0})}}};
    if (!no_tip_until_ || clock_.monotonic() >= *no_tip_until_) {
        calls.push_back({"eth_maxPriorityFeePerGas", jsonrpc::Json::array()});
    }
    const std::vector<jsonrpc::Answer> answers = node_.call_all(calls);
    const jsonrpc::Answer& history = answers.front();
    const jsonrpc::Wei floor = answers.size() > 1 ? tip_floor(answers.back()) : jsonrpc::Wei{0};
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&history)) return *problem;
    FeeHistory fees;
    if (const auto* result = std::get_if<jsonrpc::Json>(&history)) {
        const auto decoded = decode_fee_history(*result);
        if (!decoded) return garbled("a fee history that can not be read");
        fees = *decoded;
    }
    if (!fees.base) {
        const auto block = node_.call({"eth_getBlockByNumber", {"latest", false}});
        if (const auto* problem = std::get_if<jsonrpc::TransportError>(&block)) return *problem;
        if (const auto* result = std::get_if<jsonrpc::Json>(&block)) {
            const jsonrpc::Json& base = jsonrpc::member(*result, "baseFeePerGas");
            if (!base.is_null()) fees.base = jsonrpc::wei(base);
        }
    }
    if (fees.base && *fees.base <= price_max) {
        const jsonrpc::Wei cap = options_.fees.max_fee_cap;
        const jsonrpc::Wei tip_max =
            cap != 0 ? cap : std::max(capless_tip, capless_factor * *fees.base);
        const jsonrpc::Wei tip = std::min(std::max(fees.priority_fee, floor), tip_max);
        FeeQuote quote{false, tip, 2 * *fees.base + tip};
        if (cap != 0) quote.max_fee = std::min(quote.max_fee, cap);
        return quote;
    }
    const auto price = node_.call({"eth_gasPrice", jsonrpc::Json::array()});
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&price)) return *problem;
    const auto* result = std::get_if<jsonrpc::Json>(&price);
    const auto wei = result != nullptr ? jsonrpc::wei(*result) : std::nullopt;
    if (!wei || *wei > price_max) return garbled("a gas price that can not be read");
    return FeeQuote{true, 0, *wei};
}

bool is_old(const ports::Clock& clock, domain::Timestamp at, const Options::Fees& options) {
    const auto age = clock.wall() - at;
    return std::max(age, -age) >= options.bump_after;
}

}  // namespace chains::evm
