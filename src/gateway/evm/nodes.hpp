#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "gateway/evm/rpc/node.hpp"

namespace gateway::evm {

// The nodes of each role (evm-gateway 0.2). Never null.
struct Nodes {
    std::unique_ptr<rpc::Node> write;
    std::unique_ptr<rpc::Node> read;
    std::map<std::uint64_t, std::unique_ptr<rpc::Node>> hosts;  // by chain id
    std::unique_ptr<rpc::Node> protocol;
    std::vector<std::unique_ptr<rpc::Node>> listeners;  // in the order of the options
};

}  // namespace gateway::evm
