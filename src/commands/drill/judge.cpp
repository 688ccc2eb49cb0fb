#include "commands/drill/judge.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <optional>

#include "commands/drill/bodies.hpp"

namespace commands::drill {

namespace {

using chains::loopback::Effect;
using chains::loopback::LedgerEntry;

// The ledger, by what can be asked of it.
struct OnChain {
    std::map<std::int64_t, bool> jobs;                  // by sequence; whether one took effect
    std::map<domain::Bytes, domain::Timestamp> shares;  // by nullifier; the first moment
    std::map<domain::Bytes, std::uint64_t> effects;     // by subject
};

OnChain sorted(const std::vector<LedgerEntry>& ledger) {
    OnChain found;
    for (const LedgerEntry& entry : ledger) {
        const bool took_effect = entry.effect == Effect::included;
        if (took_effect) ++found.effects[entry.subject];
        if (entry.kind != domain::Kind::share) {
            found.jobs[entry.request_sequence] |= took_effect;
            continue;
        }
        const auto [place, is_new] = found.shares.try_emplace(entry.subject, entry.included);
        if (!is_new) place->second = std::min(place->second, entry.included);
    }
    return found;
}

std::string name_of(const Promise& promise) {
    if (promise.wish.kind != domain::Kind::share) return domain::to_string(promise.job);
    return "share " + std::to_string(promise.wish.number);
}

// Whether the chain has it, and not before its second.
bool judge_share(const Evidence& evidence, const Promise& promise, const OnChain& chain,
                 Counts& counts) {
    const domain::Bytes32 nullifier = nullifier_of(evidence.seed, promise.wish);
    const auto found = chain.shares.find(domain::Bytes(nullifier.begin(), nullifier.end()));
    if (found == chain.shares.end()) return false;
    ++counts.shares;
    const domain::Timestamp due{
        std::chrono::seconds{static_cast<std::int64_t>(promise.wish.submit_at)}};
    if (found->second < due) ++counts.early_shares;
    return true;
}

void judge_promise(const Evidence& evidence, std::size_t index, const OnChain& chain,
                   Counts& counts) {
    const Promise& promise = evidence.notes.promises[index];
    const FinalAnswer answer = evidence.answers[index];
    const bool is_share = promise.wish.kind == domain::Kind::share;
    const bool revealed = is_share && judge_share(evidence, promise, chain, counts);
    const bool has_ended = answer == FinalAnswer::completed || answer == FinalAnswer::failed;
    if (!has_ended || (is_share && !revealed)) {
        ++counts.lost;
        return;
    }
    if (answer == FinalAnswer::failed) {
        ++counts.failed;
        return;
    }
    ++counts.completed;
    if (is_share) return;
    const auto found = chain.jobs.find(promise.job.sequence);
    if (found == chain.jobs.end() || !found->second) {
        counts.violations.push_back(name_of(promise) +
                                    " is completed, and the chain has no transaction of it");
    }
}

void judge_repeats(const Evidence& evidence, Counts& counts) {
    const Notes& notes = evidence.notes;
    for (const Repeat& repeat : notes.repeats) {
        const Promise& promise = notes.promises[repeat.promise];
        // After a failure it is a new request.
        if (repeat.job == promise.job || evidence.answers[repeat.promise] == FinalAnswer::failed) {
            continue;
        }
        counts.violations.push_back(name_of(promise) + " was asked for again and became " +
                                    domain::to_string(repeat.job));
    }
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
    accepted += other.accepted;
    completed += other.completed;
    failed += other.failed;
    lost += other.lost;
    included_twice += other.included_twice;
    shares += other.shares;
    early_shares += other.early_shares;
    asked_again += other.asked_again;
    later += other.later;
    unanswered += other.unanswered;
    std::ranges::copy(other.violations, std::back_inserter(violations));
    return *this;
}

Counts judge(const Evidence& evidence) {
    const Notes& notes = evidence.notes;
    assert(evidence.answers.size() == notes.promises.size());
    Counts counts;
    counts.accepted = notes.promises.size();
    counts.asked_again = notes.repeats.size();
    counts.later = notes.later;
    counts.unanswered = notes.unanswered;
    counts.violations = notes.violations;
    const OnChain chain = sorted(evidence.ledger);
    for (const auto& [subject, effects] : chain.effects) counts.included_twice += effects - 1;
    for (std::size_t i = 0; i < notes.promises.size(); ++i) {
        judge_promise(evidence, i, chain, counts);
    }
    judge_repeats(evidence, counts);
    return counts;
}

bool is_good(const Counts& counts) {
    return counts.accepted > 0 && counts.lost == 0 && counts.included_twice == 0 &&
           counts.early_shares == 0 && counts.violations.empty();
}

}  // namespace commands::drill
