#pragma once

#include "domain/request.hpp"
#include "support/chance.hpp"

namespace support {

// A request of the given kind with random members and short random lists, empty ones included.
inline domain::Request random_request(domain::Kind kind, Chance& chance) {
    using namespace domain;
    const auto word = [&] { return chance.array<32>(); };
    const auto address = [&] { return chance.array<20>(); };
    switch (kind) {
        case Kind::input_proof:
            return InputProof{.contract_chain_id = chance.u64(),
                              .contract_address = address(),
                              .user_address = address(),
                              .ciphertext = chance.bytes(60),
                              .extra_data = chance.bytes(4)};
        case Kind::public_decrypt:
            return PublicDecrypt{.handles = chance.list(3, word), .extra_data = chance.bytes(65)};
        case Kind::user_decrypt:
            return UserDecrypt{
                .pairs = chance.list(3,
                                     [&] {
                                         return HandleContractPair{word(), address()};
                                     }),
                .start_timestamp = chance.u64(),
                .duration_days = chance.u32(),
                .contracts_chain_id = chance.u64(),
                .contract_addresses = chance.list(3, address),
                .user_address = address(),
                .signature = chance.bytes(65),
                .public_key = chance.bytes(40),
                .extra_data = chance.bytes(33)};
        case Kind::delegated_user_decrypt:
            return DelegatedUserDecrypt{
                .pairs = chance.list(3,
                                     [&] {
                                         return HandleContractPair{word(), address()};
                                     }),
                .contracts_chain_id = chance.u64(),
                .contract_addresses = chance.list(3, address),
                .delegator_address = address(),
                .delegate_address = address(),
                .start_timestamp = chance.u64(),
                .duration_days = chance.u32(),
                .signature = chance.bytes(65),
                .public_key = chance.bytes(40),
                .extra_data = chance.bytes(33)};
        case Kind::unified_user_decrypt:
            return UnifiedUserDecrypt{
                .handles = chance.list(3,
                                       [&] {
                                           return OwnedHandle{word(), address(), address()};
                                       }),
                .user_address = address(),
                .allowed_contracts = chance.list(3, address),
                .start_timestamp = chance.u64(),
                .duration_seconds = chance.u64(),
                .public_key = chance.bytes(40),
                .extra_data = chance.bytes(33),
                .signature = chance.bytes(65)};
        case Kind::share:
            break;
    }
    VoteShare share{.round_id = word(),
                    .shares_hash = word(),
                    .proposal_id = chance.u32(),
                    .vote_decision = chance.u32(),
                    .tree_position = chance.u32(),
                    .submit_at = chance.u64(),
                    .c1 = word(),
                    .c2 = word(),
                    .share_index = chance.u32(),
                    .share_comms = {},
                    .primary_blind = word()};
    for (Bytes32& comm : share.share_comms) comm = word();
    return share;
}

}  // namespace support
