#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "chains/votes/prover/prover.hpp"
#include "domain/bytes.hpp"
#include "domain/result.hpp"
#include "engine/gateway.hpp"
#include "engine/vote_chain.hpp"

namespace chains::votes {

// MsgRevealShare as the chain's REST interface takes it (share-helper 5.3).
struct Reveal {
    domain::Bytes32 share_nullifier{};
    domain::Bytes32 c1{};
    domain::Bytes32 c2{};
    std::uint32_t proposal_id = 0;
    std::uint32_t vote_decision = 0;
    domain::Bytes proof;
    domain::Bytes32 round_id{};
    std::uint64_t anchor_height = 0;
};

[[nodiscard]] std::string to_json(const Reveal& reveal);

// What a share is known by on its chain.
struct RevealName {
    domain::Bytes32 round_id{};
    domain::Bytes32 nullifier{};

    bool operator==(const RevealName&) const = default;
};

// Of a message that to_json() made; nothing when it is none.
[[nodiscard]] std::optional<RevealName> name_in(domain::ByteView json);

// The chain refused the share, or its answer can not be understood: costs one of the attempts.
struct NotRevealedNow {
    std::string text;  // names status, code and log; one line without URLs
    // Code 2, but not the votes' as far as can be seen: whether it is revealed is open.
    bool may_be_revealed = false;
};

// Unreachable also when the chain does not know the round, or not as active.
using RevealOutcome = std::variant<domain::ShareRevealed, NotRevealedNow, engine::Unreachable>;

struct RoundActive {};
struct RoundNotActive {};
using RoundStatusAnswer =
    std::variant<RoundActive, RoundNotActive, engine::UnknownRound, engine::Unreachable>;

struct PathOutOfRange {};  // no leaf there at that anchor
using MerklePath = std::array<std::uint8_t, prover::merkle_path_bytes>;
using PathAnswer = std::variant<MerklePath, PathOutOfRange, engine::Unreachable>;

// Port: what revealing needs of the chain beside the reading that wallets cause. Any thread;
// blocks.
class RevealChain {
public:
    virtual ~RevealChain() = default;
    [[nodiscard]] virtual RoundStatusAnswer round_status(const domain::Bytes32& round_id) = 0;
    [[nodiscard]] virtual engine::TreeStatusAnswer tree_status(const domain::Bytes32& round_id) = 0;
    [[nodiscard]] virtual PathAnswer path(const domain::Bytes32& round_id, std::uint32_t position,
                                          std::uint64_t anchor_height) = 0;
    // `json` is what to_json() made; one try.
    [[nodiscard]] virtual RevealOutcome reveal(const std::string& json) = 0;
    // Calls under way end with Unreachable as soon as they can, and so does every later one.
    virtual void stop() = 0;
    // Nothing when the last exchange went well, else one line without secrets.
    [[nodiscard]] virtual std::optional<std::string> problem() const = 0;
};

}  // namespace chains::votes
