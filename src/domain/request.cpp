#include "domain/request.hpp"

#include <tuple>

#include "domain/codec.hpp"

namespace domain {
namespace {

using codec::Is;

// The kind is stored as its number, which kind_of() takes from the position in the variant.
static_assert(static_cast<int>(Kind::input_proof) == 0);
static_assert(static_cast<int>(Kind::public_decrypt) == 1);
static_assert(static_cast<int>(Kind::user_decrypt) == 2);
static_assert(static_cast<int>(Kind::delegated_user_decrypt) == 3);
static_assert(static_cast<int>(Kind::unified_user_decrypt) == 4);
static_assert(static_cast<int>(Kind::share) == 5);
static_assert(std::is_same_v<std::variant_alternative_t<0, Request>, InputProof>);
static_assert(std::is_same_v<std::variant_alternative_t<1, Request>, PublicDecrypt>);
static_assert(std::is_same_v<std::variant_alternative_t<2, Request>, UserDecrypt>);
static_assert(std::is_same_v<std::variant_alternative_t<3, Request>, DelegatedUserDecrypt>);
static_assert(std::is_same_v<std::variant_alternative_t<4, Request>, UnifiedUserDecrypt>);

constexpr std::uint8_t first_tag = 0;

}  // namespace

// Outside the unnamed namespace: the codec finds these by argument-dependent lookup.

static auto members(Is<InputProof> auto& it) {
    return std::tie(it.contract_chain_id, it.contract_address, it.user_address, it.ciphertext,
                    it.extra_data);
}

static auto members(Is<PublicDecrypt> auto& it) {
    return std::tie(it.handles, it.extra_data);
}

static auto members(Is<HandleContractPair> auto& it) {
    return std::tie(it.handle, it.contract_address);
}

static auto members(Is<UserDecrypt> auto& it) {
    return std::tie(it.pairs, it.start_timestamp, it.duration_days, it.contracts_chain_id,
                    it.contract_addresses, it.user_address, it.signature, it.public_key,
                    it.extra_data);
}

static auto members(Is<DelegatedUserDecrypt> auto& it) {
    return std::tie(it.pairs, it.contracts_chain_id, it.contract_addresses, it.delegator_address,
                    it.delegate_address, it.start_timestamp, it.duration_days, it.signature,
                    it.public_key, it.extra_data);
}

static auto members(Is<OwnedHandle> auto& it) {
    return std::tie(it.handle, it.contract_address, it.owner_address);
}

static auto members(Is<UnifiedUserDecrypt> auto& it) {
    return std::tie(it.handles, it.user_address, it.allowed_contracts, it.start_timestamp,
                    it.duration_seconds, it.public_key, it.extra_data, it.signature);
}

static auto members(Is<VoteShare> auto& it) {
    return std::tie(it.round_id, it.shares_hash, it.proposal_id, it.vote_decision, it.tree_position,
                    it.submit_at, it.c1, it.c2, it.share_index, it.share_comms, it.primary_blind);
}

Bytes encode(const Request& request) {
    return codec::encode_variant(first_tag, request);
}

std::optional<Request> decode_request(ByteView bytes) {
    return codec::decode_variant<Request>(first_tag, bytes);
}

}  // namespace domain
