#pragma once

#include <atomic>

#include "chains/votes/prover/prover.hpp"

namespace chains::votes::prover {

// A hash for a proof: of the right shape, made at once and worth nothing. Equal shares get equal
// nullifiers, equal witnesses equal proofs. docs/example_prover.py makes the same ones.
class LoopbackProver : public Prover {
public:
    [[nodiscard]] ProveOutcome prove(const Witness& witness) override;
    void stop() override { stopped_ = true; }
    [[nodiscard]] std::optional<std::string> problem() const override { return std::nullopt; }

private:
    std::atomic<bool> stopped_{false};
};

}  // namespace chains::votes::prover
