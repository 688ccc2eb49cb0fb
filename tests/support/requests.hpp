#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "domain/request.hpp"
#include "domain/request_id.hpp"

namespace support {

// Valid requests that differ by their number and by nothing else.

inline constexpr std::uint64_t host_chain = 8009;

// Those that go to the relayer's chain.
inline constexpr std::array relayer_kinds{
    domain::Kind::input_proof, domain::Kind::public_decrypt, domain::Kind::user_decrypt,
    domain::Kind::delegated_user_decrypt, domain::Kind::unified_user_decrypt};

// Different numbers give different ids.
[[nodiscard]] inline domain::RequestId request_id(std::int64_t number) {
    return {number, number * 1'000'003 + 17};
}

template <typename Array>
[[nodiscard]] Array numbered(std::uint64_t number) {
    Array bytes{};
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(number >> (8 * (7 - i)));
    }
    return bytes;
}

[[nodiscard]] inline domain::Address address(std::uint8_t fill) {
    domain::Address bytes;
    bytes.fill(fill);
    return bytes;
}

// Bytes 22 to 29 name its host chain, byte 30 its type.
[[nodiscard]] inline domain::Bytes32 handle(std::uint64_t number,
                                            std::uint64_t chain = host_chain) {
    auto bytes = numbered<domain::Bytes32>(number);
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[22 + i] = static_cast<std::uint8_t>(chain >> (8 * (7 - i)));
    }
    bytes[30] = 5;
    return bytes;
}

[[nodiscard]] inline domain::InputProof input_proof(std::uint64_t number) {
    const auto ciphertext = numbered<std::array<std::uint8_t, 8>>(number);
    domain::InputProof request;
    request.contract_chain_id = host_chain;
    request.contract_address = address(0xaa);
    request.user_address = address(0xbb);
    request.ciphertext.assign(ciphertext.begin(), ciphertext.end());
    request.extra_data = {0};
    return request;
}

[[nodiscard]] inline domain::PublicDecrypt public_decrypt(std::uint64_t number) {
    return {{handle(number)}, {0}};
}

[[nodiscard]] inline domain::UserDecrypt user_decrypt(std::uint64_t number) {
    domain::UserDecrypt request;
    request.pairs = {{handle(number), address(0xaa)}};
    request.start_timestamp = 1'780'272'000;
    request.duration_days = 7;
    request.contracts_chain_id = host_chain;
    request.contract_addresses = {address(0xaa)};
    request.user_address = address(0xbb);
    request.signature = domain::Bytes(65, 1);
    request.public_key = domain::Bytes(32, 2);
    request.extra_data = {0};
    return request;
}

[[nodiscard]] inline domain::DelegatedUserDecrypt delegated_user_decrypt(std::uint64_t number) {
    const domain::UserDecrypt plain = user_decrypt(number);
    return {plain.pairs,      plain.contracts_chain_id, plain.contract_addresses, address(0xcc),
            address(0xdd),    plain.start_timestamp,    plain.duration_days,      plain.signature,
            plain.public_key, plain.extra_data};
}

// Of a handle that belongs to somebody else than the user.
[[nodiscard]] inline domain::UnifiedUserDecrypt unified_user_decrypt(std::uint64_t number) {
    domain::UnifiedUserDecrypt request;
    request.handles = {{handle(number), address(0xaa), address(0xee)}};
    request.user_address = address(0xbb);
    request.start_timestamp = 1'780'272'000;
    request.duration_seconds = 600;
    request.public_key = domain::Bytes(32, 2);
    request.extra_data = {0};
    request.signature = domain::Bytes(65, 1);
    return request;
}

[[nodiscard]] inline domain::VoteShare vote_share(std::uint64_t number,
                                                  std::uint64_t submit_at = 0) {
    domain::VoteShare share;
    share.round_id = numbered<domain::Bytes32>(1);
    share.proposal_id = 3;
    share.vote_decision = 1;
    share.tree_position = static_cast<std::uint32_t>(number);
    share.share_index = static_cast<std::uint32_t>(number % 16);
    share.submit_at = submit_at;
    share.primary_blind = numbered<domain::Bytes32>(number);
    return share;
}

[[nodiscard]] inline domain::Request request_of(domain::Kind kind, std::uint64_t number) {
    switch (kind) {
        case domain::Kind::input_proof:
            return input_proof(number);
        case domain::Kind::public_decrypt:
            return public_decrypt(number);
        case domain::Kind::user_decrypt:
            return user_decrypt(number);
        case domain::Kind::delegated_user_decrypt:
            return delegated_user_decrypt(number);
        case domain::Kind::unified_user_decrypt:
            return unified_user_decrypt(number);
        case domain::Kind::share:
            break;
    }
    return vote_share(number);
}

// The kinds in turn.
[[nodiscard]] inline domain::Request any_request(std::uint64_t number) {
    return request_of(domain::kinds[number % domain::kinds.size()], number);
}

}  // namespace support
