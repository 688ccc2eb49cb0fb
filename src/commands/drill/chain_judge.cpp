#include "commands/drill/chain_judge.hpp"

#include <cassert>
#include <map>
#include <set>
#include <string>
#include <variant>

#include "api/decode.hpp"
#include "chains/evm/calls.hpp"
#include "commands/drill/bodies.hpp"

namespace commands::drill {

namespace {

// By the number of the wish.
using Inclusions = std::map<std::uint64_t, std::uint64_t>;

bool is_filler(const AccountTransaction& transaction, const domain::Address& account) {
    return transaction.to == account && transaction.data.empty();
}

// Gathers what the transactions of the account are.
class Account {
public:
    Account(const ChainEvidence& evidence, ChainFigures& figures, Counts& counts)
        : figures_(figures), counts_(counts) {
        for (const Wish& wish : evidence.asked) {
            wishes_.emplace(call_of(evidence.seed, wish), wish.number);
        }
    }

    void add(const AccountTransaction& transaction) {
        ++figures_.transactions;
        if (!transaction.succeeded) ++figures_.reverted;
        figures_.gas_used += transaction.gas_used;
        figures_.fees += transaction.gas_used * transaction.gas_price;
        nonces_.insert(transaction.nonce);
        const auto wish = wishes_.find(transaction.data);
        if (wish != wishes_.end()) {
            ++inclusions_[wish->second];
        } else if (is_filler(transaction, figures_.signer)) {
            ++figures_.fillers;
        } else {
            counts_.violations.push_back("transaction 0x" + domain::to_hex(transaction.hash) +
                                         " is of the signer and not of the drill: somebody else "
                                         "uses the key");
        }
    }

    void look_for_holes() {
        for (std::uint64_t nonce = figures_.nonce_before; nonce < figures_.nonce_after; ++nonce) {
            if (nonces_.contains(nonce)) continue;
            counts_.violations.push_back("no transaction with the nonce " + std::to_string(nonce) +
                                         " is in the blocks");
        }
    }

    [[nodiscard]] const Inclusions& inclusions() const { return inclusions_; }

private:
    ChainFigures& figures_;
    Counts& counts_;
    std::map<domain::Bytes, std::uint64_t> wishes_;  // by the data of their transactions
    Inclusions inclusions_;
    std::set<std::uint64_t> nonces_;
};

// Not ended: whether it waits for others. Whose ciphertext is not there yet has no transaction.
bool waits_rightly(const Promise& promise, FinalAnswer answer, bool included) {
    if (answer != FinalAnswer::waiting && answer != FinalAnswer::none) return false;
    return included ||
           (answer == FinalAnswer::waiting && promise.wish.kind == domain::Kind::public_decrypt);
}

void judge_one(const Promise& promise, FinalAnswer answer, bool included, ChainFigures& figures,
               Counts& counts) {
    if (answer == FinalAnswer::failed) {
        ++counts.failed;
    } else if (answer == FinalAnswer::completed) {
        ++counts.completed;
        if (included) return;
        counts.violations.push_back(domain::to_string(promise.job) +
                                    " is completed, and the signer has no transaction of it");
    } else if (waits_rightly(promise, answer, included)) {
        ++figures.waiting;
    } else {
        ++counts.lost;
    }
}

}  // namespace

domain::Bytes call_of(std::uint64_t seed, const Wish& wish) {
    const std::string body = body_of(seed, wish);
    const api::Decoded decoded = wish.kind == domain::Kind::input_proof
                                     ? api::decode_input_proof(body, 0)
                                     : api::decode_public_decrypt(body, 0);
    return chains::evm::request_call(std::get<domain::Request>(decoded));
}

Counts judge_on_chain(const ChainEvidence& evidence, ChainFigures& figures) {
    const Notes& notes = evidence.notes;
    assert(evidence.answers.size() == notes.promises.size());
    Counts counts;
    counts.accepted = notes.promises.size();
    counts.later = notes.later;
    counts.unanswered = notes.unanswered;
    counts.violations = notes.violations;
    Account account(evidence, figures, counts);
    for (const AccountTransaction& transaction : evidence.transactions) account.add(transaction);
    account.look_for_holes();
    for (const auto& [wish, times] : account.inclusions()) counts.included_twice += times - 1;
    for (std::size_t i = 0; i < notes.promises.size(); ++i) {
        const Promise& promise = notes.promises[i];
        const bool included = account.inclusions().contains(promise.wish.number);
        judge_one(promise, evidence.answers[i], included, figures, counts);
    }
    return counts;
}

}  // namespace commands::drill
