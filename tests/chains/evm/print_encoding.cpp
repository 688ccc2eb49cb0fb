// Prints what Posthouse makes of the requests and transactions that its arguments describe, one
// line of hex each; cast_test.py compares that with another implementation.

#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/calls.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace {

using namespace chains;
using jsonrpc::Json;

template <typename T>
T some(std::optional<T> value) {
    if (!value) throw std::invalid_argument("malformed value");
    return std::move(*value);
}

std::uint64_t number(const Json& value, const char* name) {
    return some(jsonrpc::quantity(value.at(name)));
}

domain::Address address(const Json& value, const char* name) {
    return some(jsonrpc::address(value.at(name)));
}

domain::Bytes bytes(const Json& value, const char* name) {
    return some(jsonrpc::bytes(value.at(name)));
}

std::vector<domain::Address> addresses(const Json& value, const char* name) {
    std::vector<domain::Address> list;
    for (const Json& one : value.at(name)) list.push_back(some(jsonrpc::address(one)));
    return list;
}

std::vector<domain::HandleContractPair> pairs(const Json& value) {
    std::vector<domain::HandleContractPair> list;
    for (const Json& one : value.at("pairs")) {
        list.push_back(
            {some(jsonrpc::bytes32(one.at("handle"))), address(one, "contract_address")});
    }
    return list;
}

domain::Request input_proof(const Json& value) {
    return domain::InputProof{number(value, "contract_chain_id"),
                              address(value, "contract_address"), address(value, "user_address"),
                              bytes(value, "ciphertext"), bytes(value, "extra_data")};
}

domain::Request public_decrypt(const Json& value) {
    domain::PublicDecrypt request;
    for (const Json& one : value.at("handles"))
        request.handles.push_back(some(jsonrpc::bytes32(one)));
    request.extra_data = bytes(value, "extra_data");
    return request;
}

template <typename Decrypt>
Decrypt v2_decrypt(const Json& value) {
    Decrypt request;
    request.pairs = pairs(value);
    request.start_timestamp = number(value, "start_timestamp");
    request.duration_days = static_cast<std::uint32_t>(number(value, "duration_days"));
    request.contracts_chain_id = number(value, "contracts_chain_id");
    request.contract_addresses = addresses(value, "contract_addresses");
    request.signature = bytes(value, "signature");
    request.public_key = bytes(value, "public_key");
    request.extra_data = bytes(value, "extra_data");
    return request;
}

domain::Request user_decrypt(const Json& value) {
    auto request = v2_decrypt<domain::UserDecrypt>(value);
    request.user_address = address(value, "user_address");
    return request;
}

domain::Request delegated_user_decrypt(const Json& value) {
    auto request = v2_decrypt<domain::DelegatedUserDecrypt>(value);
    request.delegator_address = address(value, "delegator_address");
    request.delegate_address = address(value, "delegate_address");
    return request;
}

domain::Request unified_user_decrypt(const Json& value) {
    domain::UnifiedUserDecrypt request;
    for (const Json& one : value.at("handles")) {
        request.handles.push_back({some(jsonrpc::bytes32(one.at("handle"))),
                                   address(one, "contract_address"),
                                   address(one, "owner_address")});
    }
    request.user_address = address(value, "user_address");
    request.allowed_contracts = addresses(value, "allowed_contracts");
    request.start_timestamp = number(value, "start_timestamp");
    request.duration_seconds = number(value, "duration_seconds");
    request.public_key = bytes(value, "public_key");
    request.extra_data = bytes(value, "extra_data");
    request.signature = bytes(value, "signature");
    return request;
}

domain::Bytes transaction(const Json& value) {
    const evm::Transaction made{number(value, "chain_id"),
                                number(value, "nonce"),
                                value.at("legacy").get<bool>(),
                                some(jsonrpc::wei(value.at("priority_fee"))),
                                some(jsonrpc::wei(value.at("max_fee"))),
                                number(value, "gas_limit"),
                                address(value, "to"),
                                bytes(value, "data")};
    return sign(made, *evm::private_key_signer(value.at("key").get<std::string>()));
}

domain::Request request(const std::string& kind, const Json& value) {
    if (kind == "input_proof") return input_proof(value);
    if (kind == "public_decrypt") return public_decrypt(value);
    if (kind == "user_decrypt") return user_decrypt(value);
    if (kind == "delegated_user_decrypt") return delegated_user_decrypt(value);
    if (kind == "unified_user_decrypt") return unified_user_decrypt(value);
    throw std::invalid_argument("unknown kind " + kind);
}

domain::Bytes encoding(const Json& value) {
    const auto kind = value.at("kind").get<std::string>();
    return kind == "transaction" ? transaction(value) : evm::request_call(request(kind, value));
}

}  // namespace

int main(int count, char** arguments) {
    try {
        for (int at = 1; at < count; ++at) {
            std::cout << jsonrpc::hex(encoding(Json::parse(arguments[at]))) << '\n';
        }
        return 0;
    } catch (const std::exception& problem) {
        std::cerr << problem.what() << '\n';
        return 1;
    }
}
