#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"

namespace domain {

struct ProofAccepted {
    std::vector<Bytes32> handles;
    std::vector<Bytes> signatures;

    bool operator==(const ProofAccepted&) const = default;
};

struct PublicDecrypted {
    Bytes value;
    std::vector<Bytes> signatures;
    Bytes extra_data;

    bool operator==(const PublicDecrypted&) const = default;
};

// One KMS node's piece of a user decryption.
struct KmsShare {
    std::uint32_t index = 0;
    Bytes payload;
    Bytes signature;
    Bytes extra_data;

    bool operator==(const KmsShare&) const = default;
};

struct UserDecrypted {
    std::vector<KmsShare> shares;  // ascending index, as many as the threshold

    bool operator==(const UserDecrypted&) const = default;
};

struct ShareRevealed {
    std::string tx_hash;   // as the chain spelt it; may be empty
    bool already = false;  // another helper had revealed it

    bool operator==(const ShareRevealed&) const = default;
};

// What a completed request serves.
using Result = std::variant<ProofAccepted, PublicDecrypted, UserDecrypted, ShareRevealed>;

[[nodiscard]] Bytes encode(const Result& result);
[[nodiscard]] std::optional<Result> decode_result(ByteView bytes);

[[nodiscard]] Bytes encode(const KmsShare& share);
[[nodiscard]] std::optional<KmsShare> decode_kms_share(ByteView bytes);

}  // namespace domain
