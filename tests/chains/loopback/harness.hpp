#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/gateway.hpp"
#include "chains/loopback/loopback_gateway.hpp"
#include "chains/loopback/requests.hpp"
#include "support/resume.hpp"
#include "support/virtual_time.hpp"

// Keeps every event in order of arrival.
class RecordingEvents : public engine::GatewayEvents {
public:
    void checked(std::vector<engine::Checked> events) override { note(checks, std::move(events)); }
    void prepared(std::vector<engine::Prepared> events) override {
        note(preparations, std::move(events));
    }
    void sent(std::vector<engine::Sent> events) override {
        order += 's';
        note(sends, std::move(events));
    }
    void answered(engine::Answered event) override {
        order += 'a';
        ++calls;
        cursors.push_back(event.cursor);
        for (engine::Answer& answer : event.answers) answers.push_back(std::move(answer));
    }

    std::vector<engine::Checked> checks;
    std::vector<engine::Prepared> preparations;
    std::vector<engine::Sent> sends;
    std::vector<engine::Answer> answers;
    std::vector<std::uint64_t> cursors;
    std::string order;  // s: sent, a: answered
    int calls = 0;      // events of any kind

private:
    template <typename Event>
    void note(std::vector<Event>& list, std::vector<Event> events) {
        ++calls;
        for (Event& event : events) list.push_back(std::move(event));
    }
};

// Removed with everything in it.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "loopback-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
        path_ = name;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }

private:
    std::filesystem::path path_;
};

// Nothing takes time.
inline chains::LoopbackOptions instant() {
    chains::LoopbackOptions options;
    const chains::Latency none{};
    options.readiness = options.prepare = options.proof = none;
    options.confirmation = options.response = none;
    return options;
}

// A gateway in virtual time whose ledger outlives it.
struct Harness {
    explicit Harness(chains::LoopbackOptions with = {}) : options(std::move(with)) {
        options.ledger = directory.file("ledger.db");
        options.ledger_synchronous = chains::LedgerSynchronous::off;
        start(0);
    }

    void start(std::uint64_t cursor) {
        gateway = std::make_unique<chains::LoopbackGateway>(options, clock, executor, journal);
        gateway->listen(events, support::resume_from(cursor));
    }

    // The process dies: the gateway and everything that was about to happen.
    void crash() {
        gateway.reset();
        executor.drop_all();
    }

    void run_for(domain::Milliseconds time) { executor.run_for(time); }
    void finish() {
        while (executor.run_next()) {
        }
    }

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

    TemporaryDirectory directory;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingJournal journal;
    RecordingEvents events;
    chains::LoopbackOptions options;
    std::unique_ptr<chains::LoopbackGateway> gateway;
};

template <typename Alternative, typename Outcome>
bool is(const Outcome& outcome) {
    return std::holds_alternative<Alternative>(outcome);
}
