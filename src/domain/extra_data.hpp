#pragma once

#include <optional>

#include "domain/bytes.hpp"

namespace domain {

// The KMS context that a share's extra data names; nothing stands for context 0, whose threshold is
// configured.
struct KmsContext {
    std::optional<Bytes32> id;

    bool operator==(const KmsContext&) const = default;
};

// Nothing when malformed. Bytes behind the known layouts are tolerated (evm-gateway 9.4).
[[nodiscard]] std::optional<KmsContext> kms_context_of(ByteView extra_data);

}  // namespace domain
