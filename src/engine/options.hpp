#pragma once

#include <cstdint>

#include "domain/retry_after.hpp"
#include "domain/retry_policy.hpp"
#include "domain/time.hpp"
#include "engine/per_family.hpp"

namespace engine {

// A gate that limits how many run at once (relayer-api 4.3).
struct ReadinessGateOptions {
    std::uint32_t max_concurrency = 250;
    std::uint32_t capacity = 11'000;      // POSTs are refused from capacity - safety_margin on
    std::uint32_t safety_margin = 1'000;  // less than capacity
};

// A gate that limits how many leave per second (relayer-api 4.2).
struct SendGateOptions {
    std::uint32_t per_seconds = 20;
    std::uint32_t burst = 0;  // most that leave at once after idling; 0: as many as per_seconds
    std::uint32_t capacity = 11'000;
    std::uint32_t safety_margin = 1'000;
};

struct ShareOptions {
    std::uint32_t max_concurrent_proofs = 2;
    // Failed attempts before a share is given up, and the pause after the first of them; it doubles
    // each time, five times at most (share-helper 3.1).
    std::uint32_t attempts_max = domain::share_attempts_max;
    domain::Milliseconds backoff_first{2'000};
    // Spend an attempt also on connection trouble (share-helper 3.1 to the letter).
    bool strict_attempts = false;
    // A share is completed when the chain's record of it was seen, not when a node admitted it
    // (engine/confirmations.hpp): how long after that it is looked up first, how long again after a
    // look-up, and how many of them at once.
    bool confirm_reveals = false;
    domain::Milliseconds confirm_after{10'000};
    domain::Milliseconds confirm_pause{15'000};
    std::uint32_t confirms_max = 2;
    // Alerts of rounds say how many shares were only admitted; without confirm_reveals.
    bool tell_unconfirmed = false;
    // How long before the second of a share the gateway hears of its proof; 0: it needs no time to
    // get ready.
    domain::Milliseconds prover_lead{0};
    // Log, beside what ended and why, how many shares there are and when they leave.
    bool expose_timing = false;
};

struct RetentionOptions {
    bool expiry_enabled = false;
    domain::Milliseconds input_proof{std::chrono::hours{24 * 7}};
    domain::Milliseconds public_decrypt{std::chrono::hours{24 * 365}};
    domain::Milliseconds user_decrypt{std::chrono::hours{24 * 7}};
    domain::Milliseconds share{0};  // counted from the end of the round; always on
};

struct Options {
    PerDecryptFamily<ReadinessGateOptions> readiness;
    PerRelayerFamily<SendGateOptions> sending;
    bool fair_queues = false;       // clients take turns inside each queue
    std::uint32_t sends_max = 100;  // transactions in flight at once, all kinds

    // Clean "not ready" answers before a decrypt times out, and the pause between two tries.
    std::uint32_t readiness_attempts_max = 75;
    domain::Milliseconds readiness_pause{3'000};
    // Trouble on the way costs no attempt: pauses grow up to the maximum until the deadline.
    domain::RetryPolicy unreachable_pause{domain::Milliseconds{500}, domain::Milliseconds{30'000}};
    // The longest pause of what was signed: others wait behind its nonce.
    domain::Milliseconds sealed_pause_max{5'000};
    // From the first check on.
    PerDecryptFamily<domain::Milliseconds> readiness_timeout{std::chrono::minutes{30},
                                                             std::chrono::minutes{30}};
    // From the first trouble before anything was signed.
    domain::Milliseconds sending_timeout{std::chrono::minutes{30}};
    // From the first try that reached no node, before anything was signed; any answer ends it.
    domain::Milliseconds unreachable_limit{std::chrono::minutes{30}};
    // From the receipt on.
    PerRelayerFamily<domain::Milliseconds> response_timeout{
        std::chrono::minutes{30}, std::chrono::minutes{30}, std::chrono::minutes{30}};
    // A worker that did not answer by then is given up on and its work started again.
    domain::Milliseconds lease{std::chrono::minutes{10}};

    std::uint32_t user_decrypt_shares_threshold = 9;
    ShareOptions shares;

    domain::RetryAfterOptions retry_after;
    std::uint32_t api_retry_after_seconds = 4;  // on 429

    std::uint32_t inbox_capacity = 4'096;  // accepted requests that wait for a commit; beyond: 503
    domain::Milliseconds maintenance_interval{30'000};
    RetentionOptions retention;
    // Answers for requests nobody here knows are forgotten after this time.
    domain::Milliseconds early_answer_lifetime{std::chrono::hours{1}};

    // A wall clock that leaps ahead by more than this is not believed at once …
    domain::Milliseconds clock_leap{60'000};
    // … but only after it stayed there for so long.
    domain::Milliseconds clock_leap_hold{std::chrono::minutes{5}};

    // A request the process died on so often is failed; one below that it runs alone.
    std::uint32_t crashes_max = 5;
};

}  // namespace engine
