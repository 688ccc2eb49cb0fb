#include "chains/votes/tree/poseidon.hpp"

#include <array>
#include <cassert>
#include <cstddef>

#include "chains/votes/tree/poseidon_constants.hpp"

namespace chains::votes::tree {

namespace {

constexpr std::size_t rate = 2;

const PoseidonConstants& constants() {
    static const PoseidonConstants made = make_poseidon_constants();
    return made;
}

// The number of elements times 2^64, in the part of the state that no element is added to.
PallasField capacity(std::size_t elements) {
    return PallasField::reduced({0, static_cast<std::uint64_t>(elements), 0, 0});
}

void mix(PallasField::Triple& state, const PoseidonConstants& with) {
    const PallasField::Triple before = state;
    for (std::size_t row = 0; row < poseidon_width; ++row)
        state[row] = PallasField::dot(with.mds[row], before);
}

bool is_full(std::size_t round) {
    return round < poseidon_full_rounds / 2 ||
           round >= poseidon_full_rounds / 2 + poseidon_partial_rounds;
}

}  // namespace

void poseidon_permute(PallasField::Triple& state) {
    const PoseidonConstants& known = constants();
    for (std::size_t round = 0; round < poseidon_rounds; ++round) {
        for (std::size_t i = 0; i < poseidon_width; ++i)
            state[i] = state[i] + known.round[round][i];
        const std::size_t boxes = is_full(round) ? poseidon_width : 1;
        for (std::size_t i = 0; i < boxes; ++i) state[i] = state[i].fifth_power();
        mix(state, known);
    }
}

PallasField poseidon_hash(std::span<const PallasField> message) {
    assert(!message.empty());
    PallasField::Triple state{PallasField{}, PallasField{}, capacity(message.size())};
    while (!message.empty()) {
        const std::size_t taken = message.size() < rate ? message.size() : rate;
        for (std::size_t i = 0; i < taken; ++i) state[i] = state[i] + message[i];
        poseidon_permute(state);
        message = message.subspan(taken);
    }
    return state[0];
}

PallasField poseidon_hash(const PallasField& left, const PallasField& right) {
    return poseidon_hash(std::array{left, right});
}

}  // namespace chains::votes::tree
