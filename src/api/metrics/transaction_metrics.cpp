#include "api/metrics/transaction_metrics.hpp"

#include <string>

namespace api::metrics {

using domain::Family;
using domain::Reason;
using domain::Status;

namespace {

prometheus::Labels error_labels(std::string error_type, std::string_view revert_category,
                                std::string request_type) {
    return {{"error_type", std::move(error_type)},
            {"revert_category", std::string(revert_category)},
            {"request_type", std::move(request_type)}};
}

}  // namespace

TransactionMetrics::TransactionMetrics(prometheus::Registry& registry,
                                       const MetricsOptions& options) {
    auto& counts =
        counters(registry, "relayer_transaction_count",
                 "Transactions that got their receipt (confirmed), and requests that failed while "
                 "theirs was prepared or sent (failed). Without vote shares.");
    auto& times = histograms(registry, "relayer_transaction_duration_secs",
                             "From signing to the receipt or the failure; after a restart from the "
                             "look-up that came first. Without vote shares.");
    auto& errors = counters(registry, "relayer_transaction_errors_total",
                            "transport_error: one try met trouble on the way and is repeated. All "
                            "others: the request failed for it. Without vote shares.");
    auto& unreachable = counters(registry, "posthouse_gateway_unreachable_total",
                                 "Preparations and sends that met trouble on the way, by what they "
                                 "were for; each is repeated.");

    const auto outcome = [&](Family family, const std::string& status) {
        const std::string type = labels::transaction_type(family);
        return Outcome{&counts.Add({{"transaction_type", type}, {"transaction_status", status}}),
                       &times.Add({{"transaction_type", type}, {"status", status}},
                                  options.transaction_seconds)};
    };
    for (const Family family : labels::relayer_families) {
        OfFamily& of = of_[labels::index_of(family)];
        of.confirmed = outcome(family, "confirmed");
        of.failed = outcome(family, "failed");
        const std::string request_type = labels::req_type(family);
        for (std::size_t i = 0; i < labels::revert_categories.size(); ++i) {
            of.reverted[i] =
                &errors.Add(error_labels("reverted", labels::revert_categories[i], request_type));
        }
        of.reverted_acl =
            &errors.Add(error_labels("reverted_acl_selector", "unknown", request_type));
    }
    for (const Family family : labels::families) {
        if (!labels::is_shown(family, options.shares)) continue;
        unreachable_[labels::index_of(family)] =
            &unreachable.Add({{"req_type", labels::req_type(family)}});
    }
    // On the way, and before there is a revert, the reference does not know what it sends.
    transport_error_ = &errors.Add(error_labels("transport_error", "", "unknown"));
    max_retries_exceeded_ = &errors.Add(error_labels("max_retries_exceeded", "", "unknown"));
    invalid_address_ = &errors.Add(error_labels("invalid_address", "", "unknown"));
    rpc_error_ = &errors.Add(error_labels("rpc_error", "", "unknown"));
    unknown_error_ = &errors.Add(error_labels("unknown_error", "", "unknown"));
}

void TransactionMetrics::add(const store::Change& change) {
    const Family family = domain::family_of(change.kind);
    if (family == Family::share) return;
    OfFamily& of = of_[labels::index_of(family)];
    if (change.from == Status::tx_in_flight && change.to == Status::receipt_received) {
        of.confirmed.count->Increment();
        of.confirmed.seconds->Observe(labels::seconds(change.spent));
    } else if (change.to == Status::failure &&
               (change.from == Status::processing || change.from == Status::tx_in_flight)) {
        failed(of, change);
    }
}

void TransactionMetrics::failed(OfFamily& of, const store::Change& change) {
    of.failed.count->Increment();
    if (change.from == Status::tx_in_flight) {
        of.failed.seconds->Observe(labels::seconds(change.spent));
    }
    const Reason reason = change.reason.value_or(Reason::internal_error);
    if (reason == Reason::reverted && change.selector == labels::acl_selector) {
        of.reverted_acl->Increment();
    } else if (reason == Reason::reverted) {
        of.reverted[labels::revert_category_of(change.selector)]->Increment();
    } else if (reason == Reason::send_failed) {
        max_retries_exceeded_->Increment();
    } else if (reason == Reason::no_contract_code) {
        invalid_address_->Increment();
    } else if (reason == Reason::rpc_error) {
        rpc_error_->Increment();
    } else {
        unknown_error_->Increment();
    }
}

void TransactionMetrics::unreachable(Family family) {
    if (auto* counter = unreachable_[labels::index_of(family)]) counter->Increment();
    if (family != Family::share) transport_error_->Increment();
}

}  // namespace api::metrics
