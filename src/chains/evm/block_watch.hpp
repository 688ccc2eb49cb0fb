#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "chains/evm/debounce.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/block.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"

namespace chains::evm {

// Whether blocks on which something rests are still part of the chain, until `reorg_depth` others
// are on top of them in two looks in a row (evm-gateway 8.9). New ones are asked for at once. Of
// those that were seen to stand only the highest one is, since its hash stands for all below it,
// and each once more before it is let go. When one is gone all are asked for. Any thread; occupies
// one of the executor's while a node is asked.
class BlockWatch {
public:
    // The first node decides; those behind it stand in for one that lacks a block. `bury`: nobody
    // looks at this block again. `read_again`: blocks from this one on were replaced, and what was
    // read there is to be read once more.
    BlockWatch(const Options& options, std::vector<jsonrpc::Node*> nodes,
               std::function<void(const domain::Block&)> bury, ports::Executor& executor,
               const ports::Clock& clock, std::function<void(std::uint64_t block)> read_again);

    // Once, before the rest.
    void start(engine::GatewayEvents& events);
    void watch(const std::vector<domain::Block>& blocks);
    [[nodiscard]] std::size_t size() const;
    // No event is delivered after this returns. Not from inside an event.
    void stop();

private:
    struct Watched {
        bool is_asked = true;  // somebody wants to be told that it stands
        Debounce beyond_head{};
    };
    enum class Found { standing, another, beyond_head, unknown };
    struct View {
        std::optional<std::uint64_t> head;
        std::vector<Found> found;  // in the order of the blocks

        [[nodiscard]] bool has(Found what) const;
    };
    using Blocks = std::vector<domain::Block>;

    void schedule_locked(domain::Milliseconds delay);
    void wake(domain::Monotonic time);
    void look();
    [[nodiscard]] Blocks take_due();
    [[nodiscard]] Blocks all() const;
    [[nodiscard]] View view_of(const Blocks& blocks);
    [[nodiscard]] View view_of(const Blocks& blocks, jsonrpc::Node& node) const;
    [[nodiscard]] engine::BlockNews note(const Blocks& blocks, const View& view);

    const Options options_;
    const std::vector<jsonrpc::Node*> nodes_;
    const std::function<void(const domain::Block&)> bury_;
    const ports::Clock& clock_;
    const std::function<void(std::uint64_t)> read_again_;
    engine::GatewayEvents* events_ = nullptr;

    mutable std::mutex mutex_;  // for what follows
    std::map<domain::Block, Watched> blocks_;
    std::vector<domain::Block> asked_;  // of the look that is on its way
    std::optional<std::uint64_t> head_;
    std::optional<domain::Monotonic> wake_;  // the earliest task on its way
    bool looking_ = false;
    bool again_ = false;  // something came while looking
    bool stopped_ = false;

    engine::TaskGroup task_group_;  // last: it waits for work that uses the rest
};

}  // namespace chains::evm
