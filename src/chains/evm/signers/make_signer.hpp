#pragma once

#include <memory>

#include "chains/evm/options.hpp"
#include "chains/evm/signer.hpp"
#include "ports/clock.hpp"

namespace chains::evm::signers {

// The one the options name; asks nobody yet. Throws std::invalid_argument when the key or a URL is
// none, std::runtime_error naming a file that can not be used. The clock has to outlive it.
[[nodiscard]] std::unique_ptr<Signer> make_signer(const Options& options,
                                                  const ports::Clock& clock);

}  // namespace chains::evm::signers
