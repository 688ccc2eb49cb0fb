#include "engine/own_transactions.hpp"

#include <string>

#include "engine/holds.hpp"

namespace engine::own_transactions {

void keep(Context& context, const store::OwnTransaction& own) {
    context.store.add_own(own, context.now.wall);
    holds::remember_nonce(context, {own.nonce, own.hash, {}, {}, own.account});
    context.effects.own_sends.push_back(own);
    context.effects.own_sends.back().at = context.now.wall;
    context.effects.lines.push_back(
        {ports::LogLevel::info, std::string("own_transaction_signed purpose=") +
                                    store::name_of(own.purpose) + " account=" + own.account +
                                    " nonce=" + std::to_string(own.nonce) + " hash=0x" +
                                    domain::to_hex(own.hash)});
}

void settle(Context& context, const OwnSettled& event) {
    context.store.settle_own(event.account, event.nonce, event.hash, event.fate, context.now.wall);
    context.effects.lines.push_back(
        {ports::LogLevel::info, "own_transaction_settled account=" + event.account +
                                    " nonce=" + std::to_string(event.nonce) +
                                    " fate=" + store::name_of(event.fate) +
                                    (event.hash ? " hash=0x" + domain::to_hex(*event.hash) : "")});
}

}  // namespace engine::own_transactions
