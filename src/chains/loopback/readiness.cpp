#include "chains/loopback/readiness.hpp"

#include <algorithm>
#include <string>

#include "chains/loopback/transaction.hpp"
#include "domain/access_list.hpp"

namespace chains::loopback {

Readiness::Readiness(const Options& options, SeededRandom& random)
    : options_(options), random_(random) {}

engine::CheckOutcome Readiness::check(const engine::CheckOrder& order) {
    if (random_.chance(Purpose::check_unreachable, options_.unreachable_checks)) {
        return engine::unreached("the loopback chain did not answer the readiness check");
    }
    if (auto unknown = unknown_chain(*order.request)) return std::move(*unknown);
    if (auto refused = refusal(*order.request)) return std::move(*refused);
    if (is_late(order)) return engine::NotReady{};
    return engine::Ready{};
}

std::optional<engine::Rejected> Readiness::unknown_chain(const domain::Request& request) const {
    for (const std::uint64_t chain : domain::host_chains_of(request)) {
        if (std::ranges::find(options_.host_chains, chain) != options_.host_chains.end()) continue;
        return engine::Rejected{
            {domain::Reason::host_acl_failed,
             "Host ACL check failed: No ACL binding configured for host chain " +
                 std::to_string(chain),
             std::nullopt}};
    }
    return std::nullopt;
}

std::optional<engine::Rejected> Readiness::refusal(const domain::Request& request) const {
    if (options_.acl_refusals == 0) return std::nullopt;
    const domain::Bytes32 content = content_of(request);
    if (!random_.is_among(Purpose::acl_refusal, content, options_.acl_refusals))
        return std::nullopt;
    const auto questions = domain::acl_questions(request);
    if (questions.empty()) return std::nullopt;
    const domain::AclQuestion& denied =
        questions[random_.number(Purpose::acl_question, content) % questions.size()];
    return engine::Rejected{
        {domain::Reason::host_acl_refused,
         "Not allowed on host ACL: ACL check failed for 1 handle(s): handle=0x" +
             domain::to_hex(denied.handle) + " check=" + denied.check,
         std::nullopt}};
}

bool Readiness::is_late(const engine::CheckOrder& order) {
    if (options_.late_readiness == 0) return false;
    if (!random_.is_among(Purpose::late_readiness, content_of(*order.request),
                          options_.late_readiness)) {
        return false;
    }
    const std::lock_guard lock{mutex_};
    std::uint32_t& tries = tries_[order.id.sequence];
    if (tries++ < options_.not_ready_tries) return true;
    tries_.erase(order.id.sequence);
    return false;
}

}  // namespace chains::loopback
