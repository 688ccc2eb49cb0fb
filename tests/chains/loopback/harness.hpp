#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "chains/loopback/gateway.hpp"
#include "engine/gateway.hpp"
#include "support/is.hpp"
#include "support/recording_events.hpp"
#include "support/requests.hpp"
#include "support/resume.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

// Nothing takes time.
inline chains::loopback::Options instant() {
    chains::loopback::Options options;
    const chains::loopback::Latency none{};
    options.readiness = options.prepare = options.proof = none;
    options.confirmation = options.response = none;
    return options;
}

// A gateway in virtual time whose ledger outlives it.
struct Harness {
    explicit Harness(chains::loopback::Options with = {}) : options(std::move(with)) {
        options.ledger = directory.file("ledger.db");
        options.ledger_synchronous = chains::loopback::LedgerSynchronous::off;
        start(0);
    }

    void start(std::uint64_t cursor) {
        gateway = std::make_unique<chains::loopback::Gateway>(options, clock, executor, logger);
        gateway->listen(events, support::resume_from(cursor));
    }

    // The process dies: the gateway and everything that was about to happen.
    void crash() {
        gateway.reset();
        executor.drop_all();
    }

    void run_for(domain::Milliseconds time) { executor.run_for(time); }
    void finish() { executor.run_all(); }

    engine::CheckOutcome check(const domain::RequestId& id, const domain::Request& request) {
        gateway->check({{id, std::make_shared<domain::Request>(request)}});
        finish();
        return events.checks.back().outcome;
    }

    engine::PrepareOutcome prepare(const domain::RequestId& id, const domain::Request& request) {
        gateway->prepare({{id, std::make_shared<domain::Request>(request)}});
        finish();
        return events.preparations.back().outcome;
    }

    // An order to send a fresh transaction; needs preparations that succeed.
    engine::SendOrder order(const domain::RequestId& id, const domain::Request& request) {
        const auto plan = std::get<engine::Plan>(prepare(id, request));
        const domain::Kind kind = domain::kind_of(request);
        return {id, kind, {gateway->seal(id, kind, plan)}, false};
    }

    engine::SendOutcome send(engine::SendOrder order) {
        gateway->send({std::move(order)});
        finish();
        return events.sends.back().outcome;
    }

    support::TempDirectory directory;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    support::RecordingEvents events;
    chains::loopback::Options options;
    std::unique_ptr<chains::loopback::Gateway> gateway;
};
