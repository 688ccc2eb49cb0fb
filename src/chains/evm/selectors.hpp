#pragma once

#include <cstdint>

// Functions by the first four bytes of the hash of their signature (evm-gateway 1.1, 1.5, 7, 9.2).
// Names are overloaded on chain, so signatures tell them apart. Getter in calls.hpp holds others.
namespace chains::evm::selector {

// verifyProofRequest(uint256,address,address,bytes,bytes)
inline constexpr std::uint32_t verify_proof_request = 0xa7004996;
// publicDecryptionRequest(bytes32[],bytes)
inline constexpr std::uint32_t public_decryption_request = 0xd8998f45;
// userDecryptionRequest((bytes32,address)[],(uint256,uint256),(uint256,address[]),address,bytes,
// bytes,bytes)
inline constexpr std::uint32_t user_decryption_request = 0xf1b57adb;
// delegatedUserDecryptionRequest((bytes32,address)[],(uint256,uint256),(address,address),
// (uint256,address[]),bytes,bytes,bytes)
inline constexpr std::uint32_t delegated_user_decryption_request = 0x9fad5a2f;
// userDecryptionRequest((bytes32,address,address)[],address,bytes,address[],(uint256,uint256),
// bytes,bytes)
inline constexpr std::uint32_t unified_user_decryption_request = 0xb4de2c37;

// isPublicDecryptionReady(bytes32[],bytes)
inline constexpr std::uint32_t is_public_decryption_ready = 0x4014c4cd;
// isUserDecryptionReady((bytes32,address)[],bytes)
inline constexpr std::uint32_t is_user_decryption_ready = 0xe22d1b26;

// multicall(bytes[])
inline constexpr std::uint32_t multicall = 0xac9650d8;
// isAllowedForDecryption(bytes32)
inline constexpr std::uint32_t is_allowed_for_decryption = 0xc0d02943;
// isAllowed(bytes32,address)
inline constexpr std::uint32_t is_allowed = 0x82027b6d;
// isHandleDelegatedForUserDecryption(address,address,address,bytes32)
inline constexpr std::uint32_t is_handle_delegated = 0xd09c0dee;

// decryptionSignatureInvalidatedBefore(address)
inline constexpr std::uint32_t signatures_invalidated_before = 0x0dff1525;

// balanceOf(address)
inline constexpr std::uint32_t balance_of = 0x70a08231;
// allowance(address,address)
inline constexpr std::uint32_t allowance = 0xdd62ed3e;
// approve(address,uint256)
inline constexpr std::uint32_t approve = 0x095ea7b3;
// isValidSignature(bytes32,bytes)
inline constexpr std::uint32_t is_valid_signature = 0x1626ba7e;

}  // namespace chains::evm::selector
