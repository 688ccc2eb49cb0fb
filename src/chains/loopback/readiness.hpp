#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "chains/loopback/options.hpp"
#include "chains/loopback/seeded_random.hpp"
#include "engine/gateway.hpp"

namespace chains::loopback {

// Answers readiness checks of decrypts: host chain known, access list, ciphertext there. Any
// thread.
class Readiness {
public:
    Readiness(const Options& options, SeededRandom& random);

    [[nodiscard]] engine::CheckOutcome check(const engine::CheckOrder& order);

private:
    [[nodiscard]] std::optional<engine::Rejected> unknown_chain(const domain::Request&) const;
    [[nodiscard]] std::optional<engine::Rejected> refusal(const domain::Request&) const;
    [[nodiscard]] bool is_late(const engine::CheckOrder& order);

    const Options options_;
    SeededRandom& random_;
    std::mutex mutex_;
    // How often a late request was asked for; forgotten once it is ready.
    std::unordered_map<std::int64_t, std::uint32_t> tries_;
};

}  // namespace chains::loopback
