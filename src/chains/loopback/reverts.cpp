#include "chains/loopback/reverts.hpp"

#include <array>
#include <string>

#include "domain/bytes.hpp"

namespace chains::loopback {
namespace {

constexpr std::array<std::uint32_t, 8> selectors{
    0xd93c0665,  // EnforcedPause()
    0xe450d38c,  // ERC20InsufficientBalance(address,uint256,uint256)
    0xfb8f41b2,  // ERC20InsufficientAllowance(address,uint256,uint256)
    0x2a873d27,  // InvalidUserSignature(bytes)
    0xf645eedf,  // ECDSAInvalidSignature()
    0xfce698f7,  // ECDSAInvalidSignatureLength(uint256)
    0xd78bce0c,  // ECDSAInvalidSignatureS(bytes32)
    0x0666cbdf,  // CiphertextMaterialNotFound(bytes32)
};

}  // namespace

domain::Failure revert(std::string_view text, std::uint64_t number) {
    const std::uint32_t selector = selectors[number % selectors.size()];
    const std::array digits{
        static_cast<std::uint8_t>(selector >> 24U), static_cast<std::uint8_t>(selector >> 16U),
        static_cast<std::uint8_t>(selector >> 8U), static_cast<std::uint8_t>(selector)};
    return {domain::Reason::reverted,
            std::string{text} + ": Execution reverted: 0x" + domain::to_hex(digits), selector};
}

}  // namespace chains::loopback
