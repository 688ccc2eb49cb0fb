#include "cluster/lease_keeper.hpp"

#include <string>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"

namespace cluster {

using domain::Milliseconds;

std::optional<std::string> why_lost(const Ownership& self, const std::optional<Owner>& owner) {
    if (!owner) return "the database does not know the book";
    if (owner->instance == self.instance) return std::nullopt;
    if (owner->node == self.node) {
        return "another process owns the book under this node's name; each node has its own";
    }
    return "the node " + owner->node + " owns the book now";
}

LeaseKeeper::LeaseKeeper(Database& database, Lease& lease, const LeaseOptions& options,
                         Ownership self, const ports::Clock& clock, ports::Logger& logger)
    : database_(database),
      lease_(lease),
      options_(options),
      self_(std::move(self)),
      clock_(clock),
      logger_(logger) {}

Milliseconds LeaseKeeper::step(std::int64_t stable) {
    const domain::Monotonic sent = clock_.monotonic();
    const auto outcome = database_.renew(lease_.epoch(), stable);
    std::string problem;
    if (std::holds_alternative<Renewed>(outcome)) {
        lease_.renewed(sent);
    } else if (std::holds_alternative<Fenced>(outcome)) {
        look_who_owns();
    } else if (const auto* unavailable = std::get_if<Unavailable>(&outcome)) {
        problem = unavailable->reason;
    } else {
        problem = std::get<Unknown>(outcome).reason;
    }
    if (problem.empty() == failing_) {
        failing_ = !problem.empty();
        logger_.write(failing_ ? ports::LogLevel::warning : ports::LogLevel::info,
                      failing_ ? "lease_not_renewed error=" + base::log_value(problem)
                               : "lease_renewed_again");
    }
    return lease_.is_held() ? options_.renewal_pause() : Milliseconds::zero();
}

// The journal's connection raises the epoch when it has to know what became of an entry.
void LeaseKeeper::look_who_owns() {
    const auto read = database_.read_owner();
    const auto* owner = std::get_if<std::optional<Owner>>(&read);
    if (owner == nullptr) return;  // the lease runs on meanwhile
    if (auto why = why_lost(self_, *owner)) lease_.end(*std::move(why));
}

}  // namespace cluster
