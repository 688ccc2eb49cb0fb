#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace engine {

// Which alert of a round: 0 is that of its end; else the one that tells of so many shares that came
// after the end, those of earlier alerts included.
struct AlertMark {
    std::int64_t round = 0;  // key of the stored round
    std::uint64_t late = 0;

    bool operator==(const AlertMark&) const = default;
};

// A round ended with shares that were not revealed (share-helper 3.3).
struct RoundAlert {
    std::int64_t round = 0;  // key of the stored round
    domain::Bytes32 round_id{};
    domain::Timestamp vote_end{};
    std::uint64_t total = 0;
    std::uint64_t submitted = 0;
    std::uint64_t failed = 0;
    std::uint64_t pending = 0;  // never got to an end
    // Of the submitted: those a node admitted and nobody saw on the chain. Absent: not told.
    std::optional<std::uint64_t> unconfirmed{};
    // What kept a share of the round from the chain last, in one line without URLs; empty: not
    // known in this life of the process.
    std::string reason{};
    // Not 0: shares came after the end and were dropped. `total` is how many since the alert
    // before, all pending; this many in all.
    std::uint64_t late = 0;

    [[nodiscard]] std::uint64_t unsubmitted() const { return failed + pending; }
    [[nodiscard]] AlertMark mark() const { return {round, late}; }
};

// Port: tells somebody outside. Called on the processor's thread after the commit that closed the
// round or dropped late shares, and at each start for alerts nobody took yet; returns at once and
// retries by itself. Once it got through, AlertEvents::alert_taken says so, from any thread, and
// the alert never comes again.
class AlertSink {
public:
    virtual ~AlertSink() = default;
    virtual void raise(std::vector<RoundAlert> alerts) = 0;
};

class AlertEvents {
public:
    virtual ~AlertEvents() = default;
    virtual void alert_taken(AlertMark alert) = 0;
};

}  // namespace engine
