#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/options.hpp"
#include "chains/evm/signer.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::evm {

// Looks at our accounts and at the write node every 15 s (in trouble: 5 s), and now and then
// whether that is on the right chain. What was read stays until it is read again. Any thread.
class Monitor {
public:
    // `signers`: those of Options::keys().
    Monitor(const Options& options, std::vector<const Signer*> signers, jsonrpc::Node& write,
            ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    void start();  // once
    // Waits for a look under way, so stop the node first. Not from inside one.
    void stop();

    [[nodiscard]] std::optional<jsonrpc::Wei> balance(std::size_t signer = 0) const;
    // In units of 10^18 wei.
    [[nodiscard]] std::optional<double> balance_in_coins(std::size_t signer = 0) const;
    [[nodiscard]] std::optional<std::uint64_t> head() const;
    // Transactions of an account that are on the chain: the highest number any answer had, since
    // some come from nodes that lag behind.
    [[nodiscard]] std::optional<std::uint64_t> nonce(std::size_t signer = 0) const;

    // The node is on another chain than the configuration says: nothing should be sent.
    [[nodiscard]] bool on_wrong_chain() const;
    // The node said so. Before that nobody knows.
    [[nodiscard]] bool on_right_chain() const;

    // Nothing when the last look went well, else one line without secrets.
    [[nodiscard]] std::optional<std::string> problem() const;

private:
    struct Account {
        const Signer* signer = nullptr;
        jsonrpc::Wei low_balance = 0;
        std::optional<jsonrpc::Wei> balance{};
        std::optional<std::uint64_t> nonce{};
        bool low = false;
    };

    void look();
    [[nodiscard]] std::optional<domain::Milliseconds> read();
    // `accounts`: whose each of the first calls is, two of each.
    void note_locked(const std::vector<jsonrpc::Call>& calls,
                     const std::vector<jsonrpc::Answer>& answers,
                     const std::vector<Account*>& accounts);
    [[nodiscard]] const char* note_answer_locked(std::string_view method, const jsonrpc::Json& said,
                                                 Account* account);
    void note_chain_id_locked(std::uint64_t chain_id);
    void note_balance_locked(jsonrpc::Wei balance, Account& account);
    void note_problem_locked(std::optional<std::string> problem);

    const Options options_;
    jsonrpc::Node& write_;
    const ports::Clock& clock_;
    ports::Logger& logger_;

    mutable std::mutex mutex_;  // for what follows
    std::vector<Account> accounts_;
    std::optional<std::uint64_t> head_;
    std::optional<std::uint64_t> chain_id_;
    std::optional<domain::Monotonic> chain_id_at_;
    bool told_of_remark_ = false;  // the reading task alone
    std::optional<std::string> problem_;

    engine::TaskGroup task_group_;  // last: it waits for work that uses the rest
};

}  // namespace chains::evm
