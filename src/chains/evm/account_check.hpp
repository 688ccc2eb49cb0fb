#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chains/evm/options.hpp"
#include "chains/evm/range_size.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "engine/gateway.hpp"
#include "engine/task_group.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Once after a start: whether the chain has transactions of an account that the database does not
// know, be it with a nonce that one it knows has too, and whether they asked our contracts for
// something. Then the database is an old copy, and
// its requests may have been sent by the process that went on (evm-gateway 5.2). Transactions of an
// operator with the same key, such as an approval, call other contracts and change nothing.
//
// An account that the database has no nonce of may have come into use after the copy: it is looked
// at in the same way while requests wait that nothing was signed for.
//
// What asked the contracts is found by its events: reverted transactions asked for nothing. Only
// blocks from Resume::look_from on are read: what is older than the copy is in it.
class AccountCheck {
public:
    AccountCheck(const Options& options, jsonrpc::Node& read, engine::TaskGroup& reads,
                 ports::Logger& logger);

    // Once, before the rest. `retired`: as AccountFound says it.
    void start(engine::GatewayEvents& events, const engine::Resume& resume, bool retired = false);

    // How many transactions of the account the chain has. Any thread; returns at once.
    void found(const domain::Address& account, std::uint64_t count);

    // Why nothing may be signed yet. Any thread.
    [[nodiscard]] std::optional<engine::Unreachable> unready() const;
    // The count is still to be told. Any thread.
    [[nodiscard]] bool is_waiting() const;

private:
    enum class State { waiting, looking, settled };
    struct Nonce {
        std::string account;  // empty: that of the only key
        std::uint64_t number = 0;
        std::optional<domain::Bytes32> hash;  // none: it is in a block
    };

    // What is known of the account.
    void find_known();

    void look();
    // Nothing: there is more to read. Else whether one of the transactions asked our contracts.
    [[nodiscard]] std::optional<bool> look_at_range();
    [[nodiscard]] bool find_head();
    [[nodiscard]] std::optional<bool> look_at(const jsonrpc::Json& logs);
    [[nodiscard]] bool is_unknown(const jsonrpc::Json& transaction) const;
    void settle(bool sent_by_others);

    const Options options_;
    jsonrpc::Node& read_;
    engine::TaskGroup& reads_;
    ports::Logger& logger_;
    engine::GatewayEvents* events_ = nullptr;
    domain::Address account_{};
    std::map<std::string, std::uint64_t> all_known_;  // by account
    bool may_be_new_ = false;                         // one that is not among them is looked at
    bool retired_ = false;
    std::optional<std::uint64_t> known_;  // the database knows all nonces of the account below
    std::vector<Nonce> nonces_;           // that have no outcome yet, or in a block that may go
    std::vector<Nonce> beside_own_;       // Resume::beside_own
    // All that we have signed with nonces of the account of which one has no outcome yet.
    std::map<std::uint64_t, std::set<domain::Bytes32>> signed_;

    // Of the task that looks.
    std::uint64_t count_ = 0;
    std::optional<std::uint64_t> next_;  // block
    std::optional<std::uint64_t> head_;
    RangeSize range_size_;
    std::uint32_t refusals_ = 0;
    std::optional<std::string> problem_;  // of the last question

    mutable std::mutex mutex_;  // for what follows
    State state_ = State::waiting;
};

}  // namespace chains::evm
