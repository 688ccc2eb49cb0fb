#include "chains/loopback/options.hpp"

#include <array>
#include <utility>

namespace chains::loopback {
namespace {

constexpr std::array synchronous_names{
    std::pair{LedgerSynchronous::full, std::string_view{"full"}},
    std::pair{LedgerSynchronous::normal, std::string_view{"normal"}},
    std::pair{LedgerSynchronous::off, std::string_view{"off"}},
};

constexpr domain::Milliseconds latency_max{86'400'000};

std::string range_problem(std::string_view member, std::int64_t value, std::int64_t min,
                          std::int64_t max) {
    return std::string{member} + " is " + std::to_string(value) + ", must be " +
           std::to_string(min) + " to " + std::to_string(max);
}

std::optional<std::string> latency_problem(std::string_view member, const Latency& latency) {
    if (latency.min < domain::Milliseconds{0} || latency.max > latency_max ||
        latency.min > latency.max) {
        return std::string{member} + " is [" + std::to_string(latency.min.count()) + ", " +
               std::to_string(latency.max.count()) + "] ms, must rise within 0 to " +
               std::to_string(latency_max.count());
    }
    return std::nullopt;
}

std::optional<std::string> count_problem(std::string_view member, std::uint32_t value,
                                         std::uint32_t min, std::uint32_t max) {
    if (value < min || value > max) return range_problem(member, value, min, max);
    return std::nullopt;
}

std::optional<std::string> outage_problem(const Outage& outage) {
    if (outage.start < domain::Milliseconds{0}) {
        return "outages: start is " + std::to_string(outage.start.count()) +
               " ms, must not be negative";
    }
    if (outage.duration <= domain::Milliseconds{0}) {
        return "outages: duration is " + std::to_string(outage.duration.count()) +
               " ms, must be at least 1";
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> problem_of(const Options& options) {
    if (options.ledger.empty()) return "ledger is empty, must name a file";
    if (options.host_chains.empty()) return "host_chains is empty, must name at least one chain";

    if (!options.storage_url.starts_with("http://") &&
        !options.storage_url.starts_with("https://")) {
        return "storage_url is no http:// or https:// URL";
    }
    if (options.storage_prefix.empty()) return "storage_prefix is empty, must name a folder";

    const std::array latencies{
        std::pair{std::string_view{"readiness"}, options.readiness},
        std::pair{std::string_view{"prepare"}, options.prepare},
        std::pair{std::string_view{"proof"}, options.proof},
        std::pair{std::string_view{"confirmation"}, options.confirmation},
        std::pair{std::string_view{"response"}, options.response},
    };
    for (const auto& [member, latency] : latencies) {
        if (auto problem = latency_problem(member, latency)) return problem;
    }

    const std::array shares{
        std::pair{std::string_view{"unreachable_checks"}, options.unreachable_checks},
        std::pair{std::string_view{"acl_refusals"}, options.acl_refusals},
        std::pair{std::string_view{"late_readiness"}, options.late_readiness},
        std::pair{std::string_view{"unreachable_prepares"}, options.unreachable_prepares},
        std::pair{std::string_view{"estimation_reverts"}, options.estimation_reverts},
        std::pair{std::string_view{"failed_proofs"}, options.failed_proofs},
        std::pair{std::string_view{"unreachable_sends"}, options.unreachable_sends},
        std::pair{std::string_view{"lost_replies"}, options.lost_replies},
        std::pair{std::string_view{"reverts"}, options.reverts},
        std::pair{std::string_view{"shares_already_revealed"}, options.shares_already_revealed},
        std::pair{std::string_view{"proof_rejections"}, options.proof_rejections},
        std::pair{std::string_view{"missing_kms_nodes"}, options.missing_kms_nodes},
        std::pair{std::string_view{"early_answers"}, options.early_answers},
        std::pair{std::string_view{"duplicate_answers"}, options.duplicate_answers},
        std::pair{std::string_view{"foreign_answers"}, options.foreign_answers},
    };
    for (const auto& [member, share] : shares) {
        if (auto problem = count_problem(member, share, 0, 1000)) return problem;
    }

    if (auto problem = count_problem("proof_handles", options.proof_handles, 1, 255)) {
        return problem;
    }
    if (auto problem = count_problem("signatures", options.signatures, 1, 255)) return problem;
    if (auto problem = count_problem("kms_nodes", options.kms_nodes, 1, kms_nodes_max)) {
        return problem;
    }
    for (const Outage& outage : options.outages) {
        if (auto problem = outage_problem(outage)) return problem;
    }
    return std::nullopt;
}

std::string_view to_string(LedgerSynchronous synchronous) {
    for (const auto& [value, name] : synchronous_names) {
        if (value == synchronous) return name;
    }
    return "full";
}

std::optional<LedgerSynchronous> ledger_synchronous_from(std::string_view text) {
    for (const auto& [value, name] : synchronous_names) {
        if (name == text) return value;
    }
    return std::nullopt;
}

}  // namespace chains::loopback
