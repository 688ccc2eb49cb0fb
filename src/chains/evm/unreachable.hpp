#pragma once

#include <string>

#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"

// What is said when a node does not answer or the account can not pay.
namespace chains::evm {

inline constexpr const char* no_funds_text = "the relayer's account can not pay for gas";
inline constexpr const char* no_funds_line =
    "insufficient_funds alert=true action=\"nothing is sent until the account is topped up; all "
    "requests are kept\"";
// How long nothing is sent then, before one is tried again (field report 22).
inline constexpr domain::Milliseconds no_funds_hold{5'000};

inline constexpr const char* forbidden_text = "the node does not let the relayer's account send";

// `what`: what was being done, such as `estimating gas`.
[[nodiscard]] inline engine::Unreachable unreachable(const jsonrpc::TransportError& problem,
                                                     const std::string& what) {
    engine::Unreachable unreachable = engine::unreached(what + ": " + problem.text);
    if (problem.kind == jsonrpc::TransportError::Kind::throttled) unreachable.hold = problem.wait;
    return unreachable;
}

}  // namespace chains::evm
