#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "chains/evm/eth_call.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// How many shares complete a user decryption, by KMS context (evm-gateway 9.4, relayer-api 12.1),
// where the gateway contract does not announce it (3.2).
// Context 0 has a setting instead and is not asked for here. What was looked up is believed for
// threshold_age_max and served until its successor is there. At most 10,000 contexts; the one that
// was asked for longest ago makes room.
class Thresholds {
public:
    // What is referred to must outlive it.
    Thresholds(const Options& options, jsonrpc::Node& protocol, const ports::Clock& clock,
               ports::Executor& executor, ports::Logger& logger);
    ~Thresholds();
    Thresholds(const Thresholds&) = delete;
    Thresholds& operator=(const Thresholds&) = delete;

    // Any thread. Never blocks. Nothing: not known; a look-up is under way, or one failed less than
    // 2 s ago, or too many others are looked up. Asking again may help.
    [[nodiscard]] std::optional<std::uint32_t> find(const domain::Bytes32& context);

    // Any thread. What is known of the context may be wrong: the next find() looks it up.
    void forget(const domain::Bytes32& context);

    // Waits for a look-up that runs, so stop the node first.
    void stop();

private:
    struct Entry {
        std::list<domain::Bytes32>::iterator place;
        std::optional<std::uint32_t> value{};
        domain::Monotonic learned{};
        std::optional<domain::Monotonic> failed{};
        std::string error{};  // of the last failure; empty after a success
        bool looking = false;
        bool forgotten = false;  // since the look-up began
    };
    using Found = std::variant<std::uint32_t, NoResult>;

    [[nodiscard]] Entry& touch_locked(const domain::Bytes32& context);
    void make_room_locked();
    [[nodiscard]] bool needs_look_up_locked(const Entry& entry) const;

    void look_up(const domain::Bytes32& context, std::uint32_t attempt);
    [[nodiscard]] Found ask(const domain::Bytes32& context);
    void learn(const domain::Bytes32& context, std::uint32_t value);
    void give_up(const domain::Bytes32& context, const std::string& error);

    const Options options_;
    jsonrpc::Node& protocol_;
    const ports::Clock& clock_;
    ports::Logger& logger_;

    std::mutex mutex_;  // guards what follows
    std::map<domain::Bytes32, Entry> entries_;
    std::list<domain::Bytes32> by_use_;  // longest ago first
    std::size_t looking_ = 0;

    engine::TaskGroup task_group_;
};

}  // namespace chains::evm
