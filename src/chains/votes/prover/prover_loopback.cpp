#include "chains/votes/prover/prover_loopback.hpp"

#include <array>
#include <string_view>

#include "chains/votes/prover/prover_protocol.hpp"

namespace chains::votes::prover {
namespace {

constexpr std::string_view nullifier_label = "posthouse loopback nullifier";
constexpr std::string_view proof_label = "posthouse loopback proof";
constexpr std::uint8_t blocks = 125;  // of 32 bytes: as long as a real proof

domain::ByteView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

domain::Bytes32 nullifier_of(const Witness& witness) {
    const std::array numbers{static_cast<std::uint8_t>(witness.share_index),
                             static_cast<std::uint8_t>(witness.proposal_id)};
    const std::array<domain::ByteView, 5> parts{bytes_of(nullifier_label), witness.round_id,
                                                witness.c1, witness.c2, numbers};
    return domain::sha256(parts);
}

domain::Bytes proof_of(const Witness& witness) {
    const Secret request = binary_request(witness);
    const std::array<domain::ByteView, 2> parts{
        bytes_of(proof_label), bytes_of(request.view().substr(binary_witness_begin))};
    const domain::Bytes32 seed = domain::sha256(parts);
    domain::Bytes proof;
    for (std::uint8_t number = 0; number < blocks; ++number) {
        const std::array<std::uint8_t, 1> counter{number};
        const std::array<domain::ByteView, 2> block{seed, counter};
        const domain::Bytes32 hash = domain::sha256(block);
        proof.insert(proof.end(), hash.begin(), hash.end());
    }
    return proof;
}

}  // namespace

ProveOutcome LoopbackProver::prove(const Witness& witness) {
    if (stopped_) return engine::Unreachable{"stopped"};
    return Proof{proof_of(witness), nullifier_of(witness), std::nullopt};
}

}  // namespace chains::votes::prover
