#include "chains/votes/doctor.hpp"

#include <stdexcept>
#include <string>
#include <variant>

#include "chains/votes/prover/command_program.hpp"
#include "chains/votes/rest/rest_chain.hpp"
#include "chains/votes/rest/rest_nullifiers.hpp"

namespace chains::votes {
namespace {

using engine::Unreachable;
using Verdict = diagnosis::Finding::Verdict;

diagnosis::Finding of_tree(rest::RestChain& chain, const domain::Bytes32& round_id) {
    const auto latest = chain.latest(round_id);
    if (const auto* unreachable = std::get_if<Unreachable>(&latest)) {
        return {Verdict::failed, "vote chain", "its tree: " + unreachable->reason};
    }
    const auto* tree = std::get_if<tree::LatestTree>(&latest);
    const std::uint64_t leaves = tree == nullptr ? 0 : tree->next_index;
    return {Verdict::ok, "vote chain",
            "answers; a round is active, with " + std::to_string(leaves) + " leaves in its tree"};
}

diagnosis::Finding of_chain(const Options& options, const ports::Clock& clock) {
    Options with_url = options;
    with_url.chain_url = options.base_url();
    rest::RestChain chain(with_url, clock, nullptr);
    const rest::ActiveRoundAnswer active = chain.active_round();
    if (const auto* unreachable = std::get_if<Unreachable>(&active)) {
        return {Verdict::failed, "vote chain", unreachable->reason + "; see helper.chain_url"};
    }
    if (const auto* round_id = std::get_if<domain::Bytes32>(&active)) {
        return of_tree(chain, *round_id);
    }
    return {Verdict::ok, "vote chain", "answers; no round is active"};
}

diagnosis::Finding of_nullifiers(const Options& options, const ports::Clock& clock) {
    const std::string subject = "share-status";
    if (options.nullifier_url.empty()) {
        return {Verdict::warning, subject,
                "answers `pending` to everybody; helper.nullifier_url names a node that knows"};
    }
    rest::RestNullifiers nullifiers(options, clock);
    const engine::NullifierAnswer answer = nullifiers.find({}, {});
    if (const auto* unreachable = std::get_if<Unreachable>(&answer)) {
        return {Verdict::failed, subject,
                unreachable->reason + "; see helper.nullifier_url and helper.nullifier_token"};
    }
    return {Verdict::ok, subject, "its node answers"};
}

diagnosis::Finding of_prover(const ProverOptions& options) {
    const std::string subject = "prover";
    switch (options.type) {
        case ProverType::command:
            try {
                return {Verdict::ok, subject, "runs " + prover::command_program(options).path};
            } catch (const std::invalid_argument& error) {
                return {Verdict::failed, subject, error.what()};
            }
        case ProverType::http:
            return {Verdict::ok, subject, "a service; not asked, since that would be a proof"};
        case ProverType::loopback:
        case ProverType::none:
            break;
    }
    return {Verdict::warning, subject, "loopback: its proofs prove nothing, a real chain refuses"};
}

}  // namespace

std::vector<diagnosis::Finding> diagnose(const Options& options, const ports::Clock& clock) {
    return {of_chain(options, clock), of_nullifiers(options, clock), of_prover(options.prover)};
}

}  // namespace chains::votes
