#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain/kind.hpp"
#include "domain/time.hpp"
#include "store/rows.hpp"

namespace engine {

namespace recovery {
struct Report;
}

// How late something was looked at that had a time.
struct Lateness {
    store::Lane lane = store::Lane::timer;
    domain::Milliseconds late{};
};

// What one committed step did.
struct StepFacts {
    std::vector<store::Change> changes;
    std::vector<Lateness> woken;
    std::vector<domain::Family> unreachable;  // sends and preparations that met trouble on the way
    std::size_t share_attempts_failed = 0;    // each cost a share one of its attempts
    std::size_t events = 0;                   // submissions and answers that were applied
    std::size_t answers_reorganised = 0;      // answers that differ from what is served already
    std::size_t round_alerts = 0;  // rounds closed with unsubmitted shares, once for each log line
    domain::Nanoseconds commit{};  // how long the commit took
    std::uint64_t wal_bytes = 0;
};

// Port: who wants to know what happened, without a say in it. Called on the processor's thread
// after the commit that made it true; must be quick and must not throw.
class Observer {
public:
    virtual ~Observer() = default;
    // Once, before the first step.
    virtual void recovered(const recovery::Report&) {}
    virtual void stepped(const StepFacts&) {}
    virtual void storage_failed() {}
};

// Passes everything on, in order.
class Observers : public Observer {
public:
    // Before the first step. `observer` must outlive the processor.
    void add(Observer& observer) { all_.push_back(&observer); }

    void recovered(const recovery::Report& report) override {
        for (Observer* observer : all_) observer->recovered(report);
    }
    void stepped(const StepFacts& facts) override {
        for (Observer* observer : all_) observer->stepped(facts);
    }
    void storage_failed() override {
        for (Observer* observer : all_) observer->storage_failed();
    }

private:
    std::vector<Observer*> all_;
};

}  // namespace engine
