#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "chains/loopback/harness.hpp"
#include "support/resume.hpp"

using domain::Milliseconds;
using namespace engine;

TEST_CASE("after stop nothing is delivered, whatever the executor still holds") {
    chains::LoopbackOptions options;
    options.prepare = {};
    for (const int steps : {0, 1, 2, 3, 4, 5, 6}) {
        CAPTURE(steps);
        Harness harness{options};
        const SendOrder order = harness.order(requests::id(1), requests::public_decrypt(1));
        harness.gateway->send({order});
        harness.gateway->check(
            {{requests::id(2), std::make_shared<domain::Request>(requests::public_decrypt(2))}});
        for (int step = 0; step < steps; ++step) harness.executor.run_next();
        harness.gateway->stop();
        const int before = harness.events.calls;

        harness.gateway->check(
            {{requests::id(3), std::make_shared<domain::Request>(requests::public_decrypt(3))}});
        harness.finish();
        CHECK(harness.events.calls == before);
    }
}

TEST_CASE("the gateway may go while the executor holds its tasks") {
    chains::LoopbackOptions options;
    options.prepare = {};
    for (const int steps : {0, 1, 2, 3, 4, 5, 6}) {
        CAPTURE(steps);
        Harness harness{options};
        harness.gateway->send({harness.order(requests::id(1), requests::public_decrypt(1))});
        for (int step = 0; step < steps; ++step) harness.executor.run_next();
        const int before = harness.events.calls;
        harness.gateway.reset();
        harness.finish();
        CHECK(harness.events.calls == before);
    }
}

namespace {

// Two workers that do not wait for due times.
class HastyWorkers : public Executor {
public:
    HastyWorkers() {
        for (std::jthread& worker : workers_) worker = std::jthread{[this] { work(); }};
    }
    ~HastyWorkers() override {
        {
            const std::lock_guard lock{mutex_};
            done_ = true;
        }
        changed_.notify_all();
    }
    HastyWorkers(const HastyWorkers&) = delete;
    HastyWorkers& operator=(const HastyWorkers&) = delete;

    void run(Task task) override {
        {
            const std::lock_guard lock{mutex_};
            tasks_.push_back(std::move(task));
        }
        changed_.notify_one();
    }
    void run_after(Milliseconds, Task task) override { run(std::move(task)); }

private:
    void work() {
        for (;;) {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [this] { return done_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            const Task task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    bool done_ = false;
    std::array<std::jthread, 2> workers_;
};

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
        const TemporaryDirectory directory;
        auto options = instant();
        options.ledger = directory.file("ledger.db");
        options.ledger_synchronous = chains::LedgerSynchronous::off;
        support::VirtualClock clock;
        support::RecordingJournal journal;
        Watch watch;
        HastyWorkers workers;
        chains::LoopbackGateway gateway{options, clock, workers, journal};
        gateway.listen(watch, support::resume_from(0));

        std::vector<PrepareOrder> orders;
        for (std::uint32_t number = 0; number < count; ++number) {
            orders.push_back({requests::id(number),
                              std::make_shared<domain::Request>(requests::public_decrypt(number))});
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
