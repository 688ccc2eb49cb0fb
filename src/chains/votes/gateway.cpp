#include "chains/votes/gateway.hpp"

#include <cassert>
#include <exception>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "base/urls.hpp"
#include "domain/bytes.hpp"

namespace chains::votes {
namespace {

constexpr std::size_t nullifiers_max = 65'536;  // some 15 MB when all are taken

using domain::Reason;
using domain::VoteShare;
using engine::PrepareOutcome;
using engine::SendOutcome;
using engine::Unreachable;

// The text ends up beside the share when its attempts are used up.
engine::Rejected attempt_failed(std::string text) {
    return {{Reason::send_failed, std::move(text), std::nullopt}};
}

engine::Rejected out_of_range(const VoteShare& share) {
    return attempt_failed("tree_position " + std::to_string(share.tree_position) +
                          " is out of range of the round's tree");
}

votes::prover::Witness witness_of(const VoteShare& share, const votes::MerklePath& path) {
    votes::prover::Witness witness;
    witness.merkle_path = path;
    witness.share_comms = share.share_comms;
    witness.primary_blind = share.primary_blind;
    witness.c1 = share.c1;
    witness.c2 = share.c2;
    witness.share_index = share.share_index;
    witness.proposal_id = share.proposal_id;
    witness.vote_decision = share.vote_decision;
    witness.round_id = share.round_id;
    return witness;
}

domain::Bytes bytes_of(const std::string& text) {
    return {text.begin(), text.end()};
}

// Why no share of this round can be revealed now; nothing: it can. The store knows the round as
// open, so a chain that does not is behind or was asked too early (share-helper 4.3).
std::optional<PrepareOutcome> refusal_of(const votes::RoundStatusAnswer& status) {
    if (const auto* unreachable = std::get_if<Unreachable>(&status)) return *unreachable;
    if (std::holds_alternative<votes::RoundActive>(status)) return std::nullopt;
    return Unreachable{std::holds_alternative<engine::UnknownRound>(status)
                           ? "the chain does not know the round"
                           : "the round is not active"};
}

// Why the tree can not be used for the share; nothing: it can.
std::optional<PrepareOutcome> refusal_of(const engine::TreeStatusAnswer& answer,
                                         const VoteShare& share) {
    if (const auto* unreachable = std::get_if<Unreachable>(&answer)) return *unreachable;
    const auto* tree = std::get_if<engine::TreeStatus>(&answer);
    if (tree == nullptr) return Unreachable{"the chain does not know the tree of the round"};
    if (tree->leaf_count == 0) return attempt_failed("the tree of the round is empty");
    if (share.tree_position >= tree->leaf_count) return out_of_range(share);
    if (tree->anchor_height == 0) return attempt_failed("the tree of the round has no anchor yet");
    return std::nullopt;
}

const char* name_of(engine::VoteObserver::Proving outcome) {
    switch (outcome) {
        case engine::VoteObserver::Proving::proved:
            return "proved";
        case engine::VoteObserver::Proving::failed:
            return "failed";
        case engine::VoteObserver::Proving::unreachable:
            break;
    }
    return "unreachable";
}

engine::VoteObserver::Proving kind_of(const votes::prover::ProveOutcome& outcome) {
    using Proving = engine::VoteObserver::Proving;
    if (std::holds_alternative<votes::prover::Proof>(outcome)) return Proving::proved;
    return std::holds_alternative<votes::prover::NotProved>(outcome) ? Proving::failed
                                                                     : Proving::unreachable;
}

// What escapes from the work on one share is that share's failure (share-helper 4.4).
template <typename Outcome, typename Work>
Outcome contained(const domain::RequestId& id, ports::Logger& logger, Work work) {
    try {
        return work();
    } catch (const std::exception& error) {
        logger.write(ports::LogLevel::error, domain::to_string(id) +
                                                 " event=share_work_broke stage=panic error=" +
                                                 base::log_value(base::redact_urls(error.what())));
        return attempt_failed("the work on the share broke off");
    }
}

}  // namespace

Gateway::Gateway(votes::RevealChain& chain, votes::prover::Prover& prover,
                 const ports::Clock& clock, ports::Executor& executor, ports::Executor& confirming,
                 ports::Logger& logger, engine::VoteObserver& observer,
                 engine::Nullifiers* nullifiers)
    : chain_(chain),
      prover_(prover),
      clock_(clock),
      logger_(logger),
      observer_(observer),
      nullifiers_(nullifiers),
      proved_(nullifiers_max),
      task_group_(executor),
      confirm_group_(confirming) {}

void Gateway::listen(engine::GatewayEvents& events, const engine::Resume&) {
    assert(events_ == nullptr);
    events_ = &events;
}

void Gateway::check(std::vector<engine::CheckOrder> orders) {
    assert(orders.empty());
}

void Gateway::prepare(std::vector<engine::PrepareOrder> orders) {
    assert(events_ != nullptr);
    for (engine::PrepareOrder& order : orders) {
        task_group_.run([this, order = std::move(order)] {
            PrepareOutcome outcome =
                contained<PrepareOutcome>(order.id, logger_, [&] { return prepare_one(order); });
            events_.load()->prepared({{order.id, std::move(outcome)}});
        });
    }
}

void Gateway::send(std::vector<engine::SendOrder> orders) {
    assert(events_ != nullptr);
    for (engine::SendOrder& order : orders) {
        task_group_.run([this, order = std::move(order)] {
            SendOutcome outcome =
                contained<SendOutcome>(order.id, logger_, [&] { return send_one(order); });
            events_.load()->sent({{order.id, std::move(outcome)}});
        });
    }
}

void Gateway::confirm(std::vector<engine::ConfirmOrder> orders) {
    assert(events_ != nullptr);
    for (engine::ConfirmOrder& order : orders) {
        confirm_group_.run([this, order = std::move(order)] {
            engine::NullifierAnswer answer = look_up(order.sealed);
            events_.load()->confirmed({{order.id, order.since, std::move(answer)}});
        });
    }
}

engine::Sealed Gateway::seal(const domain::RequestId&, domain::Kind kind,
                             const engine::Plan& plan) {
    assert(kind == domain::Kind::share);
    static_cast<void>(kind);
    engine::Sealed sealed;
    sealed.bytes = plan.bytes;
    assert(!sealed.bytes.empty());
    sealed.hash = domain::sha256(sealed.bytes);
    return sealed;
}

void Gateway::wind_down() {
    prover_.stop();
}

void Gateway::stop() {
    prover_.stop();
    chain_.stop();
    task_group_.stop();
    confirm_group_.stop();
}

std::optional<std::string> Gateway::problem() const {
    if (auto problem = chain_.problem()) return "the vote chain: " + *problem;
    if (auto problem = prover_.problem()) return "the prover: " + *problem;
    return std::nullopt;
}

std::vector<engine::Dependency> Gateway::dependencies() const {
    return {{"vote_chain", !chain_.problem()}, {"vote_prover", !prover_.problem()}};
}

PrepareOutcome Gateway::prepare_one(const engine::PrepareOrder& order) {
    const auto* share = std::get_if<VoteShare>(order.request.get());
    assert(share != nullptr);
    return reveal_of(order.id.sequence, *share);
}

PrepareOutcome Gateway::reveal_of(std::int64_t id, const VoteShare& share) {
    if (auto refusal = refusal_of(chain_.round_status(share.round_id))) return *refusal;
    const engine::TreeStatusAnswer tree = chain_.tree_status(share.round_id);
    if (auto refusal = refusal_of(tree, share)) return *refusal;
    const std::uint64_t anchor_height = std::get<engine::TreeStatus>(tree).anchor_height;
    const votes::PathAnswer path = chain_.path(share.round_id, share.tree_position, anchor_height);
    if (const auto* unreachable = std::get_if<Unreachable>(&path)) return *unreachable;
    if (std::holds_alternative<votes::PathOutOfRange>(path)) return out_of_range(share);
    return proved(id, share, anchor_height, std::get<votes::MerklePath>(path));
}

PrepareOutcome Gateway::proved(std::int64_t id, const VoteShare& share, std::uint64_t anchor_height,
                               const votes::MerklePath& path) {
    votes::prover::ProveOutcome outcome = prove(witness_of(share, path));
    if (auto* unreachable = std::get_if<Unreachable>(&outcome)) return std::move(*unreachable);
    if (auto* failed = std::get_if<votes::prover::NotProved>(&outcome)) {
        return attempt_failed(std::move(failed->text));
    }
    auto& proof = std::get<votes::prover::Proof>(outcome);
    if (proof.bytes.empty() || proof.bytes.size() > votes::prover::proof_bytes_max) {
        return attempt_failed("the proof has " + std::to_string(proof.bytes.size()) +
                              " bytes: 1 to " + std::to_string(votes::prover::proof_bytes_max) +
                              " are allowed");
    }
    if (!proved_.belongs(share.round_id, proof.nullifier, id)) {
        return attempt_failed("the prover answered with the nullifier of another share");
    }
    const votes::Reveal reveal{proof.nullifier,
                               share.c1,
                               share.c2,
                               share.proposal_id,
                               share.vote_decision,
                               std::move(proof.bytes),
                               share.round_id,
                               anchor_height};
    return engine::Plan{bytes_of(votes::to_json(reveal))};
}

votes::prover::ProveOutcome Gateway::prove(const votes::prover::Witness& witness) {
    const domain::Monotonic begin = clock_.monotonic();
    votes::prover::ProveOutcome outcome = prover_.prove(witness);
    const domain::Nanoseconds took = clock_.monotonic() - begin;
    const engine::VoteObserver::Proving kind = kind_of(outcome);
    observer_.proved(kind, took);
    if (logger_.wants(ports::LogLevel::debug)) {
        const auto milliseconds = std::chrono::duration_cast<domain::Milliseconds>(took).count();
        logger_.write(ports::LogLevel::debug,
                      std::string("proof_ended outcome=") + name_of(kind) +
                          " round_id=" + domain::to_hex(witness.round_id) +
                          " share_index=" + std::to_string(witness.share_index) +
                          " took_ms=" + std::to_string(milliseconds));
    }
    return outcome;
}

SendOutcome Gateway::send_one(const engine::SendOrder& order) {
    assert(!order.sealed.empty());
    const engine::Sealed& sealed = order.sealed.back();
    votes::RevealOutcome outcome =
        chain_.reveal(std::string(sealed.bytes.begin(), sealed.bytes.end()));
    if (auto* unreachable = std::get_if<Unreachable>(&outcome)) return std::move(*unreachable);
    auto* refused = std::get_if<votes::NotRevealedNow>(&outcome);
    if (refused != nullptr && !refused->may_be_revealed) {
        return attempt_failed(std::move(refused->text));
    }
    auto* revealed = std::get_if<domain::ShareRevealed>(&outcome);
    if (revealed != nullptr && !revealed->already) {
        return engine::Receipt{sealed.hash, std::nullopt, std::move(*revealed)};
    }
    // Code 2: whoever knows the chain's record has the last word.
    const engine::NullifierAnswer record = look_up(sealed);
    if (refused != nullptr && !std::holds_alternative<engine::Revealed>(record)) {
        return attempt_failed(std::move(refused->text));
    }
    if (std::holds_alternative<engine::NotRevealed>(record)) {
        return attempt_failed("code 2 (already revealed), but share-status says pending");
    }
    return engine::Receipt{
        sealed.hash, std::nullopt,
        revealed != nullptr ? std::move(*revealed) : domain::ShareRevealed{{}, true},
        std::holds_alternative<engine::Revealed>(record)};
}

engine::NullifierAnswer Gateway::look_up(const engine::Sealed& sealed) {
    if (nullifiers_ == nullptr) return Unreachable{"nobody can be asked"};
    try {
        const std::optional<votes::RevealName> name = votes::name_in(sealed.bytes);
        if (name) return nullifiers_->find(name->round_id, name->nullifier);
        return Unreachable{"the stored message can not be read"};
    } catch (const std::exception& error) {
        return Unreachable{"the look-up broke off: " + base::redact_urls(error.what())};
    }
}

}  // namespace chains::votes
