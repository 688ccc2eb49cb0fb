#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "chains/evm/debounce.hpp"
#include "domain/block.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// Gives out the nonces of one account. A nonce belongs to its request from the moment it is signed
// until a transaction with it is on chain; it is never given back. So the next one is the smallest
// that is neither used on chain nor held, and a hole can only lie below what is held, where the
// next request fills it. While its signature is fetched from elsewhere it is only reserved: one
// that never comes gives the number back, and larger ones wait until somebody has it. What a block
// has stays held until nobody looks whether it is replaced. Any thread.
class Nonces {
public:
    // What is held from before the start; `used`: in blocks that may be replaced.
    void restore(const std::vector<engine::Sealed>& in_flight,
                 const std::vector<store::UsedNonce>& used = {});

    // Whether the chain told how many transactions the account has sent. Nothing can be taken
    // before.
    [[nodiscard]] bool known() const;

    // Processor thread. Holds the nonce; undone unless kept.
    [[nodiscard]] std::uint64_t take();
    void keep();
    void undo();
    // For a transaction of our own: held from now on, whatever becomes of a step. Nothing: not
    // known yet.
    [[nodiscard]] std::optional<std::uint64_t> reserve();
    // It was never signed, or nobody will ever see the signature: the next request has it.
    void give_back(std::uint64_t nonce);

    // A transaction with it is on chain: ours, or somebody else's, so that what we signed with it
    // can never be included.
    void used(std::uint64_t nonce);
    // A block has it that may be replaced: it is held until that is buried, so that nobody else
    // gets it meanwhile.
    void included(std::uint64_t nonce, const domain::Block& block);
    // The block can not be replaced any more.
    void bury(const domain::Block& block);
    // Its transaction leaves, perhaps once more: whatever block had it is gone.
    void hold(std::uint64_t nonce);
    // Its request needs it no more: whoever comes next may have it.
    void release(std::uint64_t nonce);

    // Whether every smaller nonce that is held has left for the node, and none waits to be taken
    // again: one that arrives before them is refused or kept until they come.
    [[nodiscard]] bool may_send(std::uint64_t nonce) const;
    // From now on only the smallest may leave, until it is used (EIP-7702).
    void one_at_a_time(bool on);
    [[nodiscard]] bool one_at_a_time() const;
    // Whether a larger one is held, or a smaller one.
    [[nodiscard]] bool has_larger(std::uint64_t nonce) const;
    [[nodiscard]] bool has_smaller(std::uint64_t nonce) const;
    // It leaves now; or the node may not have it after all.
    void mark_sent(std::uint64_t nonce);
    void mark_unsent(std::uint64_t nonce);

    // The account's count at the newest block, as a node says it. Nodes behind a balancer lag: a
    // smaller one changes nothing (field report 8) unless it is all that is heard for a while. Then
    // the chain was reset or lost blocks, and numbers start there again: true is returned once. A
    // leap, too, has to be heard for a while: one wrong reply would make a gap of a million to
    // fill.
    bool observe(std::uint64_t count, domain::Monotonic now);

    // The smallest nonces from `count` on that nobody holds although a larger one is held, for the
    // caller to fill, and how many there are behind them. None as long as earlier ones are on their
    // way, but not for more than a while. Only such as are smaller than `below`.
    struct Holes {
        std::vector<std::uint64_t> nonces;
        std::uint64_t left = 0;
    };
    [[nodiscard]] Holes take_holes(std::uint64_t count, std::size_t max, domain::Monotonic now,
                                   std::optional<std::uint64_t> below = std::nullopt);
    // Whether one that was given back is still a hole.
    [[nodiscard]] bool has_returned() const;
    // Nothing was signed with it: it is a hole as before.
    void give_hole_back(std::uint64_t nonce);
    // What fills it is signed: it is held. False: it is not the caller's any more, since after a
    // while it is given out again.
    [[nodiscard]] bool hold_hole(std::uint64_t nonce);

    // The next one that take() would give.
    [[nodiscard]] std::optional<std::uint64_t> next() const;
    // How far the next one is from the first that is not used, as far as receipts and counts told;
    // `count`: one that was heard elsewhere.
    [[nodiscard]] std::optional<std::uint64_t> distance(std::optional<std::uint64_t> count) const;
    // How many are held and in no block.
    [[nodiscard]] std::size_t held() const;

private:
    void give_back_locked(std::uint64_t nonce);
    void release_locked(std::uint64_t nonce);
    [[nodiscard]] std::optional<std::uint64_t> smallest_returned_locked() const;
    [[nodiscard]] std::uint64_t smallest_free(std::uint64_t from) const;

    mutable std::mutex mutex_;
    std::optional<std::uint64_t> floor_;               // everything below is used
    std::map<std::uint64_t, std::uint32_t> held_;      // by how many requests: one, but for rewinds
    std::map<std::uint64_t, domain::Block> included_;  // of held_: in blocks that may be replaced
    std::set<std::uint64_t> fillers_;                  // holes that were given out
    domain::Monotonic fillers_since_{};
    std::set<std::uint64_t> sent_;      // of held_: left for the node
    std::vector<std::uint64_t> taken_;  // not kept yet
    std::set<std::uint64_t> returned_;  // given back while larger ones were held
    bool one_at_a_time_ = false;

    // A count that surprises.
    struct Suspicion {
        std::uint64_t count = 0;  // the least surprising that was heard
        Debounce heard{};
    };
    std::optional<Suspicion> rewind_;
    std::optional<Suspicion> leap_;
};

}  // namespace chains::evm
