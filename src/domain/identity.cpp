#include "domain/identity.hpp"

#include <cassert>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

namespace domain {
namespace {

template <std::unsigned_integral T>
std::array<std::uint8_t, sizeof(T)> big_endian(T value) {
    std::array<std::uint8_t, sizeof(T)> bytes{};
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes[i] = static_cast<std::uint8_t>(value >> (8 * (sizeof(T) - 1 - i)));
    }
    return bytes;
}

// What is hashed, as views into the request: a proof is never copied.
class Parts {
public:
    Parts& label(std::string_view text) {
        return bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }

    Parts& bytes(ByteView view) {
        views_.push_back(view);
        return *this;
    }

    template <std::size_t size>
    Parts& each(std::span<const std::array<std::uint8_t, size>> list) {
        for (const auto& element : list) bytes(element);
        return *this;
    }

    Parts& each(const std::vector<Bytes32>& list) { return each(std::span{list}); }
    Parts& each(const std::vector<Address>& list) { return each(std::span{list}); }

    Parts& each(const std::vector<HandleContractPair>& list) {
        for (const auto& pair : list) bytes(pair.handle).bytes(pair.contract_address);
        return *this;
    }

    Parts& each(const std::vector<OwnedHandle>& list) {
        for (const auto& owned : list) {
            bytes(owned.handle).bytes(owned.contract_address).bytes(owned.owner_address);
        }
        return *this;
    }

    [[nodiscard]] bool empty() const { return views_.empty(); }
    [[nodiscard]] Bytes32 hash() const { return sha256(views_); }

private:
    std::vector<ByteView> views_;
};

Identity same_content(const Parts& parts) {
    assert(!parts.empty());
    const Bytes32 hash = parts.hash();
    return {.key = hash, .content = hash};
}

// Labels and their order are those of relayer-api 2.2.

Identity identity_of(const InputProof& it) {
    const auto chain = big_endian(it.contract_chain_id);
    return same_content(Parts{}
                            .label("contract_chain_id:")
                            .bytes(chain)
                            .label("contract_address:")
                            .bytes(it.contract_address)
                            .label("user_address:")
                            .bytes(it.user_address)
                            .label("ciphertext_with_zk_proof:")
                            .bytes(it.ciphertext)
                            .label("extra_data:")
                            .bytes(it.extra_data));
}

Identity identity_of(const PublicDecrypt& it) {
    return same_content(
        Parts{}.label("ct_handles:").each(it.handles).label("extra_data:").bytes(it.extra_data));
}

Identity identity_of(const UserDecrypt& it) {
    const auto chain = big_endian(it.contracts_chain_id);
    return same_content(Parts{}
                            .label("contract_addresses:")
                            .each(it.contract_addresses)
                            .label("contracts_chain_id:")
                            .bytes(chain)
                            .label("ct_handle_contract_pairs:")
                            .each(it.pairs)
                            .label("extra_data:")
                            .bytes(it.extra_data)
                            .label("public_key:")
                            .bytes(it.public_key)
                            .label("user_address:")
                            .bytes(it.user_address));
}

Identity identity_of(const DelegatedUserDecrypt& it) {
    const auto chain = big_endian(it.contracts_chain_id);
    return same_content(Parts{}
                            .label("contract_addresses:")
                            .each(it.contract_addresses)
                            .label("contracts_chain_id:")
                            .bytes(chain)
                            .label("ct_handle_contract_pairs:")
                            .each(it.pairs)
                            .label("extra_data:")
                            .bytes(it.extra_data)
                            .label("public_key:")
                            .bytes(it.public_key)
                            .label("delegator_address:")
                            .bytes(it.delegator_address)
                            .label("delegate_address:")
                            .bytes(it.delegate_address));
}

Identity identity_of(const UnifiedUserDecrypt& it) {
    return same_content(Parts{}
                            .label("variant:eip712_unified_v1:")
                            .label("allowed_contracts:")
                            .each(it.allowed_contracts)
                            .label("handles:")
                            .each(it.handles)
                            .label("extra_data:")
                            .bytes(it.extra_data)
                            .label("public_key:")
                            .bytes(it.public_key)
                            .label("user_address:")
                            .bytes(it.user_address));
}

// Every member has a fixed width, so no separators are needed behind the label.
Identity identity_of(const VoteShare& it) {
    const auto proposal = big_endian(it.proposal_id);
    const auto decision = big_endian(it.vote_decision);
    const auto index = big_endian(it.share_index);
    const auto position = big_endian(it.tree_position);
    Bytes32 key = Parts{}
                      .label("posthouse:share_key:v1:")
                      .bytes(it.round_id)
                      .bytes(index)
                      .bytes(proposal)
                      .bytes(position)
                      .hash();
    // Keys of one moment lie together, as positions rise with time: an index on the front of the
    // key grows at its end instead of everywhere. The hash behind keeps keys apart.
    std::copy(it.round_id.begin(), it.round_id.begin() + 2, key.begin());
    std::copy(position.begin(), position.end(), key.begin() + 2);
    const Bytes32 content = Parts{}
                                .label("posthouse:share_content:v1:")
                                .bytes(it.round_id)
                                .bytes(it.shares_hash)
                                .bytes(proposal)
                                .bytes(decision)
                                .bytes(it.c1)
                                .bytes(it.c2)
                                .bytes(index)
                                .bytes(position)
                                .each(std::span<const Bytes32>{it.share_comms})
                                .bytes(it.primary_blind)
                                .hash();
    return {.key = key, .content = content};
}

}  // namespace

Identity identify(const Request& request) {
    return std::visit([](const auto& it) { return identity_of(it); }, request);
}

}  // namespace domain
