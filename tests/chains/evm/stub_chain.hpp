#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/receipt.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"

namespace support {

// A gateway chain with its node and the accounts that send: takes transactions in order of their
// nonces, runs the gateway contract, answers requests and can lose its newest blocks. It outlives
// the relayer. What a node may do wrong is said by two functions. One thread.
class StubChain {
public:
    using Answer = chains::jsonrpc::Answer;
    using Call = chains::jsonrpc::Call;
    using Json = chains::jsonrpc::Json;

    StubChain(const domain::Address& account, const domain::Address& contract);
    // Others that send; what asks for no account is about the first.
    void add_account(const domain::Address& account) { accounts_.try_emplace(account); }

    // Instead of doing it.
    std::function<std::optional<Answer>(const Call&)> before;
    // Instead of what doing it gave; the transaction is in.
    std::function<std::optional<Answer>(const Call&, const Answer&)> after;
    // Revert data of a transaction with these arguments, if the contract refuses; `estimates`: it
    // is only tried.
    std::function<std::optional<domain::Bytes>(const domain::Bytes& input, bool estimates)> refuses;

    // A request of one node with so many calls in it.
    std::function<void(std::size_t calls)> before_request;
    // Unix seconds of a new block; absent: far ahead.
    std::function<std::uint64_t()> block_time;

    std::string version;     // what getVersion() says; empty: nobody knows that function
    bool mines = true;       // otherwise transactions stay in the pool
    bool knows_sync = true;  // eth_sendRawTransactionSync
    std::uint64_t base_fee = 1'000'000'000;
    std::vector<Call> calls;  // every one

    [[nodiscard]] Answer call(const Call& call);
    [[nodiscard]] std::size_t count(const std::string& method) const;

    // Blocks without transactions of ours.
    void mine(std::uint64_t blocks = 1);
    // What the pool has, as far as nonces follow.
    void mine_pool();
    void drop_pool() {
        for (auto& [address, account] : accounts_) account.pool.clear();
    }
    // The account's next nonce is used by somebody else.
    void use_nonce_elsewhere();
    // Takes the newest blocks back, with what they held.
    void lose_blocks(std::uint64_t blocks);
    // Others take the place of the newest blocks; ids are given anew. What transactions of ours
    // they held waits again, or is forgotten.
    void reorganise(std::uint64_t blocks, bool keeps_transactions);
    // Somebody else's request, which takes the next id.
    void ask_elsewhere();
    // The answer of the contract to one of its requests, in a block of its own.
    void answer(const domain::Bytes32& reference, const domain::Bytes32& topic, domain::Bytes data);
    // A share in a block of its own; with the event that these are enough, as the contract has it.
    void share(const domain::Bytes32& reference, std::uint32_t index,
               const domain::Bytes& extra_data, bool reaches_threshold = false);
    // Answers every request that has none: proofs accepted, values public, `shares` shares.
    void answer_all(std::uint32_t shares = 9);

    [[nodiscard]] std::uint64_t head() const { return blocks_.size() - 1; }
    [[nodiscard]] std::uint64_t nonce() const { return nonce(account_); }
    [[nodiscard]] std::uint64_t nonce(const domain::Address& account) const {
        return accounts_.at(account).nonce;
    }
    [[nodiscard]] std::size_t in_pool() const;
    // In wei; 10^18 to begin with.
    [[nodiscard]] chains::jsonrpc::Wei& balance(const domain::Address& account) {
        return accounts_.at(account).balance;
    }

    struct Included {
        chains::evm::Transaction transaction;
        domain::Bytes32 hash{};
        std::uint64_t block = 0;
        bool succeeded = true;
        std::optional<domain::Bytes32> reference;
        domain::Address from{};
    };
    // In the order of the chain; foreign ones have no entry.
    [[nodiscard]] const std::vector<Included>& included() const { return included_; }
    // How often calldata was included with success.
    [[nodiscard]] std::map<domain::Bytes, int> inclusions() const;

private:
    using Pool = std::map<std::uint64_t, std::pair<chains::evm::Transaction, domain::Bytes32>>;
    struct Account {
        std::uint64_t nonce = 0;
        Pool pool{};
        chains::jsonrpc::Wei balance = 1'000'000'000'000'000'000U;
    };

    struct Block {
        domain::Bytes32 hash{};
        std::uint64_t seconds = 0;
        std::map<domain::Address, std::uint64_t> nonces_before;
        std::uint64_t reference_before = 1;
        std::vector<chains::evm::Log> logs;
    };

    [[nodiscard]] Answer act(const Call& call);
    [[nodiscard]] Answer take(const domain::Bytes& raw, bool sync);
    [[nodiscard]] Answer read_logs(const Json& filter) const;
    [[nodiscard]] Json receipt_of(const Included& transaction) const;
    [[nodiscard]] static Json log_json(const chains::evm::Log& log, const domain::Bytes32& hash);
    Block& new_block();
    [[nodiscard]] std::optional<domain::Address> sender_in(const domain::Bytes& raw) const;
    [[nodiscard]] std::uint64_t& account_nonce() { return accounts_.at(account_).nonce; }
    void include(const domain::Address& from, const chains::evm::Transaction& transaction,
                 const domain::Bytes32& hash);

    const domain::Address account_;
    const domain::Address contract_;
    std::vector<Block> blocks_;
    std::uint64_t forks_ = 0;  // hashes differ after blocks were lost
    std::map<domain::Address, Account> accounts_;
    std::uint64_t next_reference_ = 1;
    std::vector<Included> included_;
    std::size_t answered_ = 0;
};

// A node of the chain. Each role can have its own.
class StubNode : public chains::jsonrpc::Node {
public:
    explicit StubNode(StubChain& chain) : chain_(chain) {}

    using Node::call;
    [[nodiscard]] chains::jsonrpc::Answer call(const chains::jsonrpc::Call& call,
                                               std::optional<domain::Milliseconds>) override {
        if (chain_.before_request) chain_.before_request(1);
        return chain_.call(call);
    }
    [[nodiscard]] std::vector<chains::jsonrpc::Answer> call_all(
        const std::vector<chains::jsonrpc::Call>& calls) override {
        if (chain_.before_request) chain_.before_request(calls.size());
        std::vector<chains::jsonrpc::Answer> answers;
        for (const auto& one : calls) answers.push_back(chain_.call(one));
        return answers;
    }
    void stop() override {}
    [[nodiscard]] std::optional<std::string> problem() const override { return std::nullopt; }

private:
    StubChain& chain_;
};

}  // namespace support
