#include "doctor.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

#include "gateway/evm/doctor.hpp"
#include "gateway/evm/nodes.hpp"
#include "gateway/evm/signer.hpp"
#include "gateway/votes/doctor.hpp"
#include "system/log.hpp"
#include "system/real_clock.hpp"

namespace posthouse {

namespace {

using gateway::Finding;

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

std::vector<Finding> look_at_gateway(const config::Settings& settings, const engine::Clock& clock) {
    if (settings.gateway == config::GatewayType::loopback) {
        return {{Finding::Verdict::ok, "gateway.type",
                 "loopback, a chain inside the program; there is nothing to check"}};
    }
    const auto signer = gateway::evm::private_key_signer(settings.evm.private_key);
    auto nodes = gateway::evm::make_nodes(settings.evm, clock);
    const auto probes = gateway::evm::make_probes(settings.evm, clock);
    return gateway::evm::diagnose(settings.evm, nodes, probes, *signer, clock);
}

std::vector<Finding> look_at_votes(const config::Settings& settings, const engine::Clock& clock) {
    if (settings.api.share_disable) {
        return {{Finding::Verdict::ok, "vote shares", "off, their routes answer 503"}};
    }
    if (settings.votes.base_url().empty()) {
        return {
            {Finding::Verdict::ok, "vote chain", "embedded: a trial, no share leaves the program"}};
    }
    return gateway::votes::diagnose(settings.votes, clock);
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

}  // namespace posthouse
