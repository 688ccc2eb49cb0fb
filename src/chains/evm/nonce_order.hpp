#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "chains/evm/nonces.hpp"
#include "domain/time.hpp"
#include "ports/executor.hpp"

namespace chains::evm {

// Lets transactions leave in order of their nonces: one that comes to the node before a smaller
// nonce is refused there, or blocks whoever sent it until that one comes. Any thread.
class NonceOrder {
public:
    using Task = std::function<void()>;
    // Asked when it is the turn of a transaction: how long it has to wait yet. Nothing: it leaves.
    using Hold = std::function<std::optional<domain::Milliseconds>()>;

    NonceOrder(Nonces& nonces, ports::Executor& executor);

    // Runs `go` on the executor when every smaller nonce that is held has left, and `hold` lets it;
    // when the smaller ones take longer than `patience`, runs `give_up` instead.
    void run_in_order(std::uint64_t nonce, domain::Milliseconds patience, Hold hold, Task go,
                      Task give_up);

    // It did not reach the node after all, or may not have.
    void mark_unsent(std::uint64_t nonce) { nonces_.mark_unsent(nonce); }

    // Some nonce left, or is used.
    void release();

private:
    struct Waiting {
        std::uint64_t ticket = 0;
        Hold hold;
        Task go;
    };

    // Whether it may leave now; otherwise, when only `hold` is why, it is asked again in time.
    [[nodiscard]] bool may_leave_locked(std::uint64_t nonce, const Hold& hold);
    void await_patience(std::uint64_t nonce, std::uint64_t ticket, domain::Milliseconds patience,
                        Task give_up);
    void end_patience(std::uint64_t nonce, std::uint64_t ticket, domain::Milliseconds patience,
                      Task give_up);

    Nonces& nonces_;
    ports::Executor& executor_;
    std::mutex mutex_;                               // for what follows
    std::multimap<std::uint64_t, Waiting> waiting_;  // by nonce
    std::uint64_t next_ticket_ = 0;
    bool asks_again_ = false;  // a hold
};

}  // namespace chains::evm
