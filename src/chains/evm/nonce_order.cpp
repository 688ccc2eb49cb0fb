#include "chains/evm/nonce_order.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace chains::evm {

NonceOrder::NonceOrder(Nonces& nonces, ports::Executor& executor)
    : nonces_(nonces), executor_(executor) {}

void NonceOrder::run_in_order(std::uint64_t nonce, domain::Milliseconds patience, Task go,
                              Task give_up) {
    {
        const std::lock_guard lock{mutex_};
        if (!nonces_.may_send(nonce)) {
            const std::uint64_t ticket = next_ticket_++;
            waiting_.emplace(nonce, Waiting{ticket, std::move(go)});
            executor_.run_after(patience, [this, nonce, ticket, give_up = std::move(give_up)] {
                end_patience(nonce, ticket, give_up);
            });
            return;
        }
        nonces_.mark_sent(nonce);
    }
    executor_.run(std::move(go));
    release();
}

void NonceOrder::release() {
    const std::lock_guard lock{mutex_};
    while (!waiting_.empty() && nonces_.may_send(waiting_.begin()->first)) {
        auto first = waiting_.extract(waiting_.begin());
        assert(first.mapped().go);
        nonces_.mark_sent(first.key());
        executor_.run(std::move(first.mapped().go));
    }
}

void NonceOrder::end_patience(std::uint64_t nonce, std::uint64_t ticket, const Task& give_up) {
    {
        const std::lock_guard lock{mutex_};
        const auto [first, last] = waiting_.equal_range(nonce);
        const auto entry = std::find_if(
            first, last, [&](const auto& waiting) { return waiting.second.ticket == ticket; });
        if (entry == last) return;
        waiting_.erase(entry);
    }
    give_up();
}

}  // namespace chains::evm
