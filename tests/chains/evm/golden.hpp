#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "domain/request.hpp"

// The inputs of evm-gateway's appendix A.
namespace golden {

// Digits with or without spaces between them.
[[nodiscard]] inline domain::Bytes hex(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c != ' ') digits += c;
    }
    const auto bytes = domain::from_hex(digits);
    if (!bytes) throw std::invalid_argument("no hex: " + digits);
    return *bytes;
}

template <typename Array>
[[nodiscard]] Array array(std::string_view digits) {
    Array out{};
    if (!domain::from_hex(digits, out)) throw std::invalid_argument("no hex");
    return out;
}

[[nodiscard]] inline domain::Address filled(std::uint8_t with) {
    domain::Address address;
    address.fill(with);
    return address;
}

inline const auto handle =
    array<domain::Bytes32>("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa000000000000001f490500");
inline const domain::Address contract = filled(0x11);
inline const domain::Address user = filled(0x22);
inline const domain::Address delegate = filled(0x33);
inline const domain::Bytes public_key{0x04, 0xaa, 0xbb};
inline const domain::Bytes signature(65, 0x01);
inline const domain::Bytes extra_data{0x00};
inline constexpr std::uint64_t chain = 8009;
inline constexpr std::uint64_t start = 1'700'000'000;

[[nodiscard]] inline domain::InputProof input_proof() {
    return {chain, contract, user, {0xab, 0xcd, 0xef}, extra_data};
}

[[nodiscard]] inline domain::PublicDecrypt public_decrypt() {
    return {{handle}, extra_data};
}

[[nodiscard]] inline domain::UserDecrypt user_decrypt() {
    domain::UserDecrypt request;
    request.pairs = {{handle, contract}};
    request.start_timestamp = start;
    request.duration_days = 7;
    request.contracts_chain_id = chain;
    request.contract_addresses = {contract};
    request.user_address = user;
    request.signature = signature;
    request.public_key = public_key;
    request.extra_data = extra_data;
    return request;
}

[[nodiscard]] inline domain::DelegatedUserDecrypt delegated_user_decrypt() {
    domain::DelegatedUserDecrypt request;
    request.pairs = {{handle, contract}};
    request.contracts_chain_id = chain;
    request.contract_addresses = {contract};
    request.delegator_address = user;
    request.delegate_address = delegate;
    request.start_timestamp = start;
    request.duration_days = 7;
    request.signature = signature;
    request.public_key = public_key;
    request.extra_data = extra_data;
    return request;
}

[[nodiscard]] inline domain::UnifiedUserDecrypt unified_user_decrypt() {
    domain::UnifiedUserDecrypt request;
    request.handles = {{handle, contract, user}};
    request.user_address = user;
    request.allowed_contracts = {contract};
    request.start_timestamp = start;
    request.duration_seconds = 604'800;
    request.public_key = public_key;
    request.extra_data = extra_data;
    request.signature = signature;
    return request;
}

}  // namespace golden
