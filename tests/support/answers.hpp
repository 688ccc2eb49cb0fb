#pragma once

#include <cstdint>

#include "domain/kind.hpp"
#include "domain/result.hpp"
#include "support/requests.hpp"
#include "support/scripted_gateway.hpp"

namespace support {

// What a chain answers.

[[nodiscard]] inline domain::ProofAccepted proof_accepted() {
    return {{handle(1)}, {domain::Bytes(65, 7)}};
}

[[nodiscard]] inline domain::PublicDecrypted public_decrypted() {
    return {{1, 2, 3}, {domain::Bytes(65, 7)}, {0}};
}

[[nodiscard]] inline domain::KmsShare kms_share(std::uint32_t index) {
    return {index, {static_cast<std::uint8_t>(index), 9}, domain::Bytes(65, 3), {0}};
}

// Gives the answers that complete a request with a receipt.
inline void answer_well(ScriptedGateway& gateway, const domain::RequestId& id, domain::Kind kind) {
    if (kind == domain::Kind::input_proof) {
        gateway.answer(id, proof_accepted());
    } else if (kind == domain::Kind::public_decrypt) {
        gateway.answer(id, public_decrypted());
    } else if (kind != domain::Kind::share) {
        for (std::uint32_t index = 1; index <= 9; ++index) gateway.answer(id, kms_share(index));
    }
}

}  // namespace support
