#include "commands/doctor.hpp"

#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/doctor.hpp"
#include "chains/evm/nodes.hpp"
#include "chains/evm/signers/make_signer.hpp"
#include "chains/votes/doctor.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"

namespace commands {

namespace {

using chains::diagnosis::Finding;

// As wide as the widest.
std::string_view word_of(Finding::Verdict verdict) {
    switch (verdict) {
        case Finding::Verdict::ok:
            return "ok      ";
        case Finding::Verdict::warning:
            return "warning ";
        case Finding::Verdict::failed:
            break;
    }
    return "failed  ";
}

std::vector<Finding> look_at_gateway(const config::Settings& settings, const ports::Clock& clock) {
    if (settings.gateway == config::GatewayType::loopback) {
        return {{Finding::Verdict::ok, "gateway.type",
                 "loopback, a chain inside the program; there is nothing to check"}};
    }
    const auto signers = chains::evm::signers::make_signers(settings.evm, clock);
    std::vector<chains::evm::Signer*> all;
    all.reserve(signers.size());
    for (const auto& signer : signers) all.push_back(signer.get());
    auto nodes = chains::evm::make_nodes(settings.evm, clock);
    const auto probes = chains::evm::make_probes(settings.evm, clock);
    chains::evm::Options options = settings.evm;
    options.shares_threshold = settings.engine.user_decrypt_shares_threshold;
    return chains::evm::diagnose(options, nodes, probes, all, clock);
}

Finding confirmations(const config::Settings& settings) {
    const std::string subject = "confirmations";
    if (settings.engine.shares.confirm_reveals) {
        return {Finding::Verdict::ok, subject, "on: a share is done when it is seen on the chain"};
    }
    return {Finding::Verdict::warning, subject,
            "off: a share is done when a node admits it, before a block holds it; see "
            "helper.confirm_reveals"};
}

std::vector<Finding> look_at_votes(const config::Settings& settings, const ports::Clock& clock) {
    if (settings.api.share_disable) {
        return {{Finding::Verdict::ok, "vote shares", "off, their routes answer 503"}};
    }
    if (settings.votes.base_url().empty()) {
        return {
            {Finding::Verdict::ok, "vote chain", "embedded: a trial, no share leaves the program"}};
    }
    std::vector<Finding> findings = chains::votes::diagnose(settings.votes, clock);
    findings.push_back(confirmations(settings));
    return findings;
}

}  // namespace

int doctor(const config::Settings& settings, std::ostream& out) {
    const platform::RealClock clock;
    std::vector<Finding> findings = look_at_gateway(settings, clock);
    std::ranges::move(look_at_votes(settings, clock), std::back_inserter(findings));
    bool failed = false;
    for (const Finding& finding : findings) {
        failed = failed || finding.verdict == Finding::Verdict::failed;
        out << word_of(finding.verdict) << platform::printable(finding.subject) << ": "
            << platform::printable(finding.text) << "\n";
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace commands
