#include "chains/evm/fee_contracts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "chains/evm/calls.hpp"
#include "chains/evm/contract_kind.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

using domain::Address;
using jsonrpc::Json;

namespace {

constexpr std::size_t constants_max = 256;
constexpr std::uint8_t push_1 = 0x60;
constexpr std::uint8_t push_20 = 0x73;
constexpr std::uint8_t push_32 = 0x7f;

template <typename Value>
using Looked = std::variant<Value, NoFeeContracts>;

NoFeeContracts unanswered_by(const jsonrpc::TransportError& problem) {
    return {"the node did not answer: " + text_of(problem), true};
}

// Where a proxy has the address of what it stands for (ERC-1967).
domain::Bytes32 implementation_slot() {
    domain::Bytes32 slot = domain::keccak256("eip1967.proxy.implementation");
    --slot.back();  // its last byte is 0xbd
    return slot;
}

std::optional<jsonrpc::TransportError> first_problem(const std::vector<jsonrpc::Answer>& answers) {
    for (const jsonrpc::Answer& answer : answers) {
        if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) return *problem;
    }
    return std::nullopt;
}

// What answers have in common that are no errors.
domain::Bytes answered_bytes(const jsonrpc::Answer& answer) {
    const auto* result = std::get_if<Json>(&answer);
    return (result != nullptr ? jsonrpc::bytes(*result) : std::nullopt).value_or(domain::Bytes{});
}

void append_new(std::vector<Address>& to, const std::vector<Address>& more) {
    for (const Address& address : more) {
        if (to.size() < constants_max && std::ranges::find(to, address) == to.end()) {
            to.push_back(address);
        }
    }
}

// Of a contract and of what it is a proxy for.
Looked<std::vector<Address>> constants_of(jsonrpc::Node& node, const Address& contract) {
    const std::string place = jsonrpc::hex(contract);
    const auto answers = node.call_all(
        {{"eth_getCode", {place, "latest"}},
         {"eth_getStorageAt", {place, jsonrpc::hex(implementation_slot()), "latest"}}});
    if (const auto problem = first_problem(answers)) return unanswered_by(*problem);
    std::vector<Address> all = addresses_in(answered_bytes(answers[0]));
    const domain::Bytes slot = answered_bytes(answers[1]);
    Address implementation{};
    if (slot.size() != sizeof(domain::Bytes32)) return all;
    std::copy(slot.end() - static_cast<std::ptrdiff_t>(implementation.size()), slot.end(),
              implementation.begin());
    if (implementation == Address{}) return all;
    const auto code = node.call({"eth_getCode", {jsonrpc::hex(implementation), "latest"}});
    if (const auto problem = first_problem({code})) return unanswered_by(*problem);
    append_new(all, addresses_in(answered_bytes(code)));
    return all;
}

// The first of these that passes; `ask` makes the calls of one, `is_it` judges their answers.
template <typename Ask, typename IsIt>
Looked<std::optional<Address>> first_of(jsonrpc::Node& node, const std::vector<Address>& all,
                                        const Ask& ask, const IsIt& is_it) {
    for (const Address& one : all) {
        const auto answers = node.call_all(ask(one));
        if (const auto problem = first_problem(answers)) return unanswered_by(*problem);
        if (is_it(answers)) return std::optional{one};
    }
    return std::optional<Address>{};
}

// `what`, and where it is told.
Looked<Address> find_among(jsonrpc::Node& node, const Address& contract, const auto& ask,
                           const auto& is_it, const std::string& what, const std::string& key) {
    const auto constants = constants_of(node, contract);
    if (const auto* problem = std::get_if<NoFeeContracts>(&constants)) return *problem;
    const auto first = first_of(node, std::get<std::vector<Address>>(constants), ask, is_it);
    if (const auto* problem = std::get_if<NoFeeContracts>(&first)) return *problem;
    if (const auto& found = std::get<std::optional<Address>>(first)) return *found;
    return NoFeeContracts{"the chain does not tell " + what +
                          ": no such address is in the code at " + jsonrpc::hex(contract) +
                          "; set gateway.contracts." + key};
}

Looked<Address> find_spender(jsonrpc::Node& node, const Options& options) {
    const auto ask = [](const Address& one) { return std::vector{version_call(one)}; };
    const auto is_it = [](const std::vector<jsonrpc::Answer>& answers) {
        const ContractAnswer answer = read_version(answers[0]);
        const auto* version = std::get_if<ContractVersion>(&answer);
        return version != nullptr && version->name == name_of(ContractKind::protocol_payment);
    };
    return find_among(node, options.decryption, ask, is_it, "who takes fees",
                      "protocol_payment_address");
}

Looked<Address> find_token(jsonrpc::Node& node, const Address& spender) {
    const auto ask = [&spender](const Address& one) {
        return std::vector{eth_call(one, getter(Getter::decimals), "latest"),
                           eth_call(one, getter(Getter::total_supply), "latest"),
                           eth_call(one, allowance(spender, spender), "latest")};
    };
    const auto is_it = [](const std::vector<jsonrpc::Answer>& answers) {
        return std::ranges::all_of(answers, [](const jsonrpc::Answer& answer) {
            return answered_bytes(answer).size() == sizeof(domain::Bytes32);
        });
    };
    return find_among(node, spender, ask, is_it, "which token fees are paid in",
                      "fee_token_address");
}

}  // namespace

std::vector<Address> addresses_in(domain::ByteView code) {
    std::vector<Address> all;
    for (std::size_t at = 0; at < code.size(); ++at) {
        const std::uint8_t operation = code[at];
        if (operation < push_1 || operation > push_32) continue;
        const std::size_t pushed = operation - push_1 + 1U;
        if (operation == push_20 && code.size() - at > pushed) {
            Address address{};
            std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(at) + 1, address.size(),
                        address.begin());
            append_new(all, {address});
        }
        at += pushed;
    }
    return all;
}

std::variant<FeeContracts, NoFeeContracts> find_fee_contracts(jsonrpc::Node& node,
                                                              const Options& options) {
    FeeContracts contracts;
    if (options.protocol_payment) {
        contracts.spender = *options.protocol_payment;
    } else {
        const auto spender = find_spender(node, options);
        if (const auto* problem = std::get_if<NoFeeContracts>(&spender)) return *problem;
        contracts.spender = std::get<Address>(spender);
    }
    if (options.fee_token) {
        contracts.token = *options.fee_token;
    } else {
        const auto token = find_token(node, contracts.spender);
        if (const auto* problem = std::get_if<NoFeeContracts>(&token)) return *problem;
        contracts.token = std::get<Address>(token);
    }
    return contracts;
}

}  // namespace chains::evm
