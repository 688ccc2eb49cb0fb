#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "chains/evm/options.hpp"
#include "chains/evm/signer.hpp"
#include "domain/bytes.hpp"
#include "ports/clock.hpp"

namespace chains::evm::signers {

// One of those the options name, whose connections it uses; asks nobody yet. Throws
// std::invalid_argument when the key or a URL is none, std::runtime_error naming a file that can
// not be used. The clock has to outlive it.
[[nodiscard]] std::unique_ptr<Signer> make_signer(const Options& options,
                                                  const Options::Signing& signing,
                                                  const ports::Clock& clock);
// Its account, where that is known before anybody is asked. Throws std::invalid_argument when the
// key is none.
[[nodiscard]] std::optional<domain::Address> configured_account(const Options::Signing& signing);
// All of them.
[[nodiscard]] std::vector<std::unique_ptr<Signer>> make_signers(const Options& options,
                                                                const ports::Clock& clock);

}  // namespace chains::evm::signers
