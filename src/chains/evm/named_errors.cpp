#include "chains/evm/named_errors.hpp"

#include <array>

namespace chains::evm {
namespace {

constexpr auto errors = std::to_array<NamedError>({
    {0xd93c0665, "EnforcedPause()"},
    {0xe450d38c, "ERC20InsufficientBalance(address,uint256,uint256)"},
    {0xfb8f41b2, "ERC20InsufficientAllowance(address,uint256,uint256)"},
    {0x2a873d27, "InvalidUserSignature(bytes)"},
    {0xf645eedf, "ECDSAInvalidSignature()"},
    {0xfce698f7, "ECDSAInvalidSignatureLength(uint256)"},
    {0xd78bce0c, "ECDSAInvalidSignatureS(bytes32)"},
    {0x0666cbdf, "CiphertextMaterialNotFound(bytes32)"},
    {0xb6679c3b, "HostChainNotRegistered(uint256)"},
    {0x603668c4, "HostChainDisabled(uint256)"},
    {0x2de75438, "EmptyCtHandles()"},
    {0xa6a6cb21, "EmptyCtHandleContractPairs()"},
    {0x240e9309, "EmptyHandles()"},
    {0x57cfa217, "EmptyContractAddresses()"},
    {0xaf1f0495, "ContractAddressesMaxLengthExceeded(uint256,uint256)"},
    {0xe7f4895d, "MaxDecryptionRequestBitSizeExceeded(uint256,uint256)"},
    {0x641950d7, "InvalidFHEType(uint8)"},
    {0xbe7830b1, "UnsupportedFHEType(uint8)"},
    {0x9590e916, "CtHandleChainIdDiffersFromContractChainId(bytes32,uint256,uint256)"},
    {0xde2859c1, "InvalidNullDurationDays()"},
    {0x32951863, "MaxDurationDaysExceeded(uint256,uint256)"},
    {0x48a788dc, "InvalidNullDurationSeconds()"},
    {0xae52eb12, "MaxDurationSecondsExceeded(uint256,uint256)"},
    {0xf24c0887, "StartTimestampInFuture(uint256,uint256)"},
    {0x30348040, "UserDecryptionRequestExpired(uint256,(uint256,uint256))"},
    {0x678fcfce, "UserDecryptionRequestExpiredSeconds(uint256,(uint256,uint256))"},
    {0xdc4d78b1, "UserAddressInContractAddresses(address,address[])"},
    {0xc3446ac7, "DelegatorAddressInContractAddresses(address,address[])"},
    {0xa4c30391, "ContractNotInContractAddresses(address,address[])"},
    {0xcfae921f,
     "DifferentKeyIdsNotAllowed((bytes32,uint256,bytes32,address[]),(bytes32,uint256,bytes32,"
     "address[]))"},
    {0x93548a66, "InvalidExtraDataLength(uint256,uint256)"},
    {0x2139cc2c, "UnsupportedExtraDataVersion(uint8)"},
    {0xcb17b7a5, "InvalidNullContextId()"},
    {0x77ddbe81, "InvalidKmsContext(uint256)"},
});

}  // namespace

std::span<const NamedError> named_errors() {
    return errors;
}

}  // namespace chains::evm
