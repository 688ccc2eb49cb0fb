#include <doctest/doctest.h>

#include <atomic>
#include <mutex>

#include "chains/loopback/harness.hpp"
#include "support/hasty_workers.hpp"
#include "support/resume.hpp"

using domain::Milliseconds;
using namespace engine;

TEST_CASE("after stop nothing is delivered, whatever the executor still holds") {
    chains::loopback::Options options;
    options.prepare = {};
    for (const int steps : {0, 1, 2, 3, 4, 5, 6}) {
        CAPTURE(steps);
        Harness harness{options};
        const SendOrder order = harness.order(support::request_id(1), support::public_decrypt(1));
        harness.gateway->send({order});
        harness.gateway->check({{support::request_id(2),
                                 std::make_shared<domain::Request>(support::public_decrypt(2))}});
        for (int step = 0; step < steps; ++step) harness.executor.run_next();
        harness.gateway->stop();
        const int before = harness.events.calls;

        harness.gateway->check({{support::request_id(3),
                                 std::make_shared<domain::Request>(support::public_decrypt(3))}});
        harness.finish();
        CHECK(harness.events.calls == before);
    }
}

TEST_CASE("the gateway may go while the executor holds its tasks") {
    chains::loopback::Options options;
    options.prepare = {};
    for (const int steps : {0, 1, 2, 3, 4, 5, 6}) {
        CAPTURE(steps);
        Harness harness{options};
        harness.gateway->send({harness.order(support::request_id(1), support::public_decrypt(1))});
        for (int step = 0; step < steps; ++step) harness.executor.run_next();
        const int before = harness.events.calls;
        harness.gateway.reset();
        harness.finish();
        CHECK(harness.events.calls == before);
    }
}

namespace {

// Counts, and notices an event after the end and a cursor that does not rise.
class Watch : public GatewayEvents {
public:
    void checked(std::vector<Checked> events) override { note(events.size()); }
    void prepared(std::vector<Prepared> events) override {
        {
            const std::lock_guard lock{mutex_};
            for (auto& event : events) plans.push_back(std::move(event));
        }
        note(events.size());
    }
    void sent(std::vector<Sent> events) override {
        note(events.size());
        receipts += events.size();
        receipts.notify_all();
    }
    void answered(Answered event) override {
        note(event.answers.size());
        const std::lock_guard lock{mutex_};
        if (event.cursor <= cursor) cursor_fell = true;
        cursor = event.cursor;
    }

    std::mutex mutex_;
    std::vector<Prepared> plans;
    std::uint64_t cursor = 0;
    std::atomic<bool> cursor_fell{false};
    std::atomic<bool> over{false};
    std::atomic<int> late{0};
    std::atomic<std::size_t> seen{0};
    std::atomic<std::size_t> receipts{0};

private:
    void note(std::size_t count) {
        seen += count;
        seen.notify_all();
        if (over) ++late;
    }
};

}  // namespace

TEST_CASE("real threads: answers keep their order and stop is final") {
    constexpr std::size_t count = 200;
    for (const bool to_the_end : {true, false}) {
        CAPTURE(to_the_end);
        const support::TempDirectory directory;
        auto options = instant();
        options.ledger = directory.file("ledger.db");
        options.ledger_synchronous = chains::loopback::LedgerSynchronous::off;
        support::VirtualClock clock;
        support::RecordingLogger logger;
        Watch watch;
        support::HastyWorkers workers;
        chains::loopback::Gateway gateway{options, clock, workers, logger};
        gateway.listen(watch, support::resume_from(0));

        std::vector<PrepareOrder> orders;
        for (std::uint32_t number = 0; number < count; ++number) {
            orders.push_back({support::request_id(number),
                              std::make_shared<domain::Request>(support::public_decrypt(number))});
        }
        gateway.prepare(orders);
        watch.seen.wait(0);
        for (const Prepared& prepared : watch.plans) {
            const auto& plan = std::get<Plan>(prepared.outcome);
            gateway.send({{prepared.id,
                           domain::Kind::public_decrypt,
                           {gateway.seal(prepared.id, domain::Kind::public_decrypt, plan)},
                           false}});
        }
        if (to_the_end) {
            for (std::size_t seen = 0; (seen = watch.receipts) < count;) watch.receipts.wait(seen);
            for (std::size_t seen = 0; (seen = watch.seen) < 3 * count;) watch.seen.wait(seen);
        }
        gateway.stop();
        watch.over = true;
        CHECK(watch.late == 0);
        CHECK_FALSE(watch.cursor_fell);
        if (to_the_end) {
            CHECK(gateway.inclusions() == count);
            CHECK(watch.cursor == count);
        }
    }
}
