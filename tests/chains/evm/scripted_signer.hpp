#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "domain/time.hpp"
#include "support/virtual_time.hpp"

namespace support {

// A signer that is elsewhere: signs with a key, after a virtual delay, unless the test says
// otherwise.
class ScriptedSigner : public chains::evm::Signer {
public:
    using Result = chains::evm::SignResult;
    using Transaction = chains::evm::Transaction;

    ScriptedSigner(VirtualExecutor& executor, const std::string& key)
        : executor_(executor),
          key_(chains::evm::private_key_signer(key)),
          account(key_->address()) {}

    // Nothing: it never answers.
    std::function<std::optional<Result>(const Transaction&)> on_sign =
        [this](const Transaction& transaction) { return sign(transaction); };
    std::function<domain::Milliseconds(const Transaction&)> delay = [](const Transaction&) {
        return domain::Milliseconds{300};
    };
    std::function<Upkeep()> on_keep_up = [] { return Upkeep{}; };

    [[nodiscard]] Result sign(const Transaction& transaction) const {
        return chains::evm::sign(transaction, *key_);
    }

    [[nodiscard]] std::optional<domain::Address> known_address() const override { return account; }
    [[nodiscard]] Upkeep keep_up() override { return on_keep_up(); }
    void fetch(const Transaction& transaction, Done done) override {
        asked.push_back(transaction);
        under_way_peak = std::max(under_way_peak, ++under_way);
        executor_.run_after(delay(transaction), [this, transaction, done = std::move(done)] {
            auto result = on_sign(transaction);
            --under_way;
            if (result) done(std::move(*result));
        });
    }

private:
    VirtualExecutor& executor_;
    std::unique_ptr<chains::evm::LocalSigner> key_;

public:
    std::optional<domain::Address> account;
    std::vector<Transaction> asked;
    std::size_t under_way = 0;
    std::size_t under_way_peak = 0;
};

}  // namespace support
