#include "domain/retry_after.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string_view>

namespace domain {
namespace {

// Wide enough for every product below, whatever the inputs, so that nothing has to be rounded
// early.
__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t min_seconds_min = 1;
constexpr std::uint32_t max_seconds_max = 86'400;
constexpr std::uint32_t permille = 1'000;
constexpr std::uint64_t ms_per_second = 1'000;

// Milliseconds as an exact fraction; numerator below 2^74.
struct Wait {
    Wide numerator = 0;
    std::uint64_t denominator = 1;
};

// Both queue waits stay apart, since their sum over one denominator would not fit.
struct Eta {
    Wide fixed_ms = 0;  // below 2^66
    Wait readiness;
    Wait sending;
};

Wide non_negative(Milliseconds time) {
    return static_cast<Wide>(std::max<Milliseconds::rep>(time.count(), 0));
}

Wait wait_for(std::uint64_t items, std::uint64_t per_second, const RetryAfterOptions& options) {
    if (per_second == 0) return {.numerator = Wide{options.max_seconds} * ms_per_second};
    return {.numerator = Wide{items} * ms_per_second, .denominator = per_second};
}

Milliseconds processing_time(Family family, const RetryAfterOptions& options) {
    switch (family) {
        case Family::input_proof:
            return options.input_proof_processing;
        case Family::public_decrypt:
            return options.public_decrypt_processing;
        case Family::user_decrypt:
            return options.user_decrypt_processing;
        case Family::share:
            break;  // answered at once, never polled
    }
    return Milliseconds{0};
}

std::optional<Eta> eta_of(const QueuePosition& position, const RetryAfterOptions& options) {
    const Wide processing = non_negative(processing_time(position.family, options));
    const Wide sent = processing + non_negative(options.tx_confirmation);
    const std::uint64_t rate = position.tx_per_second;
    switch (position.stage) {
        case Stage::readiness_queue:
            return Eta{
                .fixed_ms = sent,
                .readiness = wait_for(position.ahead, position.readiness_concurrency, options),
                .sending = wait_for(position.tx_queue_size, rate, options)};
        case Stage::readiness_check:
            return Eta{.fixed_ms = sent + non_negative(options.readiness_check),
                       .readiness = {},
                       .sending = wait_for(position.tx_queue_size, rate, options)};
        case Stage::tx_queue:
            return Eta{.fixed_ms = sent,
                       .readiness = {},
                       .sending = wait_for(position.ahead, rate, options)};
        case Stage::sending:
            return Eta{.fixed_ms = processing, .readiness = {}, .sending = {}};
        case Stage::response:
        case Stage::done:
            break;
    }
    return std::nullopt;
}

// ceil(eta · factor / divisor), for a factor below 2^34.
Wide ceil_scaled(const Eta& eta, Wide factor, Wide divisor) {
    const Wide a = eta.readiness.numerator * factor;
    const Wide b = eta.sending.numerator * factor;
    const Wide a_denominator = eta.readiness.denominator;
    const Wide b_denominator = eta.sending.denominator;
    assert(a_denominator > 0 && b_denominator > 0 && divisor > 0);
    const Wide a_rest = a % a_denominator;
    const Wide b_rest = b % b_denominator;
    Wide whole = eta.fixed_ms * factor + a / a_denominator + b / b_denominator;

    // The two rests are fractions below one: compares the first with what the second lacks to one.
    const Wide a_scaled = a_rest * b_denominator;
    const Wide b_lack_scaled = (b_denominator - b_rest) * a_denominator;
    assert(a_rest < a_denominator && b_rest < b_denominator);
    if (a_scaled >= b_lack_scaled) ++whole;
    const bool fraction = (a_rest != 0 || b_rest != 0) && a_scaled != b_lack_scaled;
    return whole / divisor + (fraction || whole % divisor != 0 ? 1 : 0);
}

std::uint32_t clamped(Wide seconds, const RetryAfterOptions& options) {
    const Wide raised = std::max(seconds, Wide{options.min_seconds});
    return static_cast<std::uint32_t>(std::min(raised, Wide{options.max_seconds}));
}

std::uint32_t backoff_seconds(std::int64_t elapsed, const RetryAfterOptions& options) {
    const auto& intervals = options.copro_kms_backoff_intervals;
    if (intervals.empty()) return options.min_seconds;
    assert(elapsed >= 0);
    std::uint32_t seconds = intervals.front().retry_interval_seconds;
    for (const BackoffInterval& interval : intervals) {
        if (interval.elapsed_threshold_seconds > elapsed) break;
        seconds = interval.retry_interval_seconds;
    }
    return seconds;
}

std::optional<std::string> problem_of_time(std::string_view name, Milliseconds time) {
    if (time.count() >= 0) return std::nullopt;
    return std::string{name} + " is " + std::to_string(time.count()) + " ms: set it to 0 or more";
}

std::optional<std::string> problem_of(const std::vector<BackoffInterval>& intervals) {
    const std::string name = "copro_kms_backoff_intervals";
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const std::string entry = name + "[" + std::to_string(i) + "]";
        const std::uint32_t threshold = intervals[i].elapsed_threshold_seconds;
        if (intervals[i].retry_interval_seconds < 1) {
            return entry + ".retry_interval_seconds is 0: set it to 1 or more";
        }
        if (i > 0 && threshold <= intervals[i - 1].elapsed_threshold_seconds) {
            return entry + ".elapsed_threshold_seconds is " + std::to_string(threshold) +
                   ", not above " + std::to_string(intervals[i - 1].elapsed_threshold_seconds) +
                   " of the entry before it: list the thresholds in strictly ascending order";
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> problem_of(const RetryAfterOptions& options) {
    const std::string min = std::to_string(options.min_seconds);
    const std::string max = std::to_string(options.max_seconds);
    if (options.min_seconds < min_seconds_min) {
        return "min_seconds is " + min + ": set it to " + std::to_string(min_seconds_min) +
               " or more";
    }
    if (options.max_seconds > max_seconds_max) {
        return "max_seconds is " + max + ": set it to " + std::to_string(max_seconds_max) +
               " or less";
    }
    if (options.min_seconds >= options.max_seconds) {
        return "min_seconds is " + min + ", not below max_seconds (" + max +
               "): lower min_seconds or raise max_seconds";
    }
    if (options.safety_margin_permille > permille) {
        return "safety_margin is " + std::to_string(options.safety_margin_permille) +
               " permille: set it to a value from 0 to 1 (0 to 1000 permille)";
    }

    struct Named {
        std::string_view name;
        Milliseconds time;
    };
    for (const Named& nominal :
         {Named{"readiness_check_seconds", options.readiness_check},
          Named{"input_proof_processing_seconds", options.input_proof_processing},
          Named{"user_decrypt_processing_seconds", options.user_decrypt_processing},
          Named{"public_decrypt_processing_seconds", options.public_decrypt_processing},
          Named{"tx_confirmation_ms", options.tx_confirmation}}) {
        if (auto problem = problem_of_time(nominal.name, nominal.time)) return problem;
    }
    return problem_of(options.copro_kms_backoff_intervals);
}

std::optional<std::uint64_t> raw_eta_ms(const QueuePosition& position,
                                        const RetryAfterOptions& options) {
    const auto eta = eta_of(position, options);
    if (!eta) return std::nullopt;
    constexpr Wide most = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::min(ceil_scaled(*eta, 1, 1), most));
}

std::uint32_t retry_after_seconds(const QueuePosition& position, const RetryAfterOptions& options) {
    if (position.stage == Stage::done) return 0;
    const auto eta = eta_of(position, options);
    if (!eta) {
        const std::int64_t elapsed = std::max<std::int64_t>(position.seconds_in_status, 0);
        return clamped(backoff_seconds(elapsed, options), options);
    }
    const Wide factor = Wide{permille} + options.safety_margin_permille;
    return clamped(ceil_scaled(*eta, factor, Wide{permille} * ms_per_second), options);
}

}  // namespace domain
