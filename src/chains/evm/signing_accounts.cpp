#include "chains/evm/signing_accounts.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/transaction.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

SigningAccounts::SigningAccounts(const SigningAccount::Shared& shared,
                                 std::vector<std::unique_ptr<Signer>> signers)
    : logger_(shared.logger), retired_(shared) {
    assert(!signers.empty() && std::in_range<std::uint8_t>(signers.size()));
    KeyPlace place{0, static_cast<std::uint8_t>(signers.size())};
    for (std::unique_ptr<Signer>& signer : signers) {
        assert(place.is_alone() || signer->known_address());
        accounts_.push_back(std::make_unique<SigningAccount>(shared, std::move(signer), place));
        ++place.index;
    }
}

std::vector<const Signer*> SigningAccounts::signers() const {
    std::vector<const Signer*> all;
    for (const auto& account : accounts_) all.push_back(&account->signer());
    return all;
}

SigningAccount* SigningAccounts::find(const std::string& address) {
    const std::string wanted = base::lower_case(address);
    for (const auto& account : accounts_) {
        const std::string known = base::lower_case(account->address());
        const bool may_be_it = is_alone() && (address.empty() || known.empty());
        if (may_be_it || known == wanted) return account.get();
    }
    return nullptr;
}

void SigningAccounts::start(engine::GatewayEvents& events, const engine::Resume& resume) {
    assert(events_ == nullptr);
    events_ = &events;
    retired_.start(events, resume);
    if (is_alone()) {
        at(0).start(events, resume);
        return;
    }
    std::map<const SigningAccount*, engine::Resume> parts;
    for (const engine::Sealed& sealed : resume.in_flight) {
        if (const auto* owner = owner_of(sealed)) parts[owner].in_flight.push_back(sealed);
    }
    for (const store::UsedNonce& used : resume.used) {
        const auto* owner = owner_of({used.nonce, {}, used.sealed, {}, used.account});
        if (owner != nullptr) parts[owner].used.push_back(used);
    }
    for (const store::OwnTransaction& own : resume.own) {
        if (const auto* owner = find(own.account)) parts[owner].own.push_back(own);
    }
    for (const auto& account : accounts_) {
        engine::Resume& part = parts[account.get()];
        part.look_from = resume.look_from;
        part.beside_own = resume.beside_own;
        part.nonces = resume.nonces;
        part.has_unsigned = resume.has_unsigned;
        account->start(events, part);
    }
}

void SigningAccounts::stop() {
    for (const auto& account : accounts_) account->stop();
}

// --- who takes a request ------------------------------------------------------------------------

// Before it is known for each of them whether the database is an old copy nobody signs: what waits
// may have been sent with any of the keys.
std::optional<engine::Unreachable> SigningAccounts::unsettled() const {
    if (auto unsettled = retired_.unsettled()) return unsettled;
    for (const auto& account : accounts_) {
        if (auto unsettled = account->unsettled()) return unsettled;
    }
    return std::nullopt;
}

// When several reasons keep them all from it, one that is waited for longer than for a node that
// is out of reach.
std::optional<engine::Unreachable> SigningAccounts::unready() const {
    if (is_alone()) {
        auto unready = at(0).unready();
        return unready ? unready : retired_.unsettled();
    }
    if (auto waits = unsettled()) return waits;
    std::optional<engine::Unreachable> reason;
    for (const auto& account : accounts_) {
        auto unready = account->unusable();
        if (!unready) return std::nullopt;
        if (!reason || (reason->unreached && !unready->unreached)) reason = std::move(unready);
    }
    return reason;
}

std::variant<SigningAccounts::Picked, engine::Unreachable> SigningAccounts::pick(
    std::size_t requests) {
    if (is_alone()) return Picked(requests, accounts_.front().get());
    if (auto waits = unready()) return *std::move(waits);
    struct Usable {
        SigningAccount* account;
        std::size_t transactions;
    };
    std::vector<Usable> usable;
    const std::size_t first = turn_.fetch_add(requests);
    for (std::size_t i = 0; i < size(); ++i) {
        SigningAccount& account = at((first + i) % size());
        if (!account.unusable()) usable.push_back({&account, account.nonces().held()});
    }
    // Since a moment ago.
    if (usable.empty()) return engine::Unreachable{"no key can sign"};
    Picked picked;
    for (std::size_t i = 0; i < requests; ++i) {
        const auto least = std::ranges::min_element(usable, {}, &Usable::transactions);
        ++least->transactions;
        picked.push_back(least->account);
    }
    return picked;
}

// --- what is signed stays with its key ----------------------------------------------------------

SigningAccount* SigningAccounts::owner_of(const engine::Sealed& sealed) {
    if (is_alone()) return accounts_.front().get();
    std::string account = sealed.account;
    if (account.empty()) {
        const auto sender = sender_of(sealed.bytes);
        if (sender) account = domain::checksummed(*sender);
    }
    const auto owner =
        std::ranges::find_if(accounts_, [&](const auto& one) { return one->address() == account; });
    return owner == accounts_.end() ? nullptr : owner->get();
}

void SigningAccounts::send(std::vector<engine::SendOrder> orders, engine::GatewayEvents& events) {
    std::map<SigningAccount*, std::vector<engine::SendOrder>, ByPlace> parts;
    for (engine::SendOrder& order : orders) {
        SigningAccount* owner = owner_of(order.sealed.back());
        if (owner == nullptr) {
            refuse_foreign(std::move(order), events);
        } else {
            parts[owner].push_back(std::move(order));
        }
    }
    for (auto& [owner, part] : parts) owner->sender().send(std::move(part), events);
}

void SigningAccounts::send_own(std::vector<store::OwnTransaction> own) {
    for (const auto& account : accounts_) {
        std::vector<store::OwnTransaction> part;
        std::ranges::copy_if(own, std::back_inserter(part),
                             [&](const auto& one) { return find(one.account) == account.get(); });
        if (!part.empty()) account->own().send(part);
    }
}

// Its key was taken away, which the start refuses: somebody changed the file.
void SigningAccounts::refuse_foreign(engine::SendOrder order, engine::GatewayEvents& events) {
    if (!told_of_foreign_.exchange(true)) {
        logger_.write(ports::LogLevel::error,
                      "sealed_by_another_key alert=true job_id=" + to_string(order.id) +
                          " account=" + order.sealed.back().account +
                          " hint=\"no key that is configured has signed it; configure its key "
                          "until it is settled\"");
    }
    events.sent({{order.id, engine::Unreachable{"no key that is configured has signed it"}}});
}

engine::Sealed SigningAccounts::seal(const engine::Plan& plan) {
    const auto draft = draft_in(plan);
    assert(draft && draft->key < size());
    return at(draft->key).seals().seal(*draft);
}

std::optional<std::uint64_t> SigningAccounts::fetch_seal(const domain::RequestId& id,
                                                         const engine::Plan& plan) {
    const auto draft = draft_in(plan);
    assert(draft && draft->key < size());
    return at(draft->key).seals().fetch(id, *draft);
}

// Each knows its own.
void SigningAccounts::end_seal(std::uint64_t ticket, bool stored) {
    for (const auto& account : accounts_) account->seals().end(ticket, stored);
}

void SigningAccounts::keep_sealed() {
    for (const auto& account : accounts_) account->seals().keep();
}

void SigningAccounts::undo_sealed() {
    for (const auto& account : accounts_) account->seals().undo();
}

void SigningAccounts::bury(const domain::Block& block) {
    for (const auto& account : accounts_) account->nonces().bury(block);
}

// --- how they are -------------------------------------------------------------------------------

void SigningAccounts::refresh() {
    std::set<std::string> configured;
    for (const auto& account : accounts_) configured.insert(account->address());
    // Before all addresses are known nobody can say whose key is gone.
    if (!configured.contains("")) retired_.refresh(configured);
    for (const auto& account : accounts_) account->refresh();
    if (!unsettled() && !told_of_settled_.exchange(true)) events_->accounts_settled({});
}

bool SigningAccounts::is_in_hurry() const {
    return retired_.unsettled() ||
           std::ranges::any_of(accounts_, [](const auto& one) { return one->is_in_hurry(); });
}

bool SigningAccounts::has_hole() const {
    return std::ranges::any_of(accounts_, [](const auto& one) { return one->has_hole(); });
}

std::optional<std::string> SigningAccounts::problem() const {
    if (is_alone()) return at(0).problem();
    std::string all;
    for (const auto& account : accounts_) {
        const auto problem = account->problem();
        if (!problem) return std::nullopt;
        all += (all.empty() ? "" : "; ") + account->address() + ": " + *problem;
    }
    return all;
}

bool SigningAccounts::can_send() const {
    return !problem() ||
           std::ranges::none_of(accounts_, [](const auto& one) { return one->is_refused(); });
}

bool SigningAccounts::can_sign() const {
    return !problem() || std::ranges::none_of(accounts_, [](const auto& one) {
        return one->seals().problem().has_value();
    });
}

void SigningAccounts::read(const Monitor& monitor, engine::ChainReadings& readings) const {
    for (std::size_t i = 0; i < size(); ++i) {
        engine::SignerReadings one{at(i).address(), monitor.balance_in_coins(i),
                                   at(i).nonces().distance(monitor.nonce(i)), at(i).problem()};
        if (is_alone()) {
            readings.signer_balance = one.balance;
            readings.signer_nonce_distance = one.nonce_distance;
        } else {
            readings.signers.push_back(std::move(one));
        }
    }
}

}  // namespace chains::evm
