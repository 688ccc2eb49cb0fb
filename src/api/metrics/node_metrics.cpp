#include "api/metrics/node_metrics.hpp"

#include <algorithm>
#include <optional>

#include "api/metrics/labels.hpp"
#include "api/metrics/metrics.hpp"

namespace api::metrics {

void add_node(SampledFamilies& families, const cluster::NodeState& node, domain::Timestamp now) {
    const auto gauge = [&families](const char* name, const char* help, double value) {
        families.gauge(name, help);
        families.value(value);
    };
    const auto counter = [&families](const char* name, const char* help, std::uint64_t value) {
        families.counter(name, help);
        families.value(static_cast<double>(value));
    };
    families.gauge("posthouse_cluster_role", "1 for what the node is, 0 for what it is not.");
    for (const cluster::Role role : {cluster::Role::owner, cluster::Role::follower}) {
        families.value(node.role == role ? 1 : 0, {{"role", std::string(to_string(role))}});
    }
    gauge("posthouse_cluster_epoch", "How many owners the book has had, this one included.",
          node.owner ? static_cast<double>(node.owner->epoch) : 0);
    gauge("posthouse_cluster_entry", "The last entry of the journal in the file of this node.",
          static_cast<double>(node.seq));
    gauge("posthouse_cluster_entries_behind", "Acknowledged entries that the file lacks.",
          static_cast<double>(node.behind));
    if (node.last_entry) {
        gauge("posthouse_cluster_last_entry_age_seconds",
              "Since the owner decided the last entry in the file, by its clock.",
              std::max(labels::seconds(now - *node.last_entry), 0.0));
    }
    gauge("posthouse_cluster_database_reached", "1 while the database answers.",
          node.reaches_database ? 1 : 0);
    families.gauge("posthouse_cluster_obstacle",
                   "1 for what keeps the node from following, or from owning the book that nobody "
                   "owns; none while nothing does.");
    families.value(1, {{"why", std::string(to_string(node.obstacle))}});
    counter("posthouse_cluster_takeovers_total", "How often this node has become the owner.",
            node.takeovers);
    gauge("posthouse_cluster_journal_on_one_disk",
          "1 while the database acknowledges on one disk only, and nothing is decided.",
          node.journal.one_disk ? 1 : 0);
    if (node.role != cluster::Role::owner) return;
    counter("posthouse_cluster_journal_entries_total", "Entries of this ownership.",
            node.journal.entries);
    counter("posthouse_cluster_journal_bytes_total", "Their bytes, encrypted.", node.journal.bytes);
    counter("posthouse_cluster_journal_settled_total",
            "Entries whose fate had to be read from the database.", node.journal.settled);
    gauge("posthouse_cluster_journal_latency_seconds",
          "From the last entry to its acknowledgement by the database.",
          labels::seconds(node.journal.last_latency));
}

void add_process(SampledFamilies& families, const ProcessFacts& process) {
    const auto add = [&](const char* name, const char* help, std::optional<double> value) {
        if (!value) return;
        families.gauge(name, help);
        families.value(*value);
    };
    add("process_resident_memory_bytes", "Resident memory size in bytes.", process.resident_bytes);
    add("process_open_fds", "Number of open file descriptors.", process.open_descriptors);
    add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        process.start_unix_seconds);
}

std::string follower_exposition(const cluster::NodeState& node, domain::Timestamp now,
                                const ProcessFacts& process) {
    SampledFamilies families;
    add_node(families, node, now);
    add_process(families, process);
    return as_text(families.take());
}

}  // namespace api::metrics
