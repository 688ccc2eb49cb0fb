#pragma once

#include "engine/gateway.hpp"
#include "gateway/loopback/dice.hpp"
#include "gateway/loopback/options.hpp"

namespace gateway::loopback {

// Makes the plan of a transaction: gas estimation, for shares the proof. The plan is an encoded
// Draft. Any thread.
class Preparation {
public:
    Preparation(const LoopbackOptions& options, Dice& dice) : options_(options), dice_(dice) {}

    [[nodiscard]] engine::PrepareOutcome prepare(const engine::PrepareOrder& order);

private:
    const LoopbackOptions& options_;
    Dice& dice_;
};

}  // namespace gateway::loopback
