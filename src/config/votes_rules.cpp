#include "config/votes_rules.hpp"

#include <string>

#include "config/quantities.hpp"

namespace config {
namespace {

// What belongs to a proof beside the prover's time: a round, a tree and its leaves are asked for.
constexpr domain::Milliseconds reading_time{60'000};

const std::string prover = "helper.prover.";

bool has_chain(const Settings& settings) {
    return !settings.votes.base_url().empty();
}

void check_prover(const Settings& settings, Findings& findings) {
    using gateway::ProverType;
    const gateway::ProverOptions& options = settings.votes.prover;
    if (options.type == ProverType::none) {
        findings.error_where_set({"helper.chain_url"}, "needs " + prover + "type beside it",
                                 "command, http, or loopback for bytes that prove nothing");
    } else if (options.type == ProverType::command && options.command.empty()) {
        findings.error_where_set({prover + "command", prover + "type"},
                                 "there is no program in " + prover + "command",
                                 "a list that begins with a program");
    } else if (options.type == ProverType::http && options.url.empty()) {
        findings.error_where_set({prover + "type"}, "needs " + prover + "url beside it",
                                 "an http or https URL");
    }
}

void check_lease(const Settings& settings, Findings& findings) {
    const domain::Milliseconds lease = settings.engine.lease;
    const auto fits = [&](domain::Milliseconds time) { return time + reading_time <= lease; };
    const std::string about_lease = ", engine.lease is " + format_duration(lease);
    if (!fits(settings.votes.prover.timeout)) {
        findings.error_where_set(
            {prover + "timeout", "engine.lease"},
            "a proof may take " + format_duration(settings.votes.prover.timeout) + about_lease,
            "a minute less than engine.lease");
    }
    if (!fits(settings.votes.reveal_timeout)) {
        findings.error_where_set(
            {"helper.chain_timeout", "engine.lease"},
            "a reveal may take " + format_duration(settings.votes.reveal_timeout) + about_lease,
            "a minute less than engine.lease");
    }
}

}  // namespace

void check_votes(const Settings& settings, Findings& findings) {
    if (!has_chain(settings) || settings.api.share_disable) return;
    check_prover(settings, findings);
    check_lease(settings, findings);
}

void settle_votes(Loaded& loaded) {
    Settings& settings = loaded.settings;
    if (settings.api.share_disable) return;
    if (!has_chain(settings) && settings.gateway != GatewayType::loopback) {
        settings.api.share_disable = true;
        loaded.warnings.emplace_back(
            "vote_shares_off hint=\"without helper.chain_url there is no chain for vote shares: "
            "their routes answer 503, as with helper.disable\"");
    } else if (has_chain(settings) && settings.votes.prover.type == gateway::ProverType::loopback) {
        loaded.warnings.emplace_back(
            "prover_proves_nothing helper.prover.type=loopback hint=\"a real chain refuses its "
            "proofs\"");
    }
}

}  // namespace config
