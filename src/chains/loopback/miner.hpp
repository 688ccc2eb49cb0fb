#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "chains/loopback/answers.hpp"
#include "chains/loopback/ledger.hpp"
#include "chains/loopback/options.hpp"
#include "chains/loopback/seeded_random.hpp"
#include "engine/gateway.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::loopback {

// A reply to a send and how long the sender waits for it.
struct DelayedReply {
    domain::Milliseconds delay{0};
    engine::Sent sent;
};

// An answer that waits in the ledger, and for how long.
struct UpcomingAnswer {
    std::int64_t id = 0;
    domain::Milliseconds delay{0};
};

// What a batch of sends brought about.
struct Mined {
    std::vector<DelayedReply> replies;     // one per order, in their order
    std::vector<UpcomingAnswer> upcoming;  // not in the order of delivery yet
    bool answers_placed = false;           // some can be delivered at once
    bool answers_early = false;            // … and some of them before the replies
};

// Includes transactions: one ledger transaction, so one flush, per batch. Any thread.
class Miner {
public:
    Miner(const Options& options, SeededRandom& random, const Answers& answers, Ledger& ledger,
          const ports::Clock& clock, ports::Logger& logger);

    // Throws on an accident of the ledger; nothing of the batch was included then.
    [[nodiscard]] Mined mine(const std::vector<engine::SendOrder>& orders);

private:
    // What one batch is worked on with.
    struct Block;
    // A transaction the ledger does not hold.
    struct Candidate;

    [[nodiscard]] engine::SendOutcome send(Block& block, const engine::SendOrder& order,
                                           domain::Milliseconds confirmation);
    [[nodiscard]] engine::SendOutcome include(Block& block, const Candidate& candidate,
                                              domain::Milliseconds confirmation);
    [[nodiscard]] Effect effect_of(const Draft& draft, const domain::Bytes32& hash,
                                   bool spent) const;
    void plan_answers(Block& block, std::int64_t number, const Transaction& transaction,
                      const domain::Bytes32& hash, domain::Milliseconds confirmation);
    void plan(Block& block, PlannedAnswer answer, domain::Milliseconds delay, bool early);
    [[nodiscard]] engine::SendOutcome outcome_of(Effect effect, domain::Kind kind,
                                                 const domain::Bytes32& hash) const;

    const Options options_;
    SeededRandom& random_;
    const Answers& answers_;
    Ledger& ledger_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
};

}  // namespace chains::loopback
