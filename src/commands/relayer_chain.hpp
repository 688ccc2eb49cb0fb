#pragma once

#include <memory>

#include "config/settings.hpp"
#include "engine/approvals.hpp"
#include "engine/contract_signatures.hpp"
#include "engine/gateway.hpp"
#include "engine/key_material.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace commands {

// The chain requests go to, and the threads that work for it.
class RelayerChain {
public:
    virtual ~RelayerChain() = default;

    [[nodiscard]] virtual engine::Gateway& gateway() = 0;
    [[nodiscard]] virtual engine::RoundDirectory& rounds() = 0;
    [[nodiscard]] virtual engine::KeyDirectory& keys() = 0;
    [[nodiscard]] virtual engine::ContractSignatures& contracts() = 0;
    [[nodiscard]] virtual engine::Approvals& approvals() = 0;
};

// Of the configured type. Throws BadSettings or what an open of its files throws.
[[nodiscard]] std::unique_ptr<RelayerChain> make_relayer_chain(const config::Settings& settings,
                                                               ports::Clock& clock,
                                                               ports::Logger& logger);

}  // namespace commands
