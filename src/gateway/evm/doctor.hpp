#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.hpp"
#include "gateway/evm/nodes.hpp"
#include "gateway/evm/options.hpp"
#include "gateway/evm/rpc/node.hpp"
#include "gateway/evm/signer.hpp"

namespace gateway::evm {

// One thing that was looked at, in one line: what is and, unless that is well, what to do.
struct Finding {
    enum class Verdict { ok, warning, failed };
    Verdict verdict = Verdict::ok;
    std::string subject;  // such as `gateway write node`, `signer`
    std::string text;     // without secrets and URLs
};

// Whether a node answers and is on this chain; absent: on any. For looking at each of several URLs
// of one role.
[[nodiscard]] Finding check_endpoint(const std::string& subject, rpc::Node& node,
                                     std::optional<std::uint64_t> chain_id);

// Looks at everything that requests will need, from the outside in, and sends nothing. Blocks as
// long as the nodes do. What stands behind a node that does not answer is left out.
[[nodiscard]] std::vector<Finding> diagnose(const EvmOptions& options, Nodes& nodes,
                                            const Signer& signer, const engine::Clock& clock);

}  // namespace gateway::evm
