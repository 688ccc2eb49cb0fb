#pragma once

#include <cstdint>
#include <optional>

#include "domain/bytes.hpp"
#include "domain/request.hpp"
#include "engine/contract_signatures.hpp"

namespace api {

// What a user signs for a unified user decryption (relayer-api 1.11 point 2, EIP-712): the struct
// UserDecryptRequestVerification under the domain ("Decryption", "1", chain, contract).
[[nodiscard]] domain::Bytes32 user_decrypt_digest(const domain::UnifiedUserDecrypt& request,
                                                  std::uint64_t host_chain_id,
                                                  const domain::Address& verifying_contract);

// Who made the 65-byte signature r ‖ s ‖ v with v in {0, 1, 27, 28}, as ecrecover sees it: high s
// is accepted. Nothing for other lengths, other v, or numbers off the curve.
[[nodiscard]] std::optional<domain::Address> recover_signer(const domain::Bytes32& digest,
                                                            domain::ByteView signature);

// The signature pre-check of relayer-api 1.11, all points. Asks the port only when recovery does
// not give the user. The request must have a handle.
[[nodiscard]] engine::SignatureAnswer check_user_signature(
    const domain::UnifiedUserDecrypt& request, const domain::Address& verifying_contract,
    engine::ContractSignatures& contracts);

}  // namespace api
