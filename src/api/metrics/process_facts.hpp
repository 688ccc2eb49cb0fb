#pragma once

#include <optional>

namespace api::metrics {

// What the kernel says about this process.
struct ProcessFacts {
    double resident_bytes = 0;
    double open_descriptors = 0;
    double start_unix_seconds = 0;
};

// Reads /proc; nothing where that is not to be had.
[[nodiscard]] std::optional<ProcessFacts> process_facts();

}  // namespace api::metrics
