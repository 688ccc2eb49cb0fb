#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chains/evm/contract_kind.hpp"
#include "chains/evm/doctor.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"
#include "ports/clock.hpp"

// The parts of diagnose().
namespace chains::evm::doctor {

[[nodiscard]] diagnosis::Finding ok(std::string subject, std::string text);
[[nodiscard]] diagnosis::Finding warning(std::string subject, std::string text);
[[nodiscard]] diagnosis::Finding failed(std::string subject, std::string text);

// What came instead of an answer, in words.
struct Problem {
    std::string text;
    bool refused = false;  // by the node or the contract; else there was no answer
};

[[nodiscard]] std::variant<jsonrpc::Json, Problem> ask(jsonrpc::Node& node,
                                                       const jsonrpc::Call& call);
// eth_call without a sender; no bytes where no contract is.
[[nodiscard]] std::variant<domain::Bytes, Problem> ask_contract(jsonrpc::Node& node,
                                                                const domain::Address& contract,
                                                                const domain::Bytes& data,
                                                                const char* block = "latest");
[[nodiscard]] std::variant<std::uint64_t, Problem> ask_number(jsonrpc::Node& node,
                                                              const jsonrpc::Call& call);

// Whether a node answers and is on this chain; absent: on any.
[[nodiscard]] diagnosis::Finding check_endpoint(const std::string& subject, jsonrpc::Node& node,
                                                std::optional<std::uint64_t> chain_id);
[[nodiscard]] diagnosis::Finding check_code(const std::string& subject, jsonrpc::Node& node,
                                            const domain::Address& contract);
// That, which contract it says it is, and whether it is paused.
[[nodiscard]] diagnosis::Finding check_contract(const std::string& subject, jsonrpc::Node& node,
                                                const domain::Address& contract, ContractKind kind);
[[nodiscard]] diagnosis::Finding check_sync_send(jsonrpc::Node& write);
[[nodiscard]] diagnosis::Finding check_listener(const std::string& subject, jsonrpc::Node& node,
                                                const Options& options);
[[nodiscard]] diagnosis::Finding check_clock(jsonrpc::Node& write, const ports::Clock& clock);

// Has a transaction signed that no chain includes, and sends it to nobody.
[[nodiscard]] diagnosis::Finding check_signing(Signer& signer, std::uint64_t chain_id,
                                               const ports::Clock& clock);
// What lets us in there, and what it may do; nothing when the key is in the process.
[[nodiscard]] std::optional<diagnosis::Finding> check_credential(Signer& signer);
[[nodiscard]] diagnosis::Finding check_balance(jsonrpc::Node& write, const domain::Address& signer,
                                               jsonrpc::Wei low_balance);
[[nodiscard]] diagnosis::Finding check_nonce(jsonrpc::Node& write, const domain::Address& signer);
[[nodiscard]] std::vector<diagnosis::Finding> check_fees(jsonrpc::Node& read,
                                                         const domain::Address& signer,
                                                         const Options& options);

[[nodiscard]] diagnosis::Finding check_key_material(jsonrpc::Node& protocol,
                                                    const Options& options);
[[nodiscard]] diagnosis::Finding check_threshold(jsonrpc::Node& protocol, const Options& options);

}  // namespace chains::evm::doctor
