#include <algorithm>
#include <cassert>
#include <utility>

#include "store/row_columns.hpp"
#include "store/store_impl.hpp"

// What the store keeps of the chain: transactions, where they are, and answers.
namespace store {

namespace {

// Two columns: its number and its hash.
std::optional<domain::Block> block_at(const Statement& statement, int column) {
    if (statement.is_null(column) || statement.is_null(column + 1)) return std::nullopt;
    return domain::Block{static_cast<std::uint64_t>(statement.integer(column)),
                         statement.bytes32(column + 1)};
}

// What a row without an account signed may be anybody's until its request has ended.
constexpr const char* unsettled_accounts_sql =
    "select ifnull(address, '') from attempt join request using (id) "
    "left join account on account.id = attempt.account "
    "where attempt.id in (select id from request where lane in (1, 2) and kind <> 'share' "
    "union select id from inclusion where buried = 0) "
    "and ((attempt.account is null and lane < 8) or status in ('processing', 'tx_in_flight') "
    "or attempt.id in (select id from inclusion where buried = 0)) "
    "union select address from own_transaction join account "
    "on account.id = own_transaction.account where fate is null";

Inclusion decode_inclusion(const Statement& statement) {
    Inclusion inclusion{
        statement.integer(0), statement.bytes32(1), block_at(statement, 2), {}, false};
    if (!statement.is_null(4)) inclusion.reference = statement.bytes32(4);
    inclusion.buried = statement.integer(5) != 0;
    return inclusion;
}

std::vector<Inclusion> read_inclusions(Statement& statement) {
    std::vector<Inclusion> inclusions;
    while (statement.next()) inclusions.push_back(decode_inclusion(statement));
    return inclusions;
}

std::optional<std::uint64_t> number_of(const std::optional<domain::Block>& block) {
    return block ? std::optional{block->number} : std::nullopt;
}

std::optional<domain::Bytes32> hash_of(const std::optional<domain::Block>& block) {
    return block ? std::optional{block->hash} : std::nullopt;
}

}  // namespace

void Store::add_attempt(std::int64_t sequence, const Attempt& attempt, domain::Timestamp now) {
    assert(impl_->in_transaction());
    Statements& statements = impl_->statements_;
    if (!attempt.account.empty()) statements.add_account.with(attempt.account).run();
    statements.add_attempt
        .with(sequence, attempt.nonce, attempt.hash, attempt.sealed, now, attempt.account)
        .run();
}

std::vector<Attempt> Store::attempts(std::int64_t sequence) {
    Statement& statement = impl_->statements_.attempts.with(sequence);
    std::vector<Attempt> attempts;
    while (statement.next()) {
        Attempt attempt = decode_attempt(statement);
        attempt.sealed = statement.bytes(attempt_column_count);
        attempts.push_back(std::move(attempt));
    }
    return attempts;
}

std::vector<Attempt> Store::attempts_in_work() {
    Statement& statement = impl_->statements_.attempts_in_work.with();
    std::vector<Attempt> attempts;
    while (statement.next()) {
        attempts.push_back(decode_attempt(statement));
        if (attempts.back().account.empty()) {
            attempts.back().sealed = statement.bytes(attempt_column_count);
        }
    }
    return attempts;
}

std::set<std::string> Store::unsettled_accounts() {
    Statement statement{impl_->database_, unsettled_accounts_sql};
    std::set<std::string> accounts;
    while (statement.next()) accounts.emplace(statement.text(0));
    return accounts;
}

void Store::include(const Inclusion& inclusion, const Charge& charge) {
    assert(impl_->in_transaction());
    const auto number = number_of(inclusion.block);
    const auto hash = hash_of(inclusion.block);
    impl_->statements_.include
        .with(inclusion.sequence, inclusion.hash, number, hash, inclusion.reference)
        .run();
    if (!inclusion.block) return;
    impl_->statements_.charge
        .with(inclusion.sequence, inclusion.hash, number, charge.gas, charge.gas_price)
        .run();
}

std::optional<Inclusion> Store::inclusion(std::int64_t sequence) {
    Statement& statement = impl_->statements_.inclusion.with(sequence);
    std::optional<Inclusion> inclusion;
    if (statement.next()) inclusion = decode_inclusion(statement);
    statement.finish();
    return inclusion;
}

std::vector<Inclusion> Store::included_in(const domain::Block& block) {
    return read_inclusions(impl_->statements_.included_in.with(block.number, block.hash));
}

std::vector<Inclusion> Store::inclusions() {
    return read_inclusions(impl_->statements_.inclusions.with());
}

std::vector<UsedNonce> Store::nonces_included() {
    Statement& statement = impl_->statements_.nonces_included.with();
    std::vector<UsedNonce> nonces;
    while (statement.next()) {
        UsedNonce& used = nonces.emplace_back(UsedNonce{
            static_cast<std::uint64_t>(statement.integer(0)), block_at(statement, 1).value()});
        if (statement.is_null(3)) {
            used.sealed = statement.bytes(4);
        } else {
            used.account = statement.text(3);
        }
    }
    return nonces;
}

std::optional<std::int64_t> Store::find_included(const domain::Bytes32& reference) {
    Statement& statement = impl_->statements_.find_included.with(reference);
    std::optional<std::int64_t> sequence;
    if (statement.next()) sequence = statement.integer(0);
    statement.finish();
    return sequence;
}

void Store::exclude(std::int64_t sequence) {
    assert(impl_->in_transaction());
    impl_->statements_.exclude.with(sequence).run();
    impl_->statements_.discharge.with(sequence).run();
}

void Store::settle_inclusion(std::int64_t sequence) {
    assert(impl_->in_transaction());
    impl_->statements_.settle_inclusion.with(sequence).run();
}

bool Store::bury(const domain::Block& block, std::size_t limit) {
    assert(impl_->in_transaction());
    const int settled = impl_->statements_.settle_block.with(block.number, block.hash, limit).run();
    const int buried = impl_->statements_.bury.with(block.number, block.hash, limit).run();
    return static_cast<std::size_t>(std::max(settled, buried)) < limit;
}

bool Store::hold_answer(const domain::Bytes32& reference, const HeldAnswer& answer,
                        domain::Timestamp now) {
    assert(impl_->in_transaction());
    const auto number = number_of(answer.block);
    const auto hash = hash_of(answer.block);
    return impl_->statements_.hold_answer
               .with(reference, answer.slot, answer.body, now, number, hash)
               .run() == 1;
}

std::vector<HeldAnswer> Store::held_answers(const domain::Bytes32& reference) {
    Statement& statement = impl_->statements_.held_answers.with(reference);
    std::vector<HeldAnswer> answers;
    while (statement.next()) {
        answers.push_back({static_cast<std::uint32_t>(statement.integer(0)), statement.bytes(1),
                           block_at(statement, 2)});
    }
    return answers;
}

void Store::drop_answers(const domain::Bytes32& reference) {
    impl_->statements_.drop_answers.with(reference).run();
}

bool Store::drop_answers(const std::vector<domain::Block>& blocks, std::size_t limit) {
    assert(impl_->in_transaction());
    if (blocks.empty()) return true;
    const auto [lowest, highest] = std::ranges::minmax(blocks);
    Statement& held = impl_->statements_.answers_from.with(lowest.number, highest.number);
    std::vector<std::int64_t> dropped;
    while (dropped.size() < limit && held.next()) {
        const auto block = block_at(held, 1);
        if (block && std::ranges::find(blocks, *block) != blocks.end()) {
            dropped.push_back(held.integer(0));
        }
    }
    held.finish();
    for (const std::int64_t position : dropped) {
        impl_->statements_.drop_answer.with(position).run();
    }
    return dropped.size() < limit;
}

std::optional<domain::Bytes> Store::result(std::int64_t sequence) {
    Statement& statement = impl_->statements_.result.with(sequence);
    std::optional<domain::Bytes> body;
    if (statement.next()) body = statement.bytes(0);
    statement.finish();
    return body;
}

Store::Trimmed Store::trim_answers(domain::Timestamp before, std::size_t limit) {
    Trimmed trimmed;
    const auto trim = [&trimmed](Statement& statement) {
        while (statement.next()) {
            ++trimmed.answers;
            if (statement.is_null(0)) continue;
            const auto block = static_cast<std::uint64_t>(statement.integer(0));
            trimmed.newest_block = std::max(trimmed.newest_block.value_or(block), block);
        }
    };
    trim(impl_->statements_.trim_old.with(before, limit));
    trim(impl_->statements_.trim_many.with(impl_->options_.early_answers_max, limit));
    return trimmed;
}

}  // namespace store
