#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "domain/bytes.hpp"
#include "engine/gateway.hpp"

namespace chains::votes::prover {

inline constexpr std::size_t merkle_path_bytes = 772;
inline constexpr std::size_t proof_bytes_max = 8'192;

// What a share reveal is proved with (share-helper 5.1). The path is the leaf's position as 4
// bytes, little-endian, then 24 sibling hashes, leaf level first. Everything but the numbers and
// the round id is secret.
struct Witness {
    std::array<std::uint8_t, merkle_path_bytes> merkle_path{};
    std::array<domain::Bytes32, 16> share_comms{};
    domain::Bytes32 primary_blind{};
    domain::Bytes32 c1{};
    domain::Bytes32 c2{};
    std::uint32_t share_index = 0;
    std::uint32_t proposal_id = 0;
    std::uint32_t vote_decision = 0;
    domain::Bytes32 round_id{};
};

struct Proof {
    domain::Bytes bytes;  // 1 to proof_bytes_max
    domain::Bytes32 nullifier{};
    std::optional<domain::Bytes32> tree_root;
};

// There is no proof, and it is the share's or the prover's fault: costs one of the attempts.
struct NotProved {
    std::string text;  // one line without witness data
};

// Unreachable: no prover could be asked, or it was taken away while it worked.
using ProveOutcome = std::variant<Proof, NotProved, engine::Unreachable>;

// Port: makes the proof of a share reveal. Any thread; blocks, usually for seconds.
class Prover {
public:
    virtual ~Prover() = default;
    [[nodiscard]] virtual ProveOutcome prove(const Witness& witness) = 0;
    // So many proofs are wanted soon, those under way included. Returns at once.
    virtual void expect(std::size_t /*proofs*/) {}
    // Proofs under way end with Unreachable as soon as they can, and so does every later one.
    virtual void stop() = 0;
    // Nothing when the last proof went well, else one line without secrets.
    [[nodiscard]] virtual std::optional<std::string> problem() const = 0;
};

}  // namespace chains::votes::prover
