#pragma once

#include "chains/loopback/options.hpp"
#include "chains/loopback/seeded_random.hpp"
#include "engine/gateway.hpp"

namespace chains::loopback {

// Makes the plan of a transaction: gas estimation, for shares the proof. The plan is an encoded
// Draft. Any thread.
class Preparation {
public:
    Preparation(const Options& options, SeededRandom& random)
        : options_(options), random_(random) {}

    [[nodiscard]] engine::PrepareOutcome prepare(const engine::PrepareOrder& order);

private:
    const Options options_;
    SeededRandom& random_;
};

}  // namespace chains::loopback
