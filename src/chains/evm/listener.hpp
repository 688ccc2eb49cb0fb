#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/chain_reader.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/seen_logs.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// A stable identity that reveals nothing: `evm-` and eight digits of a digest of the type and of
// where the URL points to. User, path and query do not count: they hold keys, which change.
[[nodiscard]] std::string listener_name(const Options::Listener& listener);
// The same for several; the second of equal ones ends in -2, the third in -3 …
[[nodiscard]] std::vector<std::string> listener_names(
    const std::vector<Options::Listener>& listeners);
// Where one begins that has no cursor of its own: the others, of this process or of an earlier one,
// have all answers up to there. Nothing: nobody ever listened.
[[nodiscard]] std::optional<std::uint64_t> furthest_cursor(const engine::Resume& resume);

// Delivers the response events of the gateway contracts for as long as it lives: polls a node,
// waits when that has trouble, never gives up (evm-gateway 8). Occupies one thread of the executor
// while the node is asked. Any thread.
class Listener {
public:
    // The node is the listener's own; stop() stops it. `seen` is shared by all listeners.
    Listener(const Options& options, std::string name, jsonrpc::Node& node,
             ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger,
             SeenLogs* seen = nullptr);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Once. `cursor`: the last block whose answers were applied; absent: it never delivered.
    void start(engine::GatewayEvents& events, std::optional<std::uint64_t> cursor);

    // There may be something new: polls now, unless the node has to be left alone.
    void wake();

    // Reads this block and those before it once more, now (ChainReader).
    void read_again(std::uint64_t block);

    // No event is delivered after this returns. Not from inside an event.
    void stop();

    // Nothing when the last poll went well and was not long ago, else one line without secrets.
    [[nodiscard]] std::optional<std::string> problem() const;

    // Blocks between the head and the last one that was read; nothing before the first poll.
    // `head`: one that was heard elsewhere, as ours may be old.
    [[nodiscard]] std::optional<std::uint64_t> head_lag(
        std::optional<std::uint64_t> head = std::nullopt) const;

    // Whether it knows the block from which it reads: answers to what is sent now will be seen.
    [[nodiscard]] bool has_start() const;

private:
    void wake_at_locked(domain::Monotonic time);
    void wake(domain::Monotonic time);
    void note_locked(const ChainReader::Step& step);

    const Options options_;
    const std::string name_;
    jsonrpc::Node& node_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    ChainReader reader_;  // by the task that polls

    mutable std::mutex mutex_;  // for what follows
    bool started_ = false;
    bool polling_ = false;
    bool woken_ = false;  // while polling
    bool stopped_ = false;
    std::optional<domain::Monotonic> wake_;  // the earliest task on its way
    domain::Monotonic held_until_{};         // no poll before
    domain::Monotonic polled_at_{};
    std::optional<std::string> problem_;
    std::optional<std::uint64_t> head_;
    std::optional<std::uint64_t> next_;
    std::optional<std::uint64_t> again_;  // read this block again

    engine::TaskGroup task_group_;  // last: it waits for work that uses the rest
};

}  // namespace chains::evm
