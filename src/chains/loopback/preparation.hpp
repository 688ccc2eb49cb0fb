#pragma once

#include "chains/loopback/dice.hpp"
#include "chains/loopback/options.hpp"
#include "engine/gateway.hpp"

namespace chains::loopback {

// Makes the plan of a transaction: gas estimation, for shares the proof. The plan is an encoded
// Draft. Any thread.
class Preparation {
public:
    Preparation(const LoopbackOptions& options, Dice& dice) : options_(options), dice_(dice) {}

    [[nodiscard]] engine::PrepareOutcome prepare(const engine::PrepareOrder& order);

private:
    const LoopbackOptions options_;
    Dice& dice_;
};

}  // namespace chains::loopback
