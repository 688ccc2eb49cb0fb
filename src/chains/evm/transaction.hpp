#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

// A transaction without value and access list: type 2 (EIP-1559), or a legacy one with replay
// protection (EIP-155) for chains without a base fee, whose gas price is `max_fee`.
struct Transaction {
    std::uint64_t chain_id = 0;
    std::uint64_t nonce = 0;
    bool legacy = false;
    jsonrpc::Wei priority_fee = 0;  // per gas; 0 when legacy
    jsonrpc::Wei max_fee = 0;       // per gas
    std::uint64_t gas_limit = 0;
    domain::Address to{};
    domain::Bytes data;

    bool operator==(const Transaction&) const = default;
};

[[nodiscard]] domain::Bytes32 signing_hash(const Transaction& transaction);

// The bytes of eth_sendRawTransaction. Their keccak256 is the transaction hash.
[[nodiscard]] domain::Bytes sign(const Transaction& transaction, const LocalSigner& signer);
[[nodiscard]] domain::Bytes with_signature(const Transaction& transaction,
                                           const Signature& signature);

// Reads what sign() made; nothing for other bytes. The signature is not checked.
[[nodiscard]] std::optional<Transaction> decode_transaction(domain::ByteView signed_bytes);

// Whether somebody else signed exactly this: every field as it was asked for, in canonical form, by
// this account. Nothing: yes. Else what is wrong, such as `the nonce is another`, without values.
[[nodiscard]] std::optional<std::string> difference(const Transaction& asked,
                                                    domain::ByteView signed_bytes,
                                                    const domain::Address& account);

// Whose signature is on it; nothing for bytes that sign() would not make.
[[nodiscard]] std::optional<domain::Address> sender_of(domain::ByteView signed_bytes);

// The stored form of a transaction that is not signed yet (engine::Plan).
[[nodiscard]] domain::Bytes encode(const Transaction& transaction);
[[nodiscard]] std::optional<Transaction> decode_unsigned(domain::ByteView bytes);

}  // namespace chains::evm
