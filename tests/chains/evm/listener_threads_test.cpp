#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chains/evm/listener.hpp"
#include "chains/evm/simulated_chain.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "support/hasty_workers.hpp"
#include "support/virtual_time.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::TransportError;

namespace {

// A chain with an answer in each block that grows by one block a poll, and may hang.
class GrowingNode : public chains::jsonrpc::Node {
public:
    std::atomic<bool> hangs{false};
    std::atomic<int> overlaps{0};

    using Node::call;
    [[nodiscard]] Answer call(const Call&, std::optional<domain::Milliseconds>) override {
        return TransportError{TransportError::Kind::unsent, "not used", {}};
    }

    [[nodiscard]] std::vector<Answer> call_all(const std::vector<Call>& calls) override {
        if (inside_.exchange(true)) ++overlaps;
        std::vector<Answer> answers;
        if (wait_if_hanging()) {
            for (const Call& call : calls) answers.push_back(answer(call));
        } else {
            answers.assign(calls.size(),
                           TransportError{TransportError::Kind::stopped, "stopped", {}});
        }
        inside_ = false;
        return answers;
    }

    void stop() override {
        {
            const std::lock_guard lock{mutex_};
            stopped_ = true;
        }
        changed_.notify_all();
    }
    [[nodiscard]] std::optional<std::string> problem() const override { return std::nullopt; }

    void wait_until_hanging() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return hanging_; });
    }

private:
    // False when stopped.
    bool wait_if_hanging() {
        std::unique_lock lock{mutex_};
        if (hangs) {
            hanging_ = true;
            changed_.notify_all();
            changed_.wait(lock, [this] { return stopped_; });
        }
        return !stopped_;
    }

    Answer answer(const Call& call) {
        if (call.method == "eth_blockNumber") {
            chain_.answer(chain_.head + 1);
            return Json(chains::jsonrpc::hex_quantity(chain_.head));
        }
        if (call.method == "eth_getBlockByNumber") {
            const auto number = *chains::jsonrpc::quantity(call.params[0]);
            return Json{{"number", call.params[0]},
                        {"hash", chains::jsonrpc::hex(chain_.hash(number))}};
        }
        return chain_.logs(*chains::jsonrpc::quantity(call.params[0]["fromBlock"]),
                           *chains::jsonrpc::quantity(call.params[0]["toBlock"]));
    }

    support::SimulatedChain chain_;  // by one call at a time
    std::atomic<bool> inside_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    bool hanging_ = false;
};

// Counts, and notices an answer that is missing, repeated or late.
class Watch : public engine::GatewayEvents {
public:
    void checked(std::vector<engine::Checked>) override {}
    void prepared(std::vector<engine::Prepared>) override {}
    void sent(std::vector<engine::Sent>) override {}
    void answered(engine::Answered event) override {
        if (ended) late = true;
        for (const auto& answer : event.answers) {
            if (support::number_of(answer.reference) != ++count_) disorder = true;
        }
        seen = count_;
        seen.notify_all();
    }

    void wait_for(std::uint64_t count) {
        for (std::uint64_t now = seen; now < count; now = seen) seen.wait(now);
    }

    std::atomic<std::uint64_t> seen{0};
    std::atomic<bool> ended{false};
    std::atomic<bool> late{false};
    std::atomic<bool> disorder{false};

private:
    std::uint64_t count_ = 0;
};

}  // namespace

TEST_CASE("polls do not overlap, nudges come from anywhere, stop ends it at any moment") {
    chains::evm::Options options = support::listening_options();
    options.listening.first_block = 1;
    for (std::uint64_t round = 0; round < 100; ++round) {
        CAPTURE(round);
        support::VirtualClock clock;
        support::RecordingLogger logger;
        GrowingNode node;
        Watch watch;
        support::HastyWorkers workers;
        chains::evm::Listener listener{options, "evm-1", node, workers, clock, logger};
        std::jthread nudging{[&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                listener.wake();
                static_cast<void>(listener.problem());
                static_cast<void>(listener.head_lag());
                std::this_thread::yield();
            }
        }};
        listener.start(watch, std::nullopt);
        watch.wait_for(1 + round % 7);
        listener.stop();
        watch.ended = true;
        nudging.request_stop();
        nudging.join();
        CHECK_FALSE(watch.late);
        CHECK_FALSE(watch.disorder);
        CHECK(node.overlaps == 0);
    }
}

TEST_CASE("stop does not wait for a node that hangs") {
    support::VirtualClock clock;
    support::RecordingLogger logger;
    GrowingNode node;
    Watch watch;
    support::HastyWorkers workers;
    chains::evm::Listener listener{
        support::listening_options(), "evm-1", node, workers, clock, logger};
    node.hangs = true;
    listener.start(watch, 0);
    node.wait_until_hanging();
    listener.stop();
    CHECK(watch.seen == 0);
}
