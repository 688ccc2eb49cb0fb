#pragma once

#include <cstdint>
#include <variant>

#include "domain/bytes.hpp"
#include "engine/gateway.hpp"

namespace engine {

struct SignatureValid {};
struct SignatureInvalid {};
using SignatureAnswer = std::variant<SignatureValid, SignatureInvalid, Unreachable>;

// Port: asks the contract at a user's address whether it stands behind a signature (ERC-1271,
// relayer-api 1.11 points 4 to 6). Any thread, may block; retries by itself, so Unreachable is
// final. No code at the address is SignatureInvalid.
class ContractSignatures {
public:
    virtual ~ContractSignatures() = default;
    [[nodiscard]] virtual SignatureAnswer ask(std::uint64_t host_chain_id,
                                              const domain::Address& account,
                                              const domain::Bytes32& digest,
                                              domain::ByteView signature) = 0;
};

// For host chains without contract accounts, like the embedded one.
class NoContractSignatures final : public ContractSignatures {
public:
    [[nodiscard]] SignatureAnswer ask(std::uint64_t, const domain::Address&, const domain::Bytes32&,
                                      domain::ByteView) override {
        return SignatureInvalid{};
    }
};

}  // namespace engine
