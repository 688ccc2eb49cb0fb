#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/gates.hpp"
#include "engine/inbox.hpp"
#include "engine/processor.hpp"
#include "engine/service.hpp"
#include "store/commit_sink.hpp"
#include "store/reader.hpp"
#include "store/store.hpp"
#include "support/requests.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

namespace support {

// One life of the process: everything that a crash takes away.
struct Process {
    Process(const store::Options& store_options, const engine::Options& options,
            engine::Gateway& gateway, VirtualClock& clock, SeededRandom& random,
            RecordingLogger& logger, engine::Observer& observer,
            engine::AlertSink* alerts = nullptr, ports::Heartbeat* heartbeat = nullptr,
            store::CommitSink* journal = nullptr)
        : store(journal != nullptr ? store::Store(store_options, *journal)
                                   : store::Store(store_options)),
          reader(store_options, 1),
          gates(options, clock.monotonic()),
          inbox(options.inbox_capacity),
          processor(options, store, gates, gateway, inbox, clock, random, logger, observer, alerts,
                    heartbeat),
          service(inbox, processor, gates, gateway, reader, clock) {}

    store::Store store;
    store::Reader reader;
    engine::Gates gates;
    engine::Inbox inbox;
    engine::Processor processor;
    engine::Service service;
};

// Throws for any other outcome.
[[nodiscard]] inline engine::Accepted accepted(const engine::AcceptOutcome& outcome) {
    return std::get<engine::Accepted>(outcome);
}

// The engine on a virtual clock, with its store in a directory that outlives crashes.
class Engine {
public:
    Engine(VirtualClock& clock, VirtualExecutor& executor, engine::Gateway& gateway)
        : clock_(clock), executor_(executor), gateway_(gateway) {
        store_options.directory = directory_.path();
        store_options.synchronous = store::Synchronous::normal;
        store_options.reserve_bytes = 0;
    }

    engine::Options options;
    store::Options store_options;
    RecordingLogger logger;
    SeededRandom random{1};
    engine::Observers observers;
    engine::AlertSink* alerts = nullptr;
    ports::Heartbeat* heartbeat = nullptr;
    store::CommitSink* journal = nullptr;  // none: the store of a single machine
    engine::recovery::LastEnd last_end = engine::recovery::LastEnd::by_itself;
    engine::recovery::Report recovered;
    // The end of every vote round of the tests.
    domain::Timestamp vote_end = domain::from_unix_ms(4'102'444'800'000);

    void start() {
        process_ = std::make_unique<Process>(store_options, options, gateway_, clock_, random,
                                             logger, observers, alerts, heartbeat, journal);
        recovered = process_->processor.recover(last_end);
    }

    // kill -9: nothing is said goodbye to.
    void crash() {
        process_.reset();
        executor_.drop_all();
    }

    [[nodiscard]] bool is_running() const { return process_ != nullptr; }
    [[nodiscard]] Process& process() {
        if (!process_) start();
        return *process_;
    }

    // Hands a request in and makes the step that decides about it.
    [[nodiscard]] engine::AcceptOutcome try_submit(const domain::Request& request) {
        std::optional<engine::AcceptOutcome> outcome;
        post(request, [&](engine::AcceptOutcome given) { outcome = std::move(given); });
        turn();
        return outcome.value();
    }

    [[nodiscard]] domain::RequestId submit(const domain::Request& request) {
        return accepted(try_submit(request)).id;
    }

    void post(const domain::Request& request, engine::Reply reply) {
        const bool is_share = domain::kind_of(request) == domain::Kind::share;
        engine::SubmitOptions submit_options;
        if (is_share) submit_options.vote_end = vote_end;
        process().service.submit(request, submit_options, std::move(reply));
    }

    engine::Processor::Wait turn() { return process().processor.turn(); }

    // Lets time pass: from one wake or event to the next.
    void run_for(domain::Nanoseconds time) {
        const domain::Monotonic end = clock_.monotonic() + time;
        executor_.run_due();
        while (true) {
            const engine::Processor::Wait wait = turn();
            if (wait.events_end_it && !process().inbox.is_empty()) continue;
            if (wait.length <= domain::Nanoseconds::zero()) continue;
            domain::Monotonic next = std::min(clock_.monotonic() + wait.length, end);
            if (const auto due = executor_.next_due(); due && wait.events_end_it) {
                next = std::min(next, *due);
            }
            if (next >= end) break;
            executor_.run_until(next);
        }
        executor_.run_until(end);
        turn();
    }

    [[nodiscard]] std::optional<store::StoredRequest> view(const domain::RequestId& id) {
        return process().reader.find(id);
    }
    [[nodiscard]] domain::Status status(const domain::RequestId& id) { return row(id).status; }
    [[nodiscard]] store::Row row(const domain::RequestId& id) { return view(id).value().row; }
    [[nodiscard]] domain::Failure failure(const domain::RequestId& id) {
        return view(id).value().failure.value();
    }

private:
    TempDirectory directory_;
    VirtualClock& clock_;
    VirtualExecutor& executor_;
    engine::Gateway& gateway_;
    std::unique_ptr<Process> process_;
};

}  // namespace support
