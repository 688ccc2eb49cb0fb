#pragma once

#include <memory>

#include "chains/votes/options.hpp"
#include "chains/votes/prover/prover.hpp"
#include "ports/logger.hpp"

namespace chains::votes::prover {

// Throws std::invalid_argument, without secrets, when the options can not work here: the program is
// not there or may not be executed, the URL is none. `log` gets what a prover wrote to its
// standard error before a proof failed.
[[nodiscard]] std::unique_ptr<Prover> make_prover(const ProverOptions& options,
                                                  ports::Logger& logger);

}  // namespace chains::votes::prover
