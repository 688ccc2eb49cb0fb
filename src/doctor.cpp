#include "doctor.hpp"

#include <cstdlib>
#include <string_view>

#include "gateway/evm/doctor.hpp"
#include "gateway/evm/nodes.hpp"
#include "gateway/evm/signer.hpp"
#include "system/log.hpp"
#include "system/real_clock.hpp"

namespace posthouse {

namespace {

using gateway::evm::Finding;

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

}  // namespace

int doctor(const config::Settings& settings, std::ostream& out) {
    if (settings.gateway == config::GatewayType::loopback) {
        out << word_of(Finding::Verdict::ok)
            << "gateway.type: loopback, a chain inside the program; there is nothing to check\n";
        return EXIT_SUCCESS;
    }
    const platform::RealClock clock;
    const auto signer = gateway::evm::private_key_signer(settings.evm.private_key);
    auto nodes = gateway::evm::make_nodes(settings.evm, clock);
    const auto probes = gateway::evm::make_probes(settings.evm, clock);
    bool failed = false;
    for (const Finding& finding :
         gateway::evm::diagnose(settings.evm, nodes, probes, *signer, clock)) {
        failed = failed || finding.verdict == Finding::Verdict::failed;
        out << word_of(finding.verdict) << platform::printable(finding.subject) << ": "
            << platform::printable(finding.text) << "\n";
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace posthouse
