#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "chains/evm/nonces.hpp"
#include "domain/time.hpp"
#include "ports/executor.hpp"

namespace chains::evm {

// Lets transactions leave in order of their nonces: one that comes to the node before a smaller
// nonce is refused there, or blocks whoever sent it until that one comes. Any thread.
class NonceOrder {
public:
    using Task = std::function<void()>;

    NonceOrder(Nonces& nonces, ports::Executor& executor);

    // Runs `go` on the executor when every smaller nonce that is held has left; when that takes
    // longer than `patience`, runs `give_up` instead.
    void run_in_order(std::uint64_t nonce, domain::Milliseconds patience, Task go, Task give_up);

    // It did not reach the node after all, or may not have.
    void mark_unsent(std::uint64_t nonce) { nonces_.mark_unsent(nonce); }

    // Some nonce left, or is used.
    void release();

private:
    struct Waiting {
        std::uint64_t ticket = 0;
        Task go;
    };

    void end_patience(std::uint64_t nonce, std::uint64_t ticket, const Task& give_up);

    Nonces& nonces_;
    ports::Executor& executor_;
    std::mutex mutex_;                               // for what follows
    std::multimap<std::uint64_t, Waiting> waiting_;  // by nonce
    std::uint64_t next_ticket_ = 0;
};

}  // namespace chains::evm
