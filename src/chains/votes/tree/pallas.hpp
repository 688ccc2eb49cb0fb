#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "domain/bytes.hpp"

namespace chains::votes::tree {

// 256 bits as four words, the lowest first.
using PallasLimbs = std::array<std::uint64_t, 4>;

// An element of the base field of the Pallas curve, the integers modulo
// 0x40000000000000000000000000000000224698fc094cf91b992d30ed00000001. What is hashed here is public
// (leaves, roots, round ids), so nothing is done in constant time: keep secrets out.
class PallasField {
public:
    constexpr PallasField() = default;  // zero
    [[nodiscard]] static PallasField from(std::uint64_t value);
    // Any 256 bits, taken modulo the field's prime.
    [[nodiscard]] static PallasField reduced(const PallasLimbs& value);
    // Little-endian; nothing when the value is not below the modulus.
    [[nodiscard]] static std::optional<PallasField> decode(const domain::Bytes32& bytes);
    [[nodiscard]] domain::Bytes32 encode() const;

    [[nodiscard]] PallasField operator+(const PallasField& other) const;
    [[nodiscard]] PallasField operator*(const PallasField& other) const;
    [[nodiscard]] PallasField fifth_power() const;
    [[nodiscard]] PallasField inverse() const;  // of zero: zero
    bool operator==(const PallasField&) const = default;

    using Triple = std::array<PallasField, 3>;
    // a0 b0 + a1 b1 + a2 b2, reduced once instead of three times.
    [[nodiscard]] static PallasField dot(const Triple& a, const Triple& b);

private:
    explicit constexpr PallasField(const PallasLimbs& montgomery) : limbs_(montgomery) {}

    PallasLimbs limbs_{};  // the value times 2^256, below the modulus
};

}  // namespace chains::votes::tree
