#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "chains/evm/fees.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/own_transactions.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// How many transactions of an account are on chain; or why no node says it. Blocks.
[[nodiscard]] std::variant<std::uint64_t, engine::Unreachable> transaction_count(
    jsonrpc::Node& node, const domain::Address& account);

// The relayer's account as the chain sees it, and what keeps its nonces going (evm-gateway 5.2).
// Any thread; blocks while it asks.
class Account {
public:
    Account(const Options& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
            Signer& signer, OwnTransactions& own, ports::Executor& executor,
            const ports::Clock& clock, ports::Logger& logger);

    // How many of its transactions are on chain, for the nonces to know as well; or why no node
    // says it.
    [[nodiscard]] std::variant<std::uint64_t, engine::Unreachable> ask_count();
    [[nodiscard]] std::optional<std::uint64_t> count();

    // Fills the lowest holes that keep larger nonces waiting; the next ones once these are on
    // chain. They are stored before they are sent (OwnTransactions).
    void fill_holes(std::uint64_t count);

    // Both; for now and then.
    std::optional<std::uint64_t> refresh();

    // The last look found a hole that nothing could be signed for: look again soon.
    [[nodiscard]] bool has_unsigned_filler() const { return unsigned_filler_; }

private:
    [[nodiscard]] std::variant<std::uint64_t, engine::Unreachable> read_count();

    struct Filling;
    using FillingPtr = std::shared_ptr<Filling>;

    [[nodiscard]] FillingPtr filling_of(const Nonces::Holes& holes);
    void sign_all(const FillingPtr& filling);
    void hand_over(Filling& filling);

    const Options options_;
    jsonrpc::Node& write_;
    Nonces& nonces_;
    Fees& fees_;
    Signer& signer_;
    OwnTransactions& own_;
    ports::Executor& executor_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    std::atomic<bool> fills_{false};  // one look at a time
    std::atomic<bool> unsigned_filler_{false};
};

}  // namespace chains::evm
