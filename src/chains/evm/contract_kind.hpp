#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "chains/evm/eth_call.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

// The published contracts that requests need (zama-ai/fhevm: gateway-contracts, host-contracts).
enum class ContractKind {
    decryption,
    input_verification,
    protocol_payment,
    access_list,
    protocol_config,
    kms_generation,
};

// As getVersion() has it: `Decryption`, `InputVerification`, `ACL` …
[[nodiscard]] std::string_view name_of(ContractKind kind);

// What a contract says of itself with getVersion(): a name, ` v` and a number.
struct ContractVersion {
    std::string name;
    std::string number;  // such as 0.7.0

    bool operator==(const ContractVersion&) const = default;
};
// `Decryption v0.7.0`; harmless text.
[[nodiscard]] std::string to_string(const ContractVersion& version);

// It does not say: another contract, or none.
struct Nameless {};

// NoResult: nobody answered, which says nothing of the contract.
using ContractAnswer = std::variant<ContractVersion, Nameless, NoResult>;

[[nodiscard]] jsonrpc::Call version_call(const domain::Address& contract);
[[nodiscard]] ContractAnswer read_version(const jsonrpc::Answer& answer);

}  // namespace chains::evm
