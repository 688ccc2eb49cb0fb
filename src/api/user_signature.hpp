#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "api/lookups.hpp"
#include "domain/bytes.hpp"
#include "domain/request.hpp"
#include "engine/contract_signatures.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"

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

// The signature pre-check of relayer-api 1.11. Any thread; nothing here waits for a host chain.
// Requests must have a handle.
class UserSignatures {
public:
    using Told = std::function<void(const engine::SignatureAnswer&)>;

    // What is referred to outlives this. `executor` is where contracts are asked (Lookups).
    UserSignatures(const domain::Address& verifying_contract, engine::ContractSignatures& contracts,
                   ports::Executor& executor, const ports::Clock& clock);

    // Points 1 to 3. Nothing: only the contract at the user's address can say.
    [[nodiscard]] std::optional<engine::SignatureAnswer> recover(
        const domain::UnifiedUserDecrypt& request) const;
    // Points 4 to 6, where `recover` can not say. Calls `told` once, on the executor or before it
    // returns. Unreachable, too, where too many wait or one has waited too long. `told` must not
    // throw.
    void ask_contract(const domain::UnifiedUserDecrypt& request, Told told);

private:
    [[nodiscard]] engine::SignatureAnswer ask(std::uint64_t host_chain_id,
                                              const domain::Address& account,
                                              const domain::Bytes32& digest,
                                              domain::ByteView signature) const;

    const domain::Address verifying_contract_;
    engine::ContractSignatures& contracts_;
    // Ends before what it works with.
    Lookups lookups_;
};

}  // namespace api
