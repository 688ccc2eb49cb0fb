#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::loopback {

// How long a stage takes: drawn evenly between both ends for every order, in whole milliseconds.
// Equal ends: a fixed time. 0 <= min <= max.
struct Latency {
    domain::Milliseconds min{0};
    domain::Milliseconds max{0};

    bool operator==(const Latency&) const = default;
};

[[nodiscard]] constexpr Latency fixed(domain::Milliseconds latency) {
    return {latency, latency};
}

// How many of 1000 cases are hit, by seeded dice. 0: none, 1000: all.
using Permille = std::uint32_t;

inline constexpr std::uint32_t kms_nodes_max = 60;

// `pragma synchronous` of the ledger.
enum class LedgerSynchronous { full, normal, off };

// The chain can not be reached from `start` after the process started, for `duration`.
struct Outage {
    domain::Milliseconds start{0};
    domain::Milliseconds duration{0};

    bool operator==(const Outage&) const = default;
};

struct KnownRound {
    domain::Bytes32 id{};
    domain::Timestamp vote_end{};

    bool operator==(const KnownRound&) const = default;
};

// An id as the KMS gives them: the tag of what it names, then a running number.
[[nodiscard]] constexpr domain::Bytes32 tagged_id(std::uint8_t tag, std::uint8_t number) {
    domain::Bytes32 id{};
    id.front() = tag;
    id.back() = number;
    return id;
}

// The embedded chain. Everything is off or quick by default, so that a laptop needs no setting.
struct Options {
    // File of the ledger, created with mode 0600. `:memory:` lasts as long as the gateway;
    // `file:NAME?mode=memory&cache=shared` as long as any connection in the process.
    std::string ledger = "loopback.db";
    LedgerSynchronous ledger_synchronous = LedgerSynchronous::full;
    // All dice follow from it: equal seeds and equal orders give equal outcomes.
    std::uint64_t seed = 1;

    // --- latencies, milliseconds ---
    Latency readiness = fixed(domain::Milliseconds{200});     // order to answer of one check
    Latency prepare = fixed(domain::Milliseconds{50});        // gas estimation, relayer kinds
    Latency proof = fixed(domain::Milliseconds{200});         // proof of a vote share
    Latency confirmation = fixed(domain::Milliseconds{250});  // inclusion to receipt
    Latency response = fixed(domain::Milliseconds{500});      // receipt to answer of the chain

    // --- what the chain knows ---
    // Host chains whose handles it can check. Not empty.
    std::vector<std::uint64_t> host_chains{8009};
    // Empty: every round exists and ends at rounds_end. Otherwise exactly these exist.
    std::vector<KnownRound> rounds;
    domain::Timestamp rounds_end = domain::from_unix_ms(4'102'444'800'000);  // 2100-01-01 UTC

    // What GET /v2/keyurl points to (relayer-api 1.12). The chain has no storage of its own, and
    // the default host resolves nowhere: name one that holds keys to let clients encrypt.
    std::string storage_url = "https://kms.invalid/loopback";  // http:// or https://
    std::string storage_prefix = "PUB";                        // not empty
    domain::Bytes32 key_id = tagged_id(0x04, 3);
    domain::Bytes32 crs_id = tagged_id(0x05, 4);

    // --- shape of its answers ---
    std::uint32_t proof_handles = 1;  // handles of an accepted input proof, 1..255
    std::uint32_t signatures = 3;     // signatures of an answer that carries a list, 1..255
    std::uint32_t kms_nodes = 13;     // shares of a user decryption, 1..60

    // --- faults of readiness checks, permille, 0..1000 ---
    Permille unreachable_checks = 0;    // of the checks
    Permille acl_refusals = 0;          // of the requests: refused by the host ACL, for good
    Permille late_readiness = 0;        // of the requests: not ready at first …
    std::uint32_t not_ready_tries = 3;  // … for so many tries of each process run

    // --- faults of preparing, permille, 0..1000 ---
    Permille unreachable_prepares = 0;  // of the preparations
    Permille estimation_reverts = 0;    // of the relayer requests: estimation reverts, for good
    Permille failed_proofs = 0;         // of the share proofs: proving fails this time

    // --- faults of sending, permille, 0..1000 ---
    Permille unreachable_sends = 0;        // of the sends: nothing was included
    Permille lost_replies = 0;             // of the inclusions: included, but nobody hears of it
    Permille reverts = 0;                  // of the transactions: included and reverted
    Permille shares_already_revealed = 0;  // of the shares: another helper was faster (code 2)

    // --- faults of answers, permille, 0..1000 ---
    Permille proof_rejections = 0;   // of the input proofs: found to be wrong
    Permille missing_kms_nodes = 0;  // of the KMS nodes, rounded down: never answer
    Permille early_answers = 0;      // of the requests: answered at inclusion, before the receipt
    Permille duplicate_answers = 0;  // of the requests: every answer comes twice
    Permille foreign_answers = 0;    // of the requests: followed by an answer nobody asked for

    // While one lasts every order is Unreachable and answers wait. May overlap.
    std::vector<Outage> outages;

    bool operator==(const Options&) const = default;
};

// Nothing when every member is in its range, otherwise the member, its value and the range.
[[nodiscard]] std::optional<std::string> problem_of(const Options& options);

[[nodiscard]] std::string_view to_string(LedgerSynchronous synchronous);
[[nodiscard]] std::optional<LedgerSynchronous> ledger_synchronous_from(std::string_view text);

}  // namespace chains::loopback
