#include "chains/evm/plan.hpp"

#include <cstddef>

namespace chains::evm {

namespace {

constexpr std::uint64_t transfer_gas = 21'000;
// Chains that charge for their data elsewhere add it to the gas (Arbitrum, for one).
constexpr std::uint64_t no_op_gas = 10 * transfer_gas;

}  // namespace

engine::Plan plan_of(const Draft& draft) {
    engine::Plan plan;
    plan.bytes.push_back(draft.has_nonce ? 1 : 0);
    plan.bytes.push_back(draft.key);
    const domain::Bytes encoded = encode(draft.transaction);
    plan.bytes.insert(plan.bytes.end(), encoded.begin(), encoded.end());
    return plan;
}

std::optional<Draft> draft_in(const engine::Plan& plan) {
    constexpr std::size_t head_bytes = 2;
    if (plan.bytes.size() < head_bytes || plan.bytes[0] > 1) return std::nullopt;
    auto transaction = decode_unsigned(domain::ByteView{plan.bytes}.subspan(head_bytes));
    if (!transaction) return std::nullopt;
    return Draft{std::move(*transaction), plan.bytes[0] == 1, plan.bytes[1]};
}

Transaction no_op_like(const Transaction& transaction, const domain::Address& self) {
    Transaction no_op = transaction;
    no_op.to = self;
    no_op.data.clear();
    no_op.gas_limit = no_op_gas;
    return no_op;
}

Transaction dearer_no_op(const Transaction& instead_of, const domain::Address& self,
                         const FeeAnswer& market, const Options::Fees& options) {
    Transaction no_op = no_op_like(instead_of, self);
    const FeeQuote old = fees_of(no_op);
    const auto* quote = std::get_if<FeeQuote>(&market);
    if (const auto higher = bumped(old, old, quote != nullptr ? *quote : old, options)) {
        set_fees(no_op, *higher);
    }
    return no_op;
}

Transaction probe_transaction(std::uint64_t chain_id, const domain::Address& self) {
    Transaction probe;
    probe.chain_id = chain_id;
    probe.nonce = 1ULL << 62U;
    probe.max_fee = 1;
    probe.gas_limit = transfer_gas;
    probe.to = self;
    return probe;
}

bool is_no_op(const Transaction& transaction, const domain::Address& self) {
    return transaction.to == self && transaction.data.empty();
}

}  // namespace chains::evm
