#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chains/diagnosis/finding.hpp"
#include "chains/evm/nodes.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

// What is made to look at one URL.
struct Probes {
    std::function<std::unique_ptr<jsonrpc::Node>(const std::string& url)> node;
    // What kept a subscription from being made; nothing when one was.
    std::function<std::optional<std::string>(const std::string& url)> subscribe;
};
// Real ones. The clock has to outlive them.
[[nodiscard]] Probes make_probes(const Options& options, const ports::Clock& clock);

// Looks at everything that requests will need, from the outside in, and sends nothing: what it
// signs to see whether that works, no chain would include. Of a role with several URLs each is
// asked on its own as well. Blocks as long as the nodes do. What stands behind a node that does not
// answer is left out. `signers`: those of Options::keys(), in their order.
[[nodiscard]] std::vector<diagnosis::Finding> diagnose(const Options& options, Nodes& nodes,
                                                       const Probes& probes,
                                                       const std::vector<Signer*>& signers,
                                                       const ports::Clock& clock);

}  // namespace chains::evm
