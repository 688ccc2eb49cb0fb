#pragma once

#include <array>
#include <cstddef>

#include "chains/votes/tree/pallas.hpp"

namespace chains::votes::tree {

inline constexpr std::size_t poseidon_width = 3;
inline constexpr std::size_t poseidon_full_rounds = 8;
inline constexpr std::size_t poseidon_partial_rounds = 56;
inline constexpr std::size_t poseidon_rounds = poseidon_full_rounds + poseidon_partial_rounds;

// What the permutation adds before, and multiplies by after, the S-boxes of a round.
struct PoseidonConstants {
    std::array<PallasField::Triple, poseidon_rounds> round{};
    std::array<PallasField::Triple, poseidon_width> mds{};  // rows
};

// As the Poseidon paper (eprint 2019/458, appendix E) derives them with the Grain LFSR for a prime
// field of 255 bits and the S-box x^5, with the matrix from the same stream of bits; halo2 knows
// the set as P128Pow5T3 over Fp.
[[nodiscard]] PoseidonConstants make_poseidon_constants();

}  // namespace chains::votes::tree
