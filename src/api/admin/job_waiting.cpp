#include "api/admin/job_waiting.hpp"

#include <algorithm>

namespace api::admin {

namespace {

using domain::Status;

std::string times(std::uint32_t count) {
    return count == 1 ? "once" : std::to_string(count) + " times";
}

std::string behind(std::uint64_t ahead) {
    return ahead == 0 ? "nobody is before it" : std::to_string(ahead) + " are before it";
}

Waiting in_readiness(const store::Row& row, const std::optional<domain::QueuePosition>& position) {
    const store::Schedule& schedule = row.schedule;
    if (schedule.lane == store::Lane::gate) {
        std::string what = "a place among the readiness checks";
        if (position) {
            what += ": " + behind(position->ahead) + ", " +
                    std::to_string(position->readiness_concurrency) + " run at a time";
        }
        return {what, std::nullopt};
    }
    if (schedule.claims > 0) return {"the answer to its readiness check", schedule.wake};
    std::string what = "its next readiness check";
    if (schedule.faults > 0) {
        what += ": the chain could not be asked, " + times(schedule.faults) + " in a row";
    } else if (schedule.attempts > 0) {
        what += ": not ready yet, asked " + times(schedule.attempts);
    }
    return {what, schedule.wake};
}

Waiting before_sending(const store::Row& row,
                       const std::optional<domain::QueuePosition>& position) {
    const store::Schedule& schedule = row.schedule;
    if (schedule.lane == store::Lane::gate) {
        std::string what = schedule.attempts > 0 ? "its turn to be looked up and sent again"
                                                 : "a token of the transaction rate";
        if (position) {
            what += ": " + behind(position->ahead) + ", " +
                    std::to_string(position->tx_per_second) + " per second";
        }
        return {what, std::nullopt};
    }
    if (schedule.claims > 0) return {"gas and fees to be estimated", schedule.wake};
    return {"the next try to prepare its transaction, which failed " + times(schedule.faults),
            schedule.wake};
}

Waiting in_flight(const store::Row& row) {
    const store::Schedule& schedule = row.schedule;
    if (schedule.lane == store::Lane::gate) {
        return {"its turn to be looked up and sent again", std::nullopt};
    }
    if (schedule.claims > 0) return {"the receipt of its transaction", schedule.wake};
    std::string what = "its transaction to be looked up and sent again";
    if (schedule.refused_since) {
        what += ": the nodes refuse it";
    } else if (schedule.faults > 0) {
        what += ": " + times(schedule.faults) + " without a receipt";
    }
    return {what, schedule.wake};
}

Waiting of_share(const store::Row& row) {
    switch (row.status) {
        case Status::processing:
            return {"its proof", row.schedule.wake};
        case Status::tx_in_flight:
            return {"the answer of the vote chain", row.schedule.wake};
        case Status::receipt_received:
            return {"the chain to have it in a block", row.schedule.wake};
        default:
            return {row.schedule.attempts + row.schedule.faults > 0 ? "its next try" : "its time",
                    row.schedule.wake};
    }
}

}  // namespace

std::optional<Waiting> waiting_of(const store::Row& row,
                                  const std::optional<domain::QueuePosition>& position) {
    if (domain::is_terminal(row.status)) return std::nullopt;
    if (row.kind == domain::Kind::share) return of_share(row);
    switch (row.status) {
        case Status::queued:
            return in_readiness(row, position);
        case Status::processing:
            return before_sending(row, position);
        case Status::tx_in_flight:
            return in_flight(row);
        default:
            return Waiting{"the answer of the gateway chain", row.schedule.deadline};
    }
}

}  // namespace api::admin
