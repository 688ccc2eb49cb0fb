#include "domain/keccak.hpp"

#include <cctype>
#include <cstddef>
#include <cstdint>

#include <cryptopp/keccak.h>

namespace domain {

Bytes32 keccak256(ByteView bytes) {
    Bytes32 hash{};
    CryptoPP::Keccak_256 keccak;
    keccak.Update(bytes.data(), bytes.size());
    keccak.Final(hash.data());
    return hash;
}

Bytes32 keccak256(std::string_view text) {
    return keccak256(ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string checksummed(const Address& address) {
    std::string digits = to_hex(address);
    const Bytes32 hash = keccak256(std::string_view{digits});
    for (std::size_t at = 0; at < digits.size(); ++at) {
        const unsigned nibble = at % 2 == 0 ? hash[at / 2] >> 4U : hash[at / 2] & 0xfU;
        if (nibble >= 8) {
            digits[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(digits[at])));
        }
    }
    return "0x" + digits;
}

}  // namespace domain
