#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chains/evm/fees.hpp"
#include "chains/evm/nonces.hpp"
#include "chains/evm/options.hpp"
#include "chains/evm/receipts.hpp"
#include "chains/evm/send_verdict.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "engine/gateway.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Transactions of an account for no request: fillers of holes, and approvals (evm-gateway 5.8).
// What is signed is stored first (engine::GatewayEvents::own_sealed) and leaves after that commit;
// its nonce is held from before it is signed. The same bytes go again until the nonce is used. One
// that is stuck is signed anew with higher fees, and one that can never pass gives its nonce to a
// transaction that does nothing. One that a block has is looked for until `reorg_depth` blocks are
// on top, so a block that was replaced brings it back. Any thread.
class OwnTransactions {
public:
    using Purpose = store::OwnTransaction::Purpose;

    struct Hooks {
        std::function<std::optional<std::uint64_t>()> count;  // of the account; blocks
        std::function<bool()> on_right_chain;
        std::function<void()> left;  // larger nonces may leave now
    };
    OwnTransactions(const Options& options, jsonrpc::Node& write, Nonces& nonces, Fees& fees,
                    Signer& signer, ports::Executor& executor, const ports::Clock& clock,
                    ports::Logger& logger, Hooks hooks);

    // Once. Those of other accounts and chains are left alone.
    void start(engine::GatewayEvents& events, const engine::Resume& resume);

    // Signed with a nonce that is held. `stored` is called after the commit, before it leaves; must
    // be quick.
    using Stored = std::function<void(const store::OwnTransaction&)>;
    void hand_over(Purpose purpose, std::uint64_t nonce, domain::Bytes bytes, Stored stored = {});
    // After that commit; processor thread.
    void send(const std::vector<store::OwnTransaction>& own);

    // These are about to be handed over as fillers: one line of the log says when nodes have them
    // all, or that one was refused. `left`: holes behind them.
    void expect_fillers(const std::vector<std::uint64_t>& nonces, std::uint64_t left);
    // The nonce of a filler that is stored and in no block.
    [[nodiscard]] std::optional<std::uint64_t> smallest_filler_on_its_way() const;

    struct Approval {
        domain::Bytes32 hash{};
        std::optional<store::OwnFate> fate;  // nothing: in no block
        std::optional<std::uint64_t> block;
    };
    // Those of this life that are stored, by nonce; the newest few.
    [[nodiscard]] std::map<std::uint64_t, Approval> approvals() const;

private:
    // All that was signed with one nonce.
    struct Own {
        Purpose purpose = Purpose::filler;
        std::vector<engine::Sealed> sealed;  // stored, oldest first
        Transaction newest;
        std::optional<TransactionReceipt> receipt;
        bool taken = false;         // a node has the newest
        bool signing = false;       // another one
        bool told_refusal = false;  // to the log
        std::optional<domain::Monotonic> signing_held_until;
        std::optional<domain::Monotonic> refused_since;
        std::optional<domain::Monotonic> used_since;  // the nonce, and no receipt
        domain::Monotonic looked{};
    };
    // Fillers whose line is not out.
    struct Filling {
        std::uint64_t first = 0;
        std::set<std::uint64_t> open;  // no node has them
        std::size_t count = 0;         // nodes have
        std::uint64_t left = 0;
        bool told_refusal = false;
    };

    // False: it is no transaction of this account on this chain.
    [[nodiscard]] bool take_locked(const store::OwnTransaction& own);
    [[nodiscard]] std::optional<Own> copy(std::uint64_t nonce) const;
    void change(std::uint64_t nonce, const std::function<void(Own&)>& change);
    // For the log.
    [[nodiscard]] static std::string words_of(std::uint64_t nonce, Purpose purpose,
                                              const domain::Bytes32& hash);
    [[nodiscard]] domain::Address self_of(const Own& own) const;

    void plan_locked(domain::Milliseconds pause);
    void look(domain::Monotonic planned);
    void look_at(std::uint64_t nonce, std::uint64_t count);
    void look_for_receipt(std::uint64_t nonce, const Own& own);
    void look_whether_it_stands(std::uint64_t nonce, const Own& own);
    void note_included(std::uint64_t nonce, const Own& own, const TransactionReceipt& receipt);
    void note_lost(std::uint64_t nonce, const Own& own);
    void settle(std::uint64_t nonce, const Own& own, const std::optional<domain::Bytes32>& hash,
                store::OwnFate fate);

    void submit(std::uint64_t nonce, const Own& own);
    void judge(std::uint64_t nonce, const Own& own, const jsonrpc::Answer& answer);
    void refused(std::uint64_t nonce, const Own& own, const jsonrpc::NodeError& error);
    void note_taken(std::uint64_t nonce);
    void note_filling(std::uint64_t nonce, bool accepted);
    void bump(std::uint64_t nonce, const Own& own, const FeeFloor& floor = {});
    void cancel(std::uint64_t nonce, const Own& own);
    void sign_again(std::uint64_t nonce, Purpose purpose, const Transaction& transaction);
    [[nodiscard]] bool is_old(const Own& own) const;

    const Options options_;
    jsonrpc::Node& write_;
    Nonces& nonces_;
    Fees& fees_;
    Signer& signer_;
    ports::Executor& executor_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    const Hooks hooks_;
    Receipts receipts_;
    engine::GatewayEvents* events_ = nullptr;
    std::mutex looks_;  // one look at a time

    mutable std::mutex mutex_;  // for what follows
    std::map<std::uint64_t, Own> own_;
    std::map<domain::Bytes32, Stored> stored_;  // by hash
    std::optional<Filling> filling_;
    std::map<std::uint64_t, Approval> approvals_;
    std::optional<domain::Monotonic> next_look_;
};

}  // namespace chains::evm
