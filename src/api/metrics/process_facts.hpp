#pragma once

#include <optional>

namespace api::metrics {

// What the kernel says about this process in /proc; each nothing where it is not to be had.
struct ProcessFacts {
    std::optional<double> resident_bytes;
    std::optional<double> open_descriptors;
    std::optional<double> start_unix_seconds;
};

[[nodiscard]] ProcessFacts process_facts();

}  // namespace api::metrics
