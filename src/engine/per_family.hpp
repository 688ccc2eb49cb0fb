#pragma once

namespace engine {

template <typename Value>
struct PerRelayerFamily {
    Value input_proof{};
    Value public_decrypt{};
    Value user_decrypt{};

    bool operator==(const PerRelayerFamily&) const = default;
};

template <typename Value>
struct PerDecryptFamily {
    Value public_decrypt{};
    Value user_decrypt{};
};

}  // namespace engine
