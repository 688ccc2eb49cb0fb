#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "domain/bytes.hpp"

// Events by topics[0], the hash of their signature (evm-gateway 2, 3.1, 9.1).
namespace chains::evm::topic {

// Reads 64 lower-case digits while compiling.
[[nodiscard]] consteval domain::Bytes32 from(std::string_view digits) {
    domain::Bytes32 hash{};
    for (std::size_t at = 0; at < 2 * hash.size(); ++at) {
        const char c = digits.at(at);
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        hash[at / 2] = static_cast<std::uint8_t>(hash[at / 2] << 4U | digit);
    }
    return hash;
}

// VerifyProofRequest(uint256,uint256,address,address,bytes,bytes)
inline constexpr domain::Bytes32 verify_proof_request =
    from("4ae54f6a6e900d806ffa5bb46ed91459523d2f6ac9b5d62404feab887686d005");

// PublicDecryptionRequest, with the ciphertexts' material and with handles only; the contracts
// emit both and are to lose the former.
inline constexpr domain::Bytes32 public_decryption_request_old =
    from("22db480a39bd72556438aadb4a32a3d2a6638b87c03bbec5fef6997e109587ff");
inline constexpr domain::Bytes32 public_decryption_request =
    from("9bb088a53f1fe13ec84fa0a1d7b578b589e193268baaccc5e23f7ab785aa3dae");

// UserDecryptionRequest likewise, direct and delegated.
inline constexpr domain::Bytes32 user_decryption_request_old =
    from("f9011bd6ba0da6049c520d70fe5971f17ed7ab795486052544b51019896c596b");
inline constexpr domain::Bytes32 user_decryption_request =
    from("c71e32c80f3109c673a9adfcded0b3b2093212ab284084a0e03a281dee2bdd5f");
// … and unified.
inline constexpr domain::Bytes32 unified_user_decryption_request_old =
    from("1f80a47b51979837976f999a7735fdccbbe570e0d40081644ec88f8ed76c9612");
inline constexpr domain::Bytes32 unified_user_decryption_request =
    from("8ed4fab8b1d050676cd7d7d9fa448d5d22113375fab8ad4dc690e54593c527bf");

// VerifyProofResponse(uint256,bytes32[],bytes[])
inline constexpr domain::Bytes32 verify_proof_response =
    from("fe2c43585786a5a658d2ec5df5dea3fb3385b77c94f60f724ff810896f419835");
// RejectProofResponse(uint256)
inline constexpr domain::Bytes32 reject_proof_response =
    from("e465e141fa8abd95ab7e0855543307f8506ab0170ef664420fb71ab7de0183de");
// PublicDecryptionResponse(uint256,bytes,bytes[],bytes)
inline constexpr domain::Bytes32 public_decryption_response =
    from("d7e58a367a0a6c298e76ad5d240004e327aa1423cbe4bd7ff85d4c715ef8d15f");
// UserDecryptionResponse(uint256,uint256,bytes,bytes,bytes)
inline constexpr domain::Bytes32 user_decryption_response =
    from("7fcdfb5381917f554a717d0a5470a33f5a49ba6445f05ec43c74c0bc2cc608b2");
// UserDecryptionResponseThresholdReached(uint256)
inline constexpr domain::Bytes32 threshold_reached =
    from("e89752be0ecdb68b2a6eb5ef1a891039e0e92ae3c8a62274c5881e48eea1ed25");

// NewKmsContext(uint256,uint256,(address,address,string,string,int32,string,bytes,string)[],
// (uint256,uint256,uint256,uint256),string,(bytes,bytes,bytes)[])
inline constexpr domain::Bytes32 new_kms_context =
    from("204d6b80121154cd87d99cf54c639a3dd0a53b3084277098de972ebdd34c6be9");

}  // namespace chains::evm::topic
