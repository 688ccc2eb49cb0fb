#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "chains/evm/relay.hpp"
#include "chains/evm/scripted_signer.hpp"
#include "domain/keccak.hpp"

namespace support {

// The key `number`, from 1 on; what nobody should use.
inline std::string small_key(unsigned number) {
    return std::string(63, '0') + std::to_string(number);
}

// A relayer with several keys, in the process or elsewhere.
struct SeveralRelay : Relay {
    explicit SeveralRelay(unsigned count = 3, bool elsewhere = false) {
        crash();
        for (unsigned number = 1; number <= count; ++number) {
            scripted.push_back(std::make_unique<ScriptedSigner>(executor, small_key(number)));
            accounts.push_back(*scripted.back()->known_address());
            chain.add_account(accounts.back());
            chains::evm::Options::Signing signing;
            signing.table = "gateway.tx_engine.signers[" + std::to_string(number - 1) + "]";
            signing.private_key = small_key(number);
            options.signers.push_back(signing);
            if (elsewhere) signers.push_back(scripted.back().get());
        }
        start();
        run_for(domain::Milliseconds{1'000});
    }

    std::vector<std::unique_ptr<ScriptedSigner>> scripted;
    std::vector<domain::Address> accounts;

    // Does the same when the process begins anew.
    void use_keys(const std::vector<std::size_t>& which) {
        const auto all = options.signers;
        options.signers.clear();
        for (const std::size_t index : which) options.signers.push_back(all.at(index));
    }

    void submit_proofs(unsigned count) {
        for (unsigned i = 0; i < count; ++i) submit(support::input_proof(next_++));
    }

    // Included transactions of each account, in the order of `accounts`.
    [[nodiscard]] std::vector<std::size_t> shares() const {
        std::vector<std::size_t> counts(accounts.size());
        for (const auto& entry : chain.included()) {
            for (std::size_t i = 0; i < accounts.size(); ++i) {
                if (entry.from == accounts[i]) ++counts[i];
            }
        }
        return counts;
    }

    [[nodiscard]] std::string address(std::size_t index) const {
        return domain::checksummed(accounts.at(index));
    }

    // Asked how many transactions this account has, the node says that.
    void tell_count_of(std::size_t index, const chains::jsonrpc::Answer& said) {
        chain.before =
            [this, index,
             said](const chains::jsonrpc::Call& call) -> std::optional<chains::jsonrpc::Answer> {
            const bool counts = call.method == "eth_getTransactionCount";
            if (!counts || account_in(call) != accounts.at(index)) return std::nullopt;
            return said;
        };
    }

    // Whose a call of a node is, if it is about one of them.
    [[nodiscard]] static std::optional<domain::Address> account_in(
        const chains::jsonrpc::Call& call) {
        if (sends(call)) return chains::evm::sender_of(*chains::jsonrpc::bytes(call.params[0]));
        if (call.method == "eth_estimateGas") {
            return chains::jsonrpc::address(call.params[0]["from"]);
        }
        if (call.method == "eth_getTransactionCount" || call.method == "eth_getBalance") {
            return chains::jsonrpc::address(call.params[0]);
        }
        return std::nullopt;
    }

    // The account of everything that was ever signed for each request, by its id; more than one
    // would be wrong.
    [[nodiscard]] std::map<std::int64_t, std::set<std::string>> signed_by() const {
        SQLite::Database database(store::database_path(engine.store_options).string());
        SQLite::Statement rows(database,
                               "select attempt.id, ifnull(address, '') from attempt left join "
                               "account on account.id = attempt.account");
        std::map<std::int64_t, std::set<std::string>> all;
        while (rows.executeStep()) {
            all[rows.getColumn(0).getInt64()].insert(rows.getColumn(1).getString());
        }
        return all;
    }

    void change(const std::string& sql) const {
        SQLite::Database database(store::database_path(engine.store_options).string(),
                                  SQLite::OPEN_READWRITE);
        database.exec(sql);
    }

    // Each request once, by one account, and no number of any account left out.
    void check_everything() {
        check_inclusions();
        for (const auto& account : accounts) {
            std::set<std::uint64_t> nonces;
            for (const auto& entry : chain.included()) {
                if (entry.from == account) nonces.insert(entry.transaction.nonce);
            }
            CHECK(chain.nonce(account) == nonces.size());
        }
        for (const auto& [id, by] : signed_by()) CHECK(by.size() == 1);
    }

    void check_received() {
        for (const auto& id : ids) CHECK(engine.status(id) == domain::Status::receipt_received);
        check_everything();
    }

private:
    std::uint64_t next_ = 1;
};

}  // namespace support
