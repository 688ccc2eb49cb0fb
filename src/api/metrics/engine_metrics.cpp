#include "api/metrics/engine_metrics.hpp"

#include <algorithm>
#include <string>

#include "domain/moves.hpp"
#include "engine/recovery.hpp"

namespace api::metrics {

using domain::Family;
using domain::Status;
using Bounds = MetricsOptions::Bounds;

namespace {

const Bounds commit_seconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1};
const Bounds batch_sizes{1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000};
const Bounds late_seconds{0.001, 0.002, 0.005, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3'600};

// Commits tell when something happens, and these tell it of shares alone.
bool is_of_shares_alone(const engine::StepFacts& facts) {
    return !facts.changes.empty() &&
           std::ranges::all_of(facts.changes, [](const store::Change& change) {
               return domain::family_of(change.kind) == Family::share;
           });
}

bool has(Family family, Status status) {
    return !domain::is_terminal(status) &&
           (family != Family::input_proof || status != Status::queued);
}

}  // namespace

EngineMetrics::EngineMetrics(prometheus::Registry& registry, RowMetrics& rows,
                             const MetricsOptions& options)
    : registry_(registry), rows_(rows), transactions_(registry, options) {
    if (options.shares) shares_.emplace(registry);
    auto& durations = histograms(registry, "relayer_request_status_duration_seconds",
                                 "Time spent in a status, seen when it is left.");
    for (const Family family : labels::families) {
        for (const Status status : domain::statuses) {
            if (!has(family, status) || !labels::is_shown(family, options.shares)) continue;
            durations_[labels::index_of(family)][static_cast<std::size_t>(status)] =
                &durations.Add({{"req_type", labels::req_type(family)},
                                {"previous_status", std::string(domain::to_string(status))}},
                               options.status_seconds);
        }
    }
    auto& lateness =
        histograms(registry, "posthouse_wake_lateness_seconds",
                   std::string("From the time a request was due to the time it was looked at. ") +
                       (options.shares ? "schedule: vote shares that left; " : "") +
                       "gate: second looks at a queue; timer: pauses, leases and deadlines.");
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto shown = static_cast<store::Lane>(lane);
        if (!labels::is_shown(shown, options.shares)) continue;
        lateness_[lane] = &lateness.Add({{"lane", labels::lane(shown)}}, late_seconds);
    }
    commit_seconds_ = &histograms(registry, "posthouse_commit_duration_seconds",
                                  "Commits that had something to write.")
                           .Add({}, commit_seconds);
    batch_ = &histograms(registry, "posthouse_commit_batch_size",
                         "New requests and answers of the chain that one commit took.")
                  .Add({}, batch_sizes);
    wal_bytes_ = &gauges(registry, "posthouse_wal_bytes",
                         "Write-ahead log not yet copied into the database, as of the last commit.")
                      .Add({});
    storage_errors_ = &counters(registry, "posthouse_storage_errors_total",
                                "Steps of the processor that the database did not take.")
                           .Add({});
    rounds_closed_ =
        &counters(registry, "posthouse_rounds_closed_unsubmitted_total",
                  "Vote rounds that closed before all that was stored of them left, and "
                  "further alerts of shares that came after the end.")
             .Add({});
    answers_reorganised_ =
        &counters(registry, "posthouse_answers_reorganised_total",
                  "Answers of the chain that differ from what is served already, as blocks were "
                  "replaced.")
             .Add({});
}

void EngineMetrics::recovered(const engine::recovery::Report& report) {
    auto& family = gauges(registry_, "posthouse_recovered_requests",
                          "Requests found in work at the last start, by what became of them. "
                          "suspects are in the other numbers as well.");
    const auto set = [&](const char* state, std::uint64_t requests) {
        family.Add({{"state", state}}).Set(static_cast<double>(requests));
    };
    set("in_flight", report.in_flight);
    set("processing", report.processing);
    set("queued", report.queued);
    if (shares_) set("shares", report.shares);
    set("waiting", report.waiting);
    set("quarantined", report.quarantined);
    set("suspects", report.suspects);
    // The count comes after recovery: its moves are in the count of rows already.
    for (const store::Change& change : report.changes) moved(change);
}

void EngineMetrics::stepped(const engine::StepFacts& facts) {
    for (const store::Change& change : facts.changes) {
        rows_.add(change);
        moved(change);
    }
    if (shares_) shares_->attempts_failed(facts.share_attempts_failed);
    rounds_closed_->Increment(static_cast<double>(facts.round_alerts));
    answers_reorganised_->Increment(static_cast<double>(facts.answers_reorganised));
    for (const engine::Lateness& woken : facts.woken) {
        const auto lane = static_cast<std::size_t>(woken.lane);
        if (lane >= lanes || lateness_[lane] == nullptr) continue;
        lateness_[lane]->Observe(std::max(labels::seconds(woken.late), 0.0));
    }
    for (const Family family : facts.unreachable) transactions_.unreachable(family);
    committed(facts);
}

void EngineMetrics::storage_failed() {
    storage_errors_->Increment();
}

// A purge is no move.
void EngineMetrics::moved(const store::Change& change) {
    if (!change.from || !change.to) return;
    const std::size_t family = labels::index_of(domain::family_of(change.kind));
    if (auto* duration = durations_[family][static_cast<std::size_t>(*change.from)]) {
        duration->Observe(labels::seconds(change.spent));
    }
    transactions_.add(change);
}

void EngineMetrics::committed(const engine::StepFacts& facts) {
    wal_bytes_->Set(static_cast<double>(facts.wal_bytes));
    if (facts.events == 0 && facts.changes.empty() && facts.woken.empty()) return;
    if (!shares_ && is_of_shares_alone(facts)) return;
    commit_seconds_->Observe(labels::seconds(facts.commit));
    batch_->Observe(static_cast<double>(facts.events));
}

}  // namespace api::metrics
