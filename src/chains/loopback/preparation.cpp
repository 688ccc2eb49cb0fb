#include "chains/loopback/preparation.hpp"

#include "chains/loopback/reverts.hpp"
#include "chains/loopback/transaction.hpp"

namespace chains::loopback {

engine::PrepareOutcome Preparation::prepare(const engine::PrepareOrder& order) {
    if (random_.chance(Purpose::prepare_unreachable, options_.unreachable_prepares)) {
        return engine::unreached("the loopback chain did not answer the preparation");
    }
    const Draft draft = draft_of(order.id, *order.request, options_.proof_handles);
    if (draft.kind == domain::Kind::share) {
        if (random_.chance(Purpose::proof_failure, options_.failed_proofs)) {
            return engine::Rejected{
                {domain::Reason::send_failed, "Proof failed: proving failed (-5)", std::nullopt}};
        }
    } else if (random_.is_among(Purpose::estimation_revert, draft.content,
                                options_.estimation_reverts)) {
        return engine::Rejected{
            revert("Transaction simulation failed",
                   random_.number(Purpose::estimation_selector, draft.content))};
    }
    return engine::Plan{encode(draft)};
}

}  // namespace chains::loopback
