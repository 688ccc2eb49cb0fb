#pragma once

#include <cstdint>

#include "domain/request.hpp"
#include "domain/request_id.hpp"

namespace requests {

inline constexpr std::uint64_t host_chain = 8009;

// Different numbers give different ids.
inline domain::RequestId id(std::int64_t number) {
    return {number, number * 7919};
}

inline domain::Address address(std::uint8_t fill) {
    domain::Address bytes;
    bytes.fill(fill);
    return bytes;
}

inline domain::Bytes32 handle(std::uint64_t number, std::uint64_t chain = host_chain) {
    domain::Bytes32 bytes{};
    for (std::size_t at = 0; at < 8; ++at) {
        bytes[at] = static_cast<std::uint8_t>(number >> (8 * at));
        bytes[22 + at] = static_cast<std::uint8_t>(chain >> (8 * (7 - at)));
    }
    bytes[30] = 5;
    return bytes;
}

inline domain::InputProof input_proof(std::uint64_t number) {
    domain::InputProof request;
    request.contract_chain_id = host_chain;
    request.contract_address = address(0xaa);
    request.user_address = address(0xbb);
    request.ciphertext.assign(19'000, 0xc1);
    for (std::size_t at = 0; at < 8; ++at) {
        request.ciphertext[at] = static_cast<std::uint8_t>(number >> (8 * at));
    }
    request.extra_data = {0};
    return request;
}

inline domain::PublicDecrypt public_decrypt(std::uint64_t number) {
    return {{handle(number), handle(number + 1'000'000)}, {0x01, 0x02, 0x03}};
}

inline domain::UserDecrypt user_decrypt(std::uint64_t number) {
    domain::UserDecrypt request;
    request.pairs = {{handle(number), address(0xaa)}};
    request.contracts_chain_id = host_chain;
    request.contract_addresses = {address(0xaa)};
    request.user_address = address(0xbb);
    request.signature.assign(65, 0x11);
    request.public_key.assign(869, 0x22);
    request.extra_data = {0x00};
    return request;
}

inline domain::DelegatedUserDecrypt delegated_user_decrypt(std::uint64_t number) {
    domain::DelegatedUserDecrypt request;
    request.pairs = {{handle(number), address(0xaa)}};
    request.contracts_chain_id = host_chain;
    request.contract_addresses = {address(0xaa)};
    request.delegator_address = address(0xcc);
    request.delegate_address = address(0xdd);
    request.extra_data = {0x00};
    return request;
}

inline domain::UnifiedUserDecrypt unified_user_decrypt(std::uint64_t number) {
    domain::UnifiedUserDecrypt request;
    request.handles = {{handle(number), address(0xaa), address(0xee)}};
    request.user_address = address(0xbb);
    request.extra_data = {0x00};
    return request;
}

inline domain::VoteShare vote_share(std::uint32_t number) {
    domain::VoteShare share;
    share.round_id.fill(0x52);
    share.proposal_id = 3;
    share.tree_position = number;
    share.share_index = number % 16;
    share.primary_blind.fill(0x77);
    return share;
}

// The n-th request, all kinds in turn.
inline domain::Request any(std::uint32_t number) {
    switch (number % 6) {
        case 0:
            return input_proof(number);
        case 1:
            return public_decrypt(number);
        case 2:
            return user_decrypt(number);
        case 3:
            return delegated_user_decrypt(number);
        case 4:
            return unified_user_decrypt(number);
        default:
            return vote_share(number);
    }
}

}  // namespace requests
