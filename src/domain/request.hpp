#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/kind.hpp"

namespace domain {

struct InputProof {
    std::uint64_t contract_chain_id = 0;
    Address contract_address{};
    Address user_address{};
    Bytes ciphertext;
    Bytes extra_data;

    bool operator==(const InputProof&) const = default;
};

struct PublicDecrypt {
    std::vector<Bytes32> handles;
    Bytes extra_data;

    bool operator==(const PublicDecrypt&) const = default;
};

struct HandleContractPair {
    Bytes32 handle{};
    Address contract_address{};

    bool operator==(const HandleContractPair&) const = default;
};

struct UserDecrypt {
    std::vector<HandleContractPair> pairs;
    std::uint64_t start_timestamp = 0;  // Unix seconds
    std::uint32_t duration_days = 0;
    std::uint64_t contracts_chain_id = 0;
    std::vector<Address> contract_addresses;
    Address user_address{};
    Bytes signature;
    Bytes public_key;
    Bytes extra_data;

    bool operator==(const UserDecrypt&) const = default;
};

struct DelegatedUserDecrypt {
    std::vector<HandleContractPair> pairs;
    std::uint64_t contracts_chain_id = 0;
    std::vector<Address> contract_addresses;
    Address delegator_address{};
    Address delegate_address{};
    std::uint64_t start_timestamp = 0;  // Unix seconds
    std::uint32_t duration_days = 0;
    Bytes signature;
    Bytes public_key;
    Bytes extra_data;

    bool operator==(const DelegatedUserDecrypt&) const = default;
};

struct OwnedHandle {
    Bytes32 handle{};
    Address contract_address{};
    Address owner_address{};

    bool operator==(const OwnedHandle&) const = default;
};

struct UnifiedUserDecrypt {
    std::vector<OwnedHandle> handles;
    Address user_address{};
    std::vector<Address> allowed_contracts;  // empty: any contract
    std::uint64_t start_timestamp = 0;       // Unix seconds
    std::uint64_t duration_seconds = 0;
    Bytes public_key;
    Bytes extra_data;
    Bytes signature;

    bool operator==(const UnifiedUserDecrypt&) const = default;
};

struct VoteShare {
    Bytes32 round_id{};
    Bytes32 shares_hash{};
    std::uint32_t proposal_id = 0;
    std::uint32_t vote_decision = 0;
    std::uint32_t tree_position = 0;
    std::uint64_t submit_at = 0;  // Unix seconds as sent; 0: at once
    // Witness data from here on: secret, wiped with the terminal commit.
    Bytes32 c1{};
    Bytes32 c2{};
    std::uint32_t share_index = 0;
    std::array<Bytes32, 16> share_comms{};
    Bytes32 primary_blind{};

    bool operator==(const VoteShare&) const = default;
};

using Request = std::variant<InputProof, PublicDecrypt, UserDecrypt, DelegatedUserDecrypt,
                             UnifiedUserDecrypt, VoteShare>;

[[nodiscard]] constexpr Kind kind_of(const Request& request) {
    return static_cast<Kind>(request.index());
}

static_assert(std::is_same_v<std::variant_alternative_t<5, Request>, VoteShare>);

// The stored form: a version byte, the kind, then the members in order of declaration.
[[nodiscard]] Bytes encode(const Request& request);

// Nothing unless the bytes are exactly what encode() of some request makes.
[[nodiscard]] std::optional<Request> decode_request(ByteView bytes);

}  // namespace domain
