#include <doctest/doctest.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "chains/evm/readiness_world.hpp"
#include "support/requests.hpp"

namespace {

using namespace readiness_world;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Bytes;
using support::handle;

TEST_CASE("a hundred orders take two exchanges per node, and each gets its own answer") {
    ReadinessHarness world;
    world.host().on["eth_call"] = [](const Json& params) -> chains::jsonrpc::Answer {
        const Bytes input = replies::input_of(params);
        for (std::uint64_t number = 0; number < 100; number += 3) {
            if (contains(input, handle(number))) return access_list({handle(number)})(params);
        }
        return access_list()(params);
    };
    world.read.on["eth_call"] = [](const Json& params) -> chains::jsonrpc::Answer {
        const Bytes input = replies::input_of(params);
        for (std::uint64_t number = 1; number < 100; number += 3) {
            if (contains(input, handle(number))) return replies::number_reply(1);
        }
        return replies::number_reply(0);
    };
    std::vector<engine::CheckOrder> orders;
    for (std::uint64_t number = 0; number < 100; ++number) {
        orders.push_back({support::request_id(static_cast<std::int64_t>(number)),
                          std::make_shared<domain::Request>(support::user_decrypt(number))});
    }
    world.subject().check(std::move(orders), world.events);
    CHECK(world.host().calls.empty());
    CHECK(world.events.calls == 0);
    world.finish();

    CHECK(world.host().batches == std::vector<std::size_t>{50, 50});
    CHECK(world.host().calls.size() == 100);
    CHECK(world.read.calls.size() == 66);
    CHECK(world.read.batches.size() <= 3);
    REQUIRE(world.events.checks.size() == 100);
    std::set<std::int64_t> seen;
    for (const engine::Checked& checked : world.events.checks) {
        const std::int64_t number = checked.id.sequence;
        CAPTURE(number);
        CHECK(seen.insert(number).second);
        CHECK(checked.outcome.index() == engine::CheckOutcome{[&]() -> engine::CheckOutcome {
                                             if (number % 3 == 0) return engine::Rejected{};
                                             if (number % 3 == 1) return engine::Ready{};
                                             return engine::NotReady{};
                                         }()}
                                             .index());
    }
    CHECK(world.events.calls <= 8);
}

TEST_CASE("orders that come while a node is busy wait together") {
    ReadinessHarness world;
    world.options.batch_max = 40;
    bool first = true;
    world.host().on["eth_call"] = [&](const Json& params) -> chains::jsonrpc::Answer {
        if (std::exchange(first, false)) {
            for (std::int64_t number = 2; number <= 101; ++number) {
                world.check(number, support::user_decrypt(static_cast<std::uint64_t>(number)));
            }
        }
        return access_list()(params);
    };
    world.check(1, support::user_decrypt(1));
    world.finish();
    CHECK(world.host().batches == std::vector<std::size_t>{1, 40, 40, 20});
    CHECK(world.events.checks.size() == 101);
}

TEST_CASE("refused batches come back as batches") {
    ReadinessHarness world;
    world.host().say("eth_call", {NodeError{-32000, "no", {}}});
    for (std::int64_t number = 1; number <= 50; ++number) {
        world.check(number, support::user_decrypt(static_cast<std::uint64_t>(number)));
    }
    world.finish();
    CHECK(world.host().batches == std::vector<std::size_t>{50, 50, 50});
    CHECK(world.events.checks.size() == 50);
}

TEST_CASE("a batch of none is one") {
    ReadinessHarness world;
    world.options.batch_max = 0;
    world.check(1, support::user_decrypt(1));
    world.check(2, support::user_decrypt(2));
    world.finish();
    CHECK(world.host().batches == std::vector<std::size_t>{1, 1});
    CHECK(world.events.checks.size() == 2);
}

TEST_CASE("every receiver gets its own answers") {
    ReadinessHarness world;
    support::RecordingEvents other;
    world.check(1, support::user_decrypt(1));
    world.subject().check(
        {{support::request_id(2), std::make_shared<domain::Request>(support::user_decrypt(2))}},
        other);
    world.finish();
    REQUIRE(world.events.checks.size() == 1);
    CHECK(world.events.checks[0].id == support::request_id(1));
    REQUIRE(other.checks.size() == 1);
    CHECK(other.checks[0].id == support::request_id(2));
}

TEST_CASE("nothing is asked or answered once stopped, whatever was under way") {
    for (const int steps : {0, 1, 2, 3}) {
        CAPTURE(steps);
        ReadinessHarness world;
        world.host().say("eth_call", {NodeError{-32000, "no", {}}});
        world.check(1, support::user_decrypt(1));
        for (int step = 0; step < steps; ++step) world.executor.run_next();
        const std::size_t asked = world.host().calls.size();
        world.subject().stop();
        world.check(2, public_of({handle(2, 77)}));
        world.finish();
        CHECK(world.host().calls.size() == asked);
        CHECK(world.events.calls == 0);
    }
}

TEST_CASE("errands that outlive it are harmless") {
    ReadinessHarness world;
    world.host().say("eth_call", {NodeError{-32000, "no", {}}});
    world.check(1, support::user_decrypt(1));
    world.executor.run_due();
    CHECK(world.host().calls.size() == 1);
    world.readiness.reset();
    CHECK(world.executor.pending() > 0);
    world.finish();
    CHECK(world.host().calls.size() == 1);
    CHECK(world.events.calls == 0);
}

// A thread for each task.
class Threads : public ports::Executor {
public:
    void run(Task task) override {
        const std::lock_guard lock{mutex_};
        threads_.emplace_back(std::move(task));
    }
    void run_after(domain::Milliseconds, Task) override {}

private:
    std::mutex mutex_;
    std::vector<std::jthread> threads_;
};

// Answers when it is stopped.
class HangingNode : public support::ScriptedNode {
public:
    std::vector<chains::jsonrpc::Answer> call_all(const std::vector<Call>& all) override {
        std::unique_lock lock{mutex_};
        ++hanging_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return stopped; });
        return std::vector<chains::jsonrpc::Answer>(
            all.size(), TransportError{TransportError::Kind::stopped, "stopped", {}});
    }
    void stop() override {
        const std::lock_guard lock{mutex_};
        stopped = true;
        changed_.notify_all();
    }
    void wait_for(int hanging) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return hanging_ == hanging; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int hanging_ = 0;
};

TEST_CASE("a node that hangs takes two threads, and stop waits for them") {
    class CountingEvents : public support::RecordingEvents {
    public:
        void checked(std::vector<engine::Checked> events) override {
            const std::lock_guard lock{mutex};
            support::RecordingEvents::checked(std::move(events));
        }
        std::mutex mutex;
    };
    ReadinessHarness world;
    auto hanging = std::make_unique<HangingNode>();
    HangingNode& node = *hanging;
    world.hosts[first_chain] = std::move(hanging);
    CountingEvents events;
    Threads threads;
    chains::evm::Readiness readiness{world.options, world.read, world.hosts, threads, world.logger};
    const auto check = [&](std::int64_t number) {
        readiness.check(
            {{support::request_id(number), std::make_shared<domain::Request>(support::user_decrypt(
                                               static_cast<std::uint64_t>(number)))}},
            events);
    };
    check(1);
    node.wait_for(1);
    check(2);
    node.wait_for(2);
    for (std::int64_t number = 3; number < 20; ++number) check(number);
    node.stop();
    readiness.stop();
    std::size_t told = 0;
    {
        const std::lock_guard lock{events.mutex};
        told = events.checks.size();
        for (const engine::Checked& checked : events.checks) {
            CHECK(is<engine::Unreachable>(checked.outcome));
        }
    }
    check(20);
    readiness.stop();
    const std::lock_guard lock{events.mutex};
    CHECK(events.checks.size() == told);
}

}  // namespace
