#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/subscription.hpp"
#include "ports/clock.hpp"

namespace chains::evm {

struct Options;

// The nodes of each role (evm-gateway 0.2). Never null.
struct Nodes {
    std::unique_ptr<jsonrpc::Node> write;
    std::unique_ptr<jsonrpc::Node> read;
    std::map<std::uint64_t, std::unique_ptr<jsonrpc::Node>> hosts;  // by chain id
    std::unique_ptr<jsonrpc::Node> protocol;
    std::vector<std::unique_ptr<jsonrpc::Node>> listeners;  // in the order of the options
};

// Over HTTP, each call with the call timeout unless it names another. A subscription's node is read
// on the same port. Throws std::invalid_argument, without the URL, when one is none.
[[nodiscard]] Nodes make_nodes(const Options& options, const ports::Clock& clock);
// One of them, over HTTP.
[[nodiscard]] std::unique_ptr<jsonrpc::Node> make_node(std::vector<std::string> urls,
                                                       const Options& options,
                                                       const ports::Clock& clock);

// A subscription to what answers requests; `url` as configured.
[[nodiscard]] jsonrpc::SubscriptionOptions subscription_options(const Options& options,
                                                                std::string url);

}  // namespace chains::evm
