#include <cassert>

#include "store/store_impl.hpp"

// What the store keeps of transactions of our own.
namespace store {

void Store::add_own(const OwnTransaction& own, domain::Timestamp now) {
    assert(impl_->in_transaction() && !own.account.empty());
    impl_->statements_.add_account.with(own.account).run();
    impl_->statements_.add_own
        .with(own.account, own.nonce, own.hash, name_of(own.purpose), own.sealed, now)
        .run();
}

std::vector<OwnTransaction> Store::own_unsettled() {
    Statement& statement = impl_->statements_.own_unsettled.with();
    std::vector<OwnTransaction> all;
    while (statement.next()) {
        OwnTransaction own;
        own.account = statement.text(0);
        own.nonce = static_cast<std::uint64_t>(statement.integer(1));
        own.hash = statement.bytes32(2);
        const bool is_approval = statement.text(3) == name_of(OwnTransaction::Purpose::approval);
        if (is_approval) own.purpose = OwnTransaction::Purpose::approval;
        own.sealed = statement.bytes(4);
        own.at = domain::from_unix_ms(statement.integer(5));
        all.push_back(std::move(own));
    }
    return all;
}

std::vector<Attempt> Store::attempts_beside_own() {
    Statement& statement = impl_->statements_.attempts_beside_own.with();
    std::vector<Attempt> attempts;
    while (statement.next()) attempts.push_back(decode_attempt(statement));
    return attempts;
}

void Store::settle_own(const std::string& account, std::uint64_t nonce,
                       const std::optional<domain::Bytes32>& hash, OwnFate fate,
                       domain::Timestamp now) {
    assert(impl_->in_transaction());
    impl_->statements_.settle_own.with(account, nonce, hash, name_of(fate), now).run();
}

std::size_t Store::purge_own(domain::Timestamp before, std::size_t limit) {
    assert(impl_->in_transaction());
    return static_cast<std::size_t>(impl_->statements_.purge_own.with(before, limit).run());
}

std::size_t Store::forget_own(std::size_t limit) {
    assert(impl_->in_transaction());
    return static_cast<std::size_t>(impl_->statements_.forget_own.with(limit).run());
}

}  // namespace store
