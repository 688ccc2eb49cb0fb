#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/request.hpp"

// Calldata of everything Posthouse asks of contracts, each beginning with its selector
// (evm-gateway 1, 7, 9; Solidity ABI specification).
namespace chains::evm {

// The transaction of a request (1.1 to 1.3). Not for vote shares (asserted).
[[nodiscard]] domain::Bytes request_call(const domain::Request& request);

// `is…DecryptionReady` (7.3), a bool. Decrypts only (asserted).
[[nodiscard]] domain::Bytes readiness_call(const domain::Request& request);

// The questions of one host chain's access list about a decryption (7.2), in the order of
// domain::acl_questions() narrowed to that chain.
[[nodiscard]] std::vector<domain::Bytes> acl_calls(const domain::Request& request,
                                                   std::uint64_t host_chain_id);
// Of each handle on that chain whether each allowed contract may use it: the contracts of the
// first handle, then those of the second …
[[nodiscard]] std::vector<domain::Bytes> allowance_calls(const domain::UnifiedUserDecrypt& request,
                                                         std::uint64_t host_chain_id);
// A number of Unix seconds: what the user signed for a start before it counts no more (v0.14).
[[nodiscard]] domain::Bytes signatures_invalidated_before(const domain::Address& user);
[[nodiscard]] domain::Bytes multicall(std::span<const domain::Bytes> calls);

// Getters without arguments, and those with one word.
enum class Getter : std::uint32_t {
    active_key_id = 0xd52f10eb,
    active_crs_id = 0xbaff211e,
    current_kms_context_and_epoch = 0x65b394af,
    key_materials = 0x936608ae,                          // (uint256)
    crs_materials = 0xc55b8724,                          // (uint256)
    kms_context_anchor = 0xc999a8b4,                     // (uint256)
    user_decryption_threshold_for_context = 0x281e8bfe,  // (uint256)
    input_verification_price = 0x2803aa32,
    public_decryption_price = 0x62c960cf,
    user_decryption_price = 0xd32408f2,
    // Of every published contract, and of those that can be paused (zama-ai/fhevm).
    version = 0x0d8e6e2c,  // getVersion()
    paused = 0x5c975abb,
    // ERC-20.
    decimals = 0x313ce567,
    total_supply = 0x18160ddd,
    symbol = 0x95d89b41,
};
[[nodiscard]] domain::Bytes getter(Getter which);
[[nodiscard]] domain::Bytes getter(Getter which, const domain::Bytes32& argument);

// ERC-20 (1.5).
[[nodiscard]] domain::Bytes balance_of(const domain::Address& owner);
[[nodiscard]] domain::Bytes allowance(const domain::Address& owner, const domain::Address& spender);
[[nodiscard]] domain::Bytes approve_call(const domain::Address& spender,
                                         const domain::Bytes32& amount);

// ERC-1271.
[[nodiscard]] domain::Bytes is_valid_signature(const domain::Bytes32& digest,
                                               domain::ByteView signature);

// --- what comes back; nothing when malformed or truncated, however hostile ---

[[nodiscard]] std::optional<bool> decode_bool(domain::ByteView result);  // byte 31 of 32 or more
[[nodiscard]] std::optional<domain::Bytes32> decode_word(domain::ByteView result, std::size_t word);
[[nodiscard]] std::optional<std::uint64_t> decode_number(domain::ByteView result,
                                                         std::size_t word);  // fits 64 bits
[[nodiscard]] std::optional<std::vector<domain::Bytes>> decode_bytes_array(
    domain::ByteView result);  // of multicall
// (string[],(uint8,bytes)[]) and (string[],bytes): whether they decode (9.1).
[[nodiscard]] bool decodes_as_key_materials(domain::ByteView result);
[[nodiscard]] bool decodes_as_crs_materials(domain::ByteView result);

}  // namespace chains::evm
