#pragma once

#include <span>

#include "chains/votes/tree/pallas.hpp"

namespace chains::votes::tree {

// Poseidon as halo2 has it under the name P128Pow5T3: over the Pallas base field, width 3, rate 2,
// 8 full and 56 partial rounds. Any thread; the first call makes the constants. Not in constant
// time.
void poseidon_permute(PallasField::Triple& state);

// The hash of a number of elements that the use fixes (halo2: ConstantLength): the number is part
// of the initial state, an odd last element is padded with zero. At least one element.
[[nodiscard]] PallasField poseidon_hash(std::span<const PallasField> message);

// The hash of two elements: what joins two nodes of a tree.
[[nodiscard]] PallasField poseidon_hash(const PallasField& left, const PallasField& right);

}  // namespace chains::votes::tree
