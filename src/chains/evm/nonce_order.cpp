#include "chains/evm/nonce_order.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace chains::evm {

NonceOrder::NonceOrder(Nonces& nonces, ports::Executor& executor)
    : nonces_(nonces), executor_(executor) {}

void NonceOrder::run_in_order(std::uint64_t nonce, domain::Milliseconds patience, Hold hold,
                              Task go, Task give_up) {
    {
        const std::lock_guard lock{mutex_};
        if (!may_leave_locked(nonce, hold)) {
            const std::uint64_t ticket = next_ticket_++;
            waiting_.emplace(nonce, Waiting{ticket, std::move(hold), std::move(go)});
            await_patience(nonce, ticket, patience, std::move(give_up));
            return;
        }
        nonces_.mark_sent(nonce);
    }
    executor_.run(std::move(go));
    release();
}

void NonceOrder::release() {
    const std::lock_guard lock{mutex_};
    while (!waiting_.empty() &&
           may_leave_locked(waiting_.begin()->first, waiting_.begin()->second.hold)) {
        auto first = waiting_.extract(waiting_.begin());
        assert(first.mapped().go);
        nonces_.mark_sent(first.key());
        executor_.run(std::move(first.mapped().go));
    }
}

bool NonceOrder::may_leave_locked(std::uint64_t nonce, const Hold& hold) {
    if (!nonces_.may_send(nonce)) return false;
    const auto wait = hold();
    if (!wait) return true;
    if (!std::exchange(asks_again_, true)) {
        executor_.run_after(*wait, [this] {
            {
                const std::lock_guard lock{mutex_};
                asks_again_ = false;
            }
            release();
        });
    }
    return false;
}

void NonceOrder::await_patience(std::uint64_t nonce, std::uint64_t ticket,
                                domain::Milliseconds patience, Task give_up) {
    executor_.run_after(patience, [this, nonce, ticket, patience, give_up = std::move(give_up)] {
        end_patience(nonce, ticket, patience, give_up);
    });
}

void NonceOrder::end_patience(std::uint64_t nonce, std::uint64_t ticket,
                              domain::Milliseconds patience, Task give_up) {
    bool may_leave = false;
    {
        const std::lock_guard lock{mutex_};
        const auto [first, last] = waiting_.equal_range(nonce);
        const auto entry = std::find_if(
            first, last, [&](const auto& waiting) { return waiting.second.ticket == ticket; });
        if (entry == last) return;
        may_leave = nonces_.may_send(nonce);
        if (!may_leave) waiting_.erase(entry);
    }
    if (!may_leave) {
        give_up();
        return;
    }
    // It is its turn: if anything, only its rate holds it.
    await_patience(nonce, ticket, patience, std::move(give_up));
    release();
}

}  // namespace chains::evm
