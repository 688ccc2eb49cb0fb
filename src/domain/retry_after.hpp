#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/kind.hpp"
#include "domain/status.hpp"
#include "domain/time.hpp"

namespace domain {

// One row of the table that paces polls after the receipt.
struct BackoffInterval {
    std::uint32_t elapsed_threshold_seconds = 0;
    std::uint32_t retry_interval_seconds = 0;

    bool operator==(const BackoffInterval&) const = default;
};

// relayer-api 5.1; the names of its configuration keys.
struct RetryAfterOptions {
    std::uint32_t min_seconds = 1;
    std::uint32_t max_seconds = 300;
    std::uint32_t safety_margin_permille = 200;
    Milliseconds readiness_check{4'000};
    Milliseconds input_proof_processing{2'000};
    Milliseconds user_decrypt_processing{6'000};
    Milliseconds public_decrypt_processing{6'000};
    Milliseconds tx_confirmation{250};
    std::vector<BackoffInterval> copro_kms_backoff_intervals{
        {0, 4}, {60, 10}, {120, 30}, {300, 60}, {900, 300}};

    bool operator==(const RetryAfterOptions&) const = default;
};

// Nothing when the options keep the rules of relayer-api 5.7, otherwise what is wrong with them.
[[nodiscard]] std::optional<std::string> problem_of(const RetryAfterOptions& options);

// Where a request stands between the gates.
enum class Stage {
    readiness_queue,
    readiness_check,  // the check runs, or pauses between two tries
    tx_queue,
    sending,
    response,
    done,
};

struct QueuePosition {
    Family family = Family::input_proof;
    Stage stage = Stage::tx_queue;
    std::uint64_t ahead = 0;                  // how many come first in the queue of the stage
    std::uint64_t tx_queue_size = 0;          // of the family, now
    std::uint64_t tx_per_second = 0;          // 0: not moving, the wait counts as the maximum
    std::uint64_t readiness_concurrency = 0;  // same
    std::int64_t seconds_in_status = 0;
};

// Milliseconds before margin and clamp; nothing for `response` and `done`. Saturates.
[[nodiscard]] std::optional<std::uint64_t> raw_eta_ms(const QueuePosition&,
                                                      const RetryAfterOptions&);

// Whole seconds (relayer-api 5.2), integer arithmetic: ceil once, then clamp. `done` gives 0.
[[nodiscard]] std::uint32_t retry_after_seconds(const QueuePosition&, const RetryAfterOptions&);

}  // namespace domain
