#include "config/cross_checks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "chains/votes/prover/command_program.hpp"
#include "config/keys.hpp"
#include "config/quantities.hpp"
#include "net/url.hpp"

namespace config {
namespace {

// What belongs to a proof beside the prover's time: a round, a tree and its leaves are asked for.
constexpr domain::Milliseconds reading_time{60'000};

// A cold process of a pool takes a second or two, several at once longer.
constexpr domain::Milliseconds pool_lead{5'000};

const std::string prover = "helper.prover.";

bool has_chain(const Settings& settings) {
    return !settings.votes.base_url().empty();
}

// Who names a part of a vote chain has real votes: the embedded chain would take them and be
// silent.
bool wants_chain(const Findings& findings) {
    return std::ranges::any_of(findings.origins, [](const auto& origin) {
        const Key* const key = find_key(origin.first);
        return key != nullptr && key->effect == Effect::needs_vote_chain;
    });
}

void check_program(const chains::votes::ProverOptions& options, Findings& findings) {
    try {
        static_cast<void>(chains::votes::prover::command_program(options));
    } catch (const std::invalid_argument& error) {
        findings.error_where_set({prover + "command", prover + "pass_environment"}, error.what(),
                                 "a program that this user may execute, by its path or in PATH");
    }
}

void check_prover(const Settings& settings, Findings& findings) {
    using chains::votes::ProverType;
    const chains::votes::ProverOptions& options = settings.votes.prover;
    if (options.type == ProverType::none) {
        findings.error_where_set({"helper.chain_url"}, "needs " + prover + "type beside it",
                                 "command, http, or loopback for bytes that prove nothing");
    } else if (options.type == ProverType::command && options.command.empty()) {
        findings.error_where_set({prover + "command", prover + "type"},
                                 "there is no program in " + prover + "command",
                                 "a list that begins with a program");
    } else if (options.type == ProverType::command) {
        check_program(options, findings);
    } else if (options.type == ProverType::http && options.url.empty()) {
        findings.error_where_set({prover + "type"}, "needs " + prover + "url beside it",
                                 "an http or https URL");
    }
}

// Every path below it is ours to say.
void check_base_url(const std::string& key, const std::string& text, Findings& findings) {
    if (text.empty()) return;
    const std::string allowed =
        "http://HOST:PORT or https://HOST:PORT, with a path before "
        "/shielded-vote/v1 if there is one";
    if (text.find_first_of("?#") != std::string::npos) {
        findings.error_where_set({key}, "has a query or a fragment", allowed);
    } else if (net::parse_url(text).value().target.find("/shielded-vote") != std::string::npos) {
        findings.error_where_set({key}, "has the path of the interface in it", allowed);
    }
}

void check_confirmations(const Settings& settings, Findings& findings) {
    if (!settings.engine.shares.confirm_reveals || !settings.votes.nullifier_url.empty()) return;
    findings.error_where_set({"helper.confirm_reveals"}, "needs helper.nullifier_url beside it",
                             "false, or true with a node that can be asked");
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

void settle_chain(const Findings& findings, Loaded& loaded) {
    Settings& settings = loaded.settings;
    if (settings.api.share_disable) return;
    const bool wanted = settings.gateway != GatewayType::loopback || wants_chain(findings);
    if (!has_chain(settings) && wanted) {
        settings.api.share_disable = true;
        loaded.warnings.emplace_back(
            "vote_shares_off hint=\"there is no chain for vote shares: their routes answer 503, as "
            "with helper.disable; set helper.chain_url and helper.prover\"");
    } else if (has_chain(settings) &&
               settings.votes.prover.type == chains::votes::ProverType::loopback) {
        loaded.warnings.emplace_back(
            "prover_proves_nothing helper.prover.type=loopback hint=\"a real chain refuses its "
            "proofs\"");
    }
}

// Where nobody can be asked there is nothing to wait for.
void settle_confirmations(Loaded& loaded) {
    Settings& settings = loaded.settings;
    engine::ShareOptions& shares = settings.engine.shares;
    const bool has_shares = has_chain(settings) && !settings.api.share_disable;
    shares.confirm_reveals = shares.confirm_reveals && has_shares;
    shares.tell_unconfirmed =
        has_shares && !shares.confirm_reveals && !settings.votes.nullifier_url.empty();
    if (!has_shares || shares.confirm_reveals) return;
    loaded.notes.emplace_back(
        "reveals_unconfirmed hint=\"a share counts as revealed when a node admits it, before a "
        "block holds it; helper.confirm_reveals waits for the chain's record\"");
}

}  // namespace

void check_votes(const Settings& settings, Findings& findings) {
    if (!has_chain(settings) || settings.api.share_disable) return;
    check_base_url("helper.chain_url", settings.votes.chain_url, findings);
    check_base_url("helper.nullifier_url", settings.votes.nullifier_url, findings);
    check_confirmations(settings, findings);
    check_prover(settings, findings);
    check_lease(settings, findings);
}

void settle_votes(const Findings& findings, Loaded& loaded) {
    settle_chain(findings, loaded);
    settle_confirmations(loaded);
    const chains::votes::ProverOptions& options = loaded.settings.votes.prover;
    const bool is_pool = options.type == chains::votes::ProverType::command &&
                         options.life == chains::votes::ProverLife::pool;
    if (is_pool) loaded.settings.engine.shares.prover_lead = pool_lead;
}

}  // namespace config
