#include "chains/votes/tree/poseidon_constants.hpp"

#include <bitset>
#include <cassert>
#include <cstdint>
#include <optional>

namespace chains::votes::tree {

namespace {

constexpr std::size_t field_bits = 255;

// The self-shrinking Grain LFSR of 80 bits.
class Grain {
public:
    Grain() {
        constexpr std::uint64_t prime_field = 1;
        constexpr std::uint64_t power_sbox = 0;
        append(prime_field, 2);
        append(power_sbox, 4);
        append(field_bits, 12);
        append(poseidon_width, 12);
        append(poseidon_full_rounds, 10);
        append(poseidon_partial_rounds, 10);
        append((1U << 30) - 1, 30);
        constexpr int warm_up = 160;
        for (int i = 0; i < warm_up; ++i) (void)shift();
    }

    // The next 255 bits, the highest first; may be at or above the prime.
    PallasLimbs element_bits() {
        PallasLimbs limbs{};
        for (std::size_t bit = field_bits; bit-- > 0;)
            limbs[bit / 64] |= static_cast<std::uint64_t>(next()) << (bit % 64);
        return limbs;
    }

private:
    void append(std::uint64_t value, std::size_t bits) {
        while (bits-- > 0) state_[filled_++] = (value >> bits & 1) != 0;
    }

    bool shift() {
        const bool bit = state_[62] ^ state_[51] ^ state_[38] ^ state_[23] ^ state_[13] ^ state_[0];
        state_ >>= 1;
        state_[79] = bit;
        return bit;
    }

    // Of each pair of bits the first says whether the second counts.
    bool next() {
        while (!shift()) (void)shift();
        return shift();
    }

    std::bitset<80> state_;
    std::size_t filled_ = 0;
};

domain::Bytes32 little_endian(const PallasLimbs& limbs) {
    domain::Bytes32 bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(limbs[i / 8] >> (8 * (i % 8)));
    return bytes;
}

// Round constants are uniform: what does not fit the field is drawn again.
PallasField next_uniform(Grain& grain) {
    while (true) {
        const std::optional<PallasField> element =
            PallasField::decode(little_endian(grain.element_bits()));
        if (element) return *element;
    }
}

}  // namespace

PoseidonConstants make_poseidon_constants() {
    PoseidonConstants constants;
    Grain grain;
    for (PallasField::Triple& round : constants.round)
        for (PallasField& constant : round) constant = next_uniform(grain);

    // A Cauchy matrix: 1 / (x_i + y_j).
    PallasField::Triple x;
    PallasField::Triple y;
    for (PallasField& element : x) element = PallasField::reduced(grain.element_bits());
    for (PallasField& element : y) element = PallasField::reduced(grain.element_bits());
    for (std::size_t i = 0; i < poseidon_width; ++i)
        for (std::size_t j = 0; j < poseidon_width; ++j) {
            assert(x[i] + y[j] != PallasField{});
            constants.mds[i][j] = (x[i] + y[j]).inverse();
        }
    return constants;
}

}  // namespace chains::votes::tree
