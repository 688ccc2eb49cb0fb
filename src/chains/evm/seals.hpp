#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/signer.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Makes sealed transactions of drafts: at once where the key is in the process, else in two halves.
// A nonce is then reserved in memory when the signature is ordered, and is the request's for good
// once the step that stores the signature is durable; of a signature that fails or comes too late
// it goes to the next request, and what was signed is dropped.
//
// A signer in trouble holds up whoever is not signed yet: a transaction that nobody could send is
// signed now and then, with growing pauses, until that works.
class Seals {
public:
    Seals(const Options& options, KeyPlace place, Signer& signer, Nonces& nonces,
          engine::TaskGroup& task_group, const ports::Clock& clock, ports::Logger& logger);

    // Before anything is ordered.
    void start(engine::GatewayEvents& events);

    // Processor thread, in the step (engine::Gateway).
    [[nodiscard]] engine::Sealed seal(const Draft& draft);
    [[nodiscard]] std::optional<std::uint64_t> fetch(const domain::RequestId& id,
                                                     const Draft& draft);
    void end(std::uint64_t ticket, bool stored);
    void keep();
    void undo();

    // Any thread. Why nothing can be signed now.
    [[nodiscard]] std::optional<engine::Unreachable> unready() const;
    [[nodiscard]] std::optional<std::string> problem() const;
    [[nodiscard]] bool is_local() const { return signer_.local() != nullptr; }
    // Signatures that are under way or not stored yet.
    [[nodiscard]] std::size_t pending() const;

private:
    struct Order {
        std::uint64_t ticket = 0;
        domain::RequestId id;
        Transaction transaction;
        bool reserved = false;  // its nonce is nobody's yet
    };
    struct Ended {
        std::uint64_t ticket = 0;
        bool stored = false;
    };
    struct Pending {
        std::optional<std::uint64_t> reserved;
        bool answered = false;
    };

    [[nodiscard]] engine::Sealed sealed(std::uint64_t nonce, domain::Bytes bytes) const;
    void begin(Order order);
    void finish(const Order& order, SignResult result);
    void give_back(const Pending& pending);

    void note(const std::optional<SignProblem>& problem);
    // False: an earlier look is planned already.
    bool plan_look_locked(domain::Milliseconds pause);
    void look(domain::Monotonic planned);
    void tell_address_locked();
    void try_out();

    const Options options_;
    const KeyPlace place_;
    Signer& signer_;
    Nonces& nonces_;
    engine::TaskGroup& task_group_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    engine::GatewayEvents* events_ = nullptr;

    // Processor thread; of this step.
    std::vector<Order> ordered_;
    std::vector<Ended> ended_;
    std::uint64_t next_ticket_;  // no other key's are the same

    mutable std::mutex mutex_;  // for what follows
    std::map<std::uint64_t, Pending> pending_;
    std::optional<SignProblem> problem_;
    std::uint32_t failures_ = 0;  // in a row
    std::optional<domain::Monotonic> next_look_;
    bool looks_ = false;  // one is under way, and plans the next
    bool told_address_ = false;
};

}  // namespace chains::evm
