#pragma once

#include <cstdint>

#include "domain/request.hpp"

namespace support {

// Requests that differ by their number and by nothing else.

template <typename Array>
[[nodiscard]] Array numbered(std::uint64_t number) {
    Array bytes{};
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::uint8_t>(number >> (8 * (7 - i)));
    }
    return bytes;
}

// Bytes 22 to 29 name host chain 8009.
[[nodiscard]] inline domain::Bytes32 handle(std::uint64_t number) {
    auto bytes = numbered<domain::Bytes32>(number);
    bytes[28] = 0x1f;
    bytes[29] = 0x49;
    return bytes;
}

[[nodiscard]] inline domain::Request input_proof(std::uint64_t number) {
    domain::InputProof request;
    request.contract_chain_id = 8009;
    request.user_address = numbered<domain::Address>(number);
    request.ciphertext = {1, 2, 3, 4};
    request.extra_data = {0};
    return request;
}

[[nodiscard]] inline domain::Request public_decrypt(std::uint64_t number) {
    return domain::PublicDecrypt{{handle(number)}, {0}};
}

[[nodiscard]] inline domain::Request user_decrypt(std::uint64_t number) {
    domain::UserDecrypt request;
    request.pairs = {{handle(number), numbered<domain::Address>(7)}};
    request.contract_addresses = {numbered<domain::Address>(7)};
    request.contracts_chain_id = 8009;
    request.start_timestamp = 1'780'272'000;
    request.duration_days = 7;
    request.signature = domain::Bytes(65, 1);
    request.public_key = domain::Bytes(32, 2);
    request.extra_data = {0};
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

}  // namespace support
