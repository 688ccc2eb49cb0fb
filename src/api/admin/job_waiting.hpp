#pragma once

#include <optional>
#include <string>

#include "domain/retry_after.hpp"
#include "domain/time.hpp"
#include "store/rows.hpp"

namespace api::admin {

// What a request waits for, as an end of a sentence that begins with `waits for`.
struct Waiting {
    std::string what;
    std::optional<domain::Timestamp> until;  // then it is looked at again, or given up
};

// Nothing when it has ended. `position`: from the queues in memory, while a process runs.
[[nodiscard]] std::optional<Waiting> waiting_of(
    const store::Row& row, const std::optional<domain::QueuePosition>& position);

}  // namespace api::admin
