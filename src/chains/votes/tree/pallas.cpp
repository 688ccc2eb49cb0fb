#include "chains/votes/tree/pallas.hpp"

namespace chains::votes::tree {

namespace {

__extension__ typedef unsigned __int128 DoubleWord;
using Limbs = PallasLimbs;
using Wide = std::array<std::uint64_t, 8>;

constexpr Limbs prime{0x992d'30ed'0000'0001, 0x2246'98fc'094c'f91b, 0, 0x4000'0000'0000'0000};
constexpr std::uint64_t negated_inverse = 0x992d'30ec'ffff'ffff;  // -1 / prime modulo 2^64
static_assert(static_cast<std::uint64_t>(prime[0] * negated_inverse) == ~std::uint64_t{0});

// The loops over words are unrolled by hint: -O2 alone leaves them, at half the speed.

// a + b c + carry; the carry becomes the upper word.
constexpr std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                     std::uint64_t& carry) {
    const DoubleWord sum = static_cast<DoubleWord>(b) * c + a + carry;
    carry = static_cast<std::uint64_t>(sum >> 64);
    return static_cast<std::uint64_t>(sum);
}

constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) {
    const DoubleWord sum = static_cast<DoubleWord>(a) + b + carry;
    carry = static_cast<std::uint64_t>(sum >> 64);
    return static_cast<std::uint64_t>(sum);
}

constexpr std::uint64_t subtract(std::uint64_t a, std::uint64_t b, std::uint64_t& borrow) {
    const DoubleWord difference = static_cast<DoubleWord>(a) - b - borrow;
    borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
    return static_cast<std::uint64_t>(difference);
}

// `value` minus the prime, unless that were negative.
constexpr Limbs reduced_once(const Limbs& value) {
    Limbs less{};
    std::uint64_t borrow = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 4; ++i) less[i] = subtract(value[i], prime[i], borrow);
    return borrow == 0 ? less : value;
}

constexpr bool is_canonical(const Limbs& value) {
    std::uint64_t borrow = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 4; ++i) (void)subtract(value[i], prime[i], borrow);
    return borrow == 1;
}

// Both below the prime, so the sum fits.
constexpr Limbs sum_of(const Limbs& a, const Limbs& b) {
    Limbs sum{};
    std::uint64_t carry = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 4; ++i) sum[i] = add(a[i], b[i], carry);
    return reduced_once(sum);
}

constexpr Wide product_of(const Limbs& a, const Limbs& b) {
    Wide product{};
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 4; ++i) {
        std::uint64_t carry = 0;
#pragma GCC unroll 8
        for (std::size_t j = 0; j < 4; ++j)
            product[i + j] = multiply_add(product[i + j], a[i], b[j], carry);
        product[i + 4] = carry;
    }
    return product;
}

constexpr void accumulate(Wide& sum, const Wide& product) {
    std::uint64_t carry = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) sum[i] = add(sum[i], product[i], carry);
}

// `value` / 2^256 modulo the prime (Montgomery). For values below three squares of the prime the
// quotient stays below twice the prime, because three primes are less than 2^256.
constexpr Limbs montgomery_reduced(Wide value) {
    std::uint64_t upper_carry = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 4; ++i) {
        const std::uint64_t factor = value[i] * negated_inverse;
        std::uint64_t carry = 0;
        (void)multiply_add(value[i], factor, prime[0], carry);
        value[i + 1] = multiply_add(value[i + 1], factor, prime[1], carry);
        value[i + 2] = add(value[i + 2], 0, carry);
        value[i + 3] = multiply_add(value[i + 3], factor, prime[3], carry);
        value[i + 4] = add(value[i + 4], carry, upper_carry);
    }
    return reduced_once({value[4], value[5], value[6], value[7]});
}

constexpr Limbs montgomery_product(const Limbs& a, const Limbs& b) {
    return montgomery_reduced(product_of(a, b));
}

// 2^512 modulo the prime: brings a value into Montgomery form.
constexpr Limbs square_of_radix() {
    Limbs value{1, 0, 0, 0};
    for (int i = 0; i < 512; ++i) value = sum_of(value, value);
    return value;
}

constexpr Limbs into_montgomery = square_of_radix();

}  // namespace

PallasField PallasField::from(std::uint64_t value) {
    return PallasField(montgomery_product({value, 0, 0, 0}, into_montgomery));
}

PallasField PallasField::reduced(const PallasLimbs& value) {
    // Four primes are more than 2^256.
    return PallasField(
        montgomery_product(reduced_once(reduced_once(reduced_once(value))), into_montgomery));
}

std::optional<PallasField> PallasField::decode(const domain::Bytes32& bytes) {
    Limbs limbs{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        limbs[i / 8] |= static_cast<std::uint64_t>(bytes[i]) << (8 * (i % 8));
    if (!is_canonical(limbs)) return std::nullopt;
    return PallasField(montgomery_product(limbs, into_montgomery));
}

domain::Bytes32 PallasField::encode() const {
    const Limbs value =
        montgomery_reduced({limbs_[0], limbs_[1], limbs_[2], limbs_[3], 0, 0, 0, 0});
    domain::Bytes32 bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(value[i / 8] >> (8 * (i % 8)));
    return bytes;
}

PallasField PallasField::operator+(const PallasField& other) const {
    return PallasField(sum_of(limbs_, other.limbs_));
}

PallasField PallasField::operator*(const PallasField& other) const {
    return PallasField(montgomery_product(limbs_, other.limbs_));
}

PallasField PallasField::fifth_power() const {
    const Limbs square = montgomery_product(limbs_, limbs_);
    return PallasField(montgomery_product(montgomery_product(square, square), limbs_));
}

PallasField PallasField::inverse() const {
    Limbs exponent = prime;
    exponent[0] -= 2;  // Fermat; the lowest word is large enough
    PallasField power = from(1);
    for (std::size_t bit = 255; bit-- > 0;) {
        power = power * power;
        if ((exponent[bit / 64] >> (bit % 64) & 1) != 0) power = power * *this;
    }
    return power;
}

PallasField PallasField::dot(const Triple& a, const Triple& b) {
    Wide sum = product_of(a[0].limbs_, b[0].limbs_);
    accumulate(sum, product_of(a[1].limbs_, b[1].limbs_));
    accumulate(sum, product_of(a[2].limbs_, b[2].limbs_));
    return PallasField(montgomery_reduced(sum));
}

}  // namespace chains::votes::tree
