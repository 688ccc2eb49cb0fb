#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "chains/evm/listener.hpp"
#include "chains/evm/simulated_chain.hpp"
#include "support/virtual_time.hpp"

using namespace std::chrono_literals;
using chains::evm::Listener;
using chains::evm::SeenLogs;
using chains::jsonrpc::Answer;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;

namespace {

// One or two listeners of a chain that grows and changes at random, whose nodes fail and lag at
// random, in a process that dies at random.
class RandomLife {
public:
    explicit RandomLife(std::uint64_t seed, bool reorganisations)
        : random_(seed), reorganisations_(reorganisations), count_(1 + seed % 2) {
        options_.listening.range_max = 1 + random_.below(12);
        options_.listening.reorg_depth = 16;
        options_.listening.confirmations = random_.below(3);
        for (auto& node : nodes_) arrange(node);
        chain_.mine(20);
        start();
        // Both know where they begin before anything is asked of the chain.
        settle();
    }

    void live() {
        calm_ = false;
        for (int step = 0; step < 120; ++step) {
            grow();
            executor_.run_for(domain::Milliseconds{random_.below(3'000)});
            if (random_.chance(700)) events_.commit(random_.below(events_.waiting() + 1));
            if (random_.chance(60)) crash();
        }
        calm_ = true;
        chain_.mine(20);
        settle();
    }

    [[nodiscard]] std::set<std::uint64_t> applied() const {
        return {events_.answers.begin(), events_.answers.end()};
    }
    [[nodiscard]] std::set<std::uint64_t> on_chain() const {
        const auto all = chain_.answers();
        return {all.begin(), all.end()};
    }
    [[nodiscard]] std::uint64_t emitted() const { return next_; }
    [[nodiscard]] std::size_t crashes() const { return crashes_; }
    [[nodiscard]] bool all_read() const {
        return std::all_of(listeners_, listeners_ + count_, [&](const auto& listener) {
            return listener->head_lag() == options_.listening.confirmations;
        });
    }
    [[nodiscard]] std::size_t reorganisations_seen() const { return logger_.count("chain_"); }

private:
    void arrange(support::ChainNode& node) {
        node.lag = [this] { return !calm_ && random_.chance(200) ? random_.below(4) : 0; };
        node.before = [this]() -> std::optional<Answer> {
            if (calm_) return std::nullopt;
            if (random_.chance(50)) grow();
            if (random_.chance(30)) return TransportError{TransportError::Kind::lost, "lost", {}};
            if (random_.chance(30)) return NodeError{-32000, "too much", {}};
            if (random_.chance(20))
                return TransportError{TransportError::Kind::throttled, "wait", 1s};
            return std::nullopt;
        };
    }

    void grow() {
        if (reorganisations_ && random_.chance(60)) reorganise();
        for (std::uint64_t i = random_.below(5); i > 0; --i) {
            random_.chance(300) ? chain_.answer(++next_) : chain_.mine();
            if (random_.chance(200)) chain_.answer_here(++next_);
        }
    }

    // Other blocks take the place of some, with answers of their own. What was in the old ones is
    // mostly included anew.
    void reorganise() {
        const std::uint64_t depth = 1 + random_.below(std::min<std::uint64_t>(chain_.head - 1, 16));
        const std::uint64_t height = chain_.head;
        std::vector<std::uint64_t> taken = chain_.cut(height - depth);
        while (chain_.head < height) {
            chain_.mine();
            if (random_.chance(300)) chain_.answer_here(++next_);
            if (taken.empty() || random_.chance(400)) continue;
            if (random_.chance(800)) chain_.answer_here(taken.back());
            taken.pop_back();
        }
    }

    void start() {
        seen_ = std::make_unique<SeenLogs>(clock_);
        for (std::size_t i = 0; i < count_; ++i) {
            const std::string name = "evm-" + std::to_string(i);
            listeners_[i] = std::make_unique<Listener>(options_, name, nodes_[i], executor_, clock_,
                                                       logger_, seen_.get());
            listeners_[i]->start(events_, events_.cursor(name));
        }
    }

    void settle() {
        executor_.run_for(60s);
        events_.commit();
    }

    void crash() {
        ++crashes_;
        executor_.drop_all();
        for (auto& listener : listeners_) listener.reset();
        events_.crash();
        for (std::uint64_t i = random_.below(20); i > 0; --i) grow();
        start();
    }

    support::SeededRandom random_;
    const bool reorganisations_;
    const std::size_t count_;  // of listeners
    bool calm_ = true;
    std::uint64_t next_ = 0;
    std::size_t crashes_ = 0;
    chains::evm::Options options_ = support::listening_options();
    support::VirtualClock clock_;
    support::VirtualExecutor executor_{clock_};
    support::RecordingLogger logger_;
    support::SimulatedChain chain_;
    support::ChainNode nodes_[2]{support::ChainNode{chain_}, support::ChainNode{chain_}};
    support::Applied events_;
    std::unique_ptr<SeenLogs> seen_;
    std::unique_ptr<Listener> listeners_[2];
};

}  // namespace

TEST_CASE("crashes at random moments lose no answer") {
    std::size_t crashes = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        RandomLife world{seed, false};
        world.live();
        crashes += world.crashes();
        REQUIRE(world.all_read());
        CHECK(world.applied() == world.on_chain());
        CHECK(world.applied().size() == world.emitted());
    }
    CHECK(crashes > 1'000);
}

TEST_CASE("crashes and changes of the chain at random moments lose no answer") {
    std::size_t changes = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        RandomLife world{seed, true};
        world.live();
        changes += world.reorganisations_seen();
        REQUIRE(world.all_read());
        const auto applied = world.applied();
        const auto on_chain = world.on_chain();
        CHECK(std::includes(applied.begin(), applied.end(), on_chain.begin(), on_chain.end()));
        CHECK(applied.size() <= world.emitted());
    }
    CHECK(changes > 1'000);
}
