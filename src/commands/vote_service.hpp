#pragma once

#include <memory>

#include "config/settings.hpp"
#include "engine/gateway.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace commands {

// The chain that vote shares go to, and the threads that prove and reveal.
class VoteService {
public:
    virtual ~VoteService() = default;

    // Of the shares alone, or of everything when they share a chain with the relayer's requests.
    [[nodiscard]] virtual engine::Gateway& gateway() = 0;
    [[nodiscard]] virtual engine::VoteChain chain() = 0;
    // Look-ups under way end as soon as they can.
    virtual void stop_lookups() {}
};

// As configured: a chain of their own beside `relayer`, or the relayer's. Throws
// BadSettings that says what it could not be made of.
[[nodiscard]] std::unique_ptr<VoteService> make_vote_service(
    const config::Settings& settings, engine::Gateway& relayer, engine::RoundDirectory& rounds,
    const ports::Clock& clock, ports::Logger& logger, engine::VoteObserver& observer);

}  // namespace commands
