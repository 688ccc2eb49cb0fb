#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/block_hashes.hpp"
#include "chains/evm/debounce.hpp"
#include "chains/evm/fresh_logs.hpp"
#include "chains/evm/log_query.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/range_size.hpp"
#include "chains/evm/seen_logs.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Follows the response events of a chain through eth_getLogs, range by range and in order
// (evm-gateway 8). No block is passed over: it goes on only behind blocks that were read whole, and
// returns to the last common block when the chain changed. At the head each question begins with
// the blocks of the last seconds: a node may have a block before it has the block's logs. One
// thread at a time; blocks as long as the node does.
class ChainReader {
public:
    // What a step came to.
    struct Step {
        domain::Milliseconds pause{0};       // until the next one
        bool held = false;                   // nobody may cut the pause short
        bool stopped = false;                // there is no next one
        std::optional<std::string> problem;  // one line without secrets
    };

    ChainReader(const Options& options, std::string name, jsonrpc::Node& node,
                const ports::Clock& clock, ports::Logger& logger, SeenLogs* seen);

    // Once, before steps. `cursor`: the last block whose answers were applied.
    void start(engine::GatewayEvents& events, std::optional<std::uint64_t> cursor);

    [[nodiscard]] Step step();

    [[nodiscard]] std::optional<std::uint64_t> head() const { return head_; }
    // Blocks up to this one, as many as one question has, may hold an answer that a node left out:
    // the next steps read them once more. The cursor stays.
    void read_again(std::uint64_t block);

    // The block that is read next.
    [[nodiscard]] std::optional<std::uint64_t> next() const { return next_; }

private:
    [[nodiscard]] std::optional<Step> look_at_head();
    [[nodiscard]] Step read_range();
    [[nodiscard]] Step read_fresh();
    [[nodiscard]] Step begin_at_head();
    [[nodiscard]] Step step_back();
    void return_to(std::uint64_t next);

    [[nodiscard]] std::optional<Step> compare_last(const jsonrpc::Answer& answer);
    [[nodiscard]] std::optional<std::uint64_t> last() const;
    [[nodiscard]] std::optional<domain::Bytes32> hash_of_last() const;
    [[nodiscard]] LogQuery next_range();

    [[nodiscard]] bool lacks_share(const std::vector<Log>& logs);
    void deliver(const std::vector<Log>& logs, std::uint64_t cursor);
    void note_undecodable(const Log& log);
    void deliver_cursor(std::uint64_t cursor);
    void deliver_cursor_if_due();

    [[nodiscard]] Step idle();
    [[nodiscard]] Step lagging(const std::string& text);
    // Of the query, the last block.
    [[nodiscard]] Step not_there_yet(const LogQuery& query, const std::string& text);
    [[nodiscard]] Step failed(std::string text);
    // Pauses that double up to the longest.
    [[nodiscard]] Step failed(std::string text, domain::Milliseconds longest);
    [[nodiscard]] Step failed(const jsonrpc::TransportError& problem, std::uint64_t blocks_asked);
    [[nodiscard]] Step refused(const jsonrpc::NodeError& error, const LogQuery& query);

    const Options options_;
    const std::string name_;
    jsonrpc::Node& node_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    SeenLogs* const seen_;
    engine::GatewayEvents* events_ = nullptr;

    std::optional<std::uint64_t> head_;
    std::optional<std::uint64_t> next_;
    std::optional<std::uint64_t> target_;  // the last block that may be read
    FreshLogs fresh_;
    BlockHashes hashes_;
    RangeSize range_size_;

    // Everything up to this block is delivered, seen before or not: whoever has it may have been
    // told that it is gone.
    std::uint64_t unseen_until_ = 0;
    std::uint64_t applied_ = 0;  // what is below was read before, and is read once more
    std::optional<std::uint64_t> delivered_;  // the last cursor
    domain::Monotonic delivered_at_{};
    std::uint64_t undecodable_ = 0;  // answers
    std::optional<domain::Monotonic> undecodable_told_at_;
    Debounce low_head_;
    Debounce missing_block_;
    std::uint32_t without_share_ = 0;  // answers in a row with a threshold and not its share
    std::uint32_t failures_ = 0;       // in a row
    std::uint32_t turned_away_ = 0;    // throttled or not let in, in a row
};

}  // namespace chains::evm
