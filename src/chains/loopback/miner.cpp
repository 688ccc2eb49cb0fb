#include "chains/loopback/miner.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <map>
#include <string>

#include "chains/loopback/reverts.hpp"

namespace chains::loopback {
namespace {

// As a chain of the Cosmos family spells it.
std::string tx_hash_text(const domain::Bytes32& hash) {
    std::string text = domain::to_hex(hash);
    std::ranges::transform(text, text.begin(), [](unsigned char digit) {
        return static_cast<char>(std::toupper(digit));
    });
    return text;
}

engine::Rejected unreadable() {
    return {{domain::Reason::undecodable, "Transaction failed: the bytes can not be read",
             std::nullopt}};
}

std::optional<Transaction> read(const engine::Sealed& sealed) {
    if (domain::sha256(sealed.bytes) != sealed.hash) return std::nullopt;
    return decode_transaction(sealed.bytes);
}

}  // namespace

struct Miner::Candidate {
    const Transaction& transaction;
    const domain::Bytes& subject;
    const engine::Sealed& sealed;
};

struct Miner::Block {
    Ledger::Batch batch;
    domain::Timestamp time;
    Mined mined;
    std::vector<std::string> doubles;  // request ids
};

Miner::Miner(const Options& options, SeededRandom& random, const Answers& answers, Ledger& ledger,
             const ports::Clock& clock, ports::Logger& logger)
    : options_(options),
      random_(random),
      answers_(answers),
      ledger_(ledger),
      clock_(clock),
      logger_(logger) {}

Mined Miner::mine(const std::vector<engine::SendOrder>& orders) {
    Block block{Ledger::Batch{ledger_}, clock_.wall(), {}, {}};
    for (const engine::SendOrder& order : orders) {
        const domain::Milliseconds confirmation = random_.draw(options_.confirmation);
        block.mined.replies.push_back({confirmation, {order.id, send(block, order, confirmation)}});
    }
    block.batch.commit();
    for (const std::string& id : block.doubles) {
        logger_.write(ports::LogLevel::error, id + " event=loopback_double_inclusion");
    }
    return std::move(block.mined);
}

engine::SendOutcome Miner::send(Block& block, const engine::SendOrder& order,
                                domain::Milliseconds confirmation) {
    assert(!order.sealed.empty());
    if (random_.chance(Purpose::send_unreachable, options_.unreachable_sends)) {
        return engine::Unreachable{"the loopback chain did not take the transaction"};
    }
    const std::size_t first = order.look_up_first ? 0 : order.sealed.size() - 1;
    std::optional<Effect> known;
    for (std::size_t at = first; at < order.sealed.size(); ++at) {
        const engine::Sealed& sealed = order.sealed[at];
        const auto transaction = read(sealed);
        if (!transaction) return unreadable();
        const domain::Bytes subject = subject_of(transaction->draft);
        known = block.batch.find(subject, sealed.hash);
        if (known && *known != Effect::reverted) {
            return outcome_of(*known, order.kind, sealed.hash);
        }
        const bool last = at + 1 == order.sealed.size();
        if (last && !known) {
            return include(block, {*transaction, subject, sealed}, confirmation);
        }
    }
    return outcome_of(*known, order.kind, order.sealed.back().hash);
}

engine::SendOutcome Miner::include(Block& block, const Candidate& candidate,
                                   domain::Milliseconds confirmation) {
    const auto& [transaction, subject, sealed] = candidate;
    const Draft& draft = transaction.draft;
    const bool spent = block.batch.holds(subject);
    const Effect effect = effect_of(draft, sealed.hash, spent);
    std::optional<domain::Bytes32> reference;
    if (draft.kind != domain::Kind::share) reference = reference_of(sealed.hash);
    const std::int64_t number = block.batch.include(
        {transaction, subject, sealed.bytes, sealed.hash, reference, block.time, effect});

    if (effect == Effect::included) {
        if (spent) block.doubles.push_back(domain::to_string(draft.id));
        if (reference) plan_answers(block, number, transaction, sealed.hash, confirmation);
    }
    if (random_.chance(Purpose::lost_reply, options_.lost_replies)) {
        return engine::Unreachable{"the reply of the loopback chain was lost"};
    }
    return outcome_of(effect, draft.kind, sealed.hash);
}

Effect Miner::effect_of(const Draft& draft, const domain::Bytes32& hash, bool spent) const {
    if (draft.kind == domain::Kind::share &&
        (spent || random_.is_among(Purpose::already_revealed, draft.content,
                                   options_.shares_already_revealed))) {
        return Effect::already;
    }
    if (random_.is_among(Purpose::revert, hash, options_.reverts)) return Effect::reverted;
    return Effect::included;
}

void Miner::plan_answers(Block& block, std::int64_t number, const Transaction& transaction,
                         const domain::Bytes32& hash, domain::Milliseconds confirmation) {
    const bool early = random_.is_among(Purpose::early_answer, hash, options_.early_answers);
    const bool twice =
        random_.is_among(Purpose::duplicate_answer, hash, options_.duplicate_answers);
    const bool foreign = random_.is_among(Purpose::foreign_answer, hash, options_.foreign_answers);

    // Pieces that come at the same moment share a row of the ledger.
    std::map<domain::Milliseconds, Pieces> moments;
    for (const Pieces piece : answers_.pieces_of(transaction.draft.kind)) {
        const domain::Milliseconds response = random_.draw(options_.response);
        moments[early ? domain::Milliseconds{0} : confirmation + response] |= piece;
    }
    for (const auto& [delay, pieces] : moments) {
        PlannedAnswer answer{number, block.time, pieces, false};
        plan(block, answer, delay, early);
        if (twice) plan(block, answer, delay + random_.draw(options_.response), false);
        answer.foreign = true;
        if (foreign) plan(block, answer, delay, false);
    }
}

void Miner::plan(Block& block, PlannedAnswer answer, domain::Milliseconds delay, bool early) {
    assert(delay >= domain::Milliseconds{0});
    answer.ready = block.time + delay;
    if (delay > domain::Milliseconds{0}) {
        block.mined.upcoming.push_back({block.batch.plan(answer), delay});
        return;
    }
    block.batch.plan_next(answer);
    block.mined.answers_placed = true;
    block.mined.answers_early |= early;
}

engine::SendOutcome Miner::outcome_of(Effect effect, domain::Kind kind,
                                      const domain::Bytes32& hash) const {
    const bool is_share = kind == domain::Kind::share;
    if (effect == Effect::reverted) {
        if (is_share) {
            return engine::Rejected{{domain::Reason::reverted,
                                     "The chain refused the share with code 5: invalid proof",
                                     std::nullopt}};
        }
        return engine::Rejected{
            revert("Transaction failed", random_.number(Purpose::revert_selector, hash))};
    }
    engine::Receipt receipt{hash, std::nullopt, std::nullopt};
    if (is_share) {
        receipt.revealed = domain::ShareRevealed{tx_hash_text(hash), effect == Effect::already};
    } else {
        receipt.reference = reference_of(hash);
    }
    return receipt;
}

}  // namespace chains::loopback
