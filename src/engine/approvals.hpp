#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

// What an operator is shown before an account lets a contract take fees from it. Addresses with
// `0x`, amounts in tokens as decimal numbers.
struct ApprovalTerms {
    std::string signer;
    std::string token;
    std::string symbol;      // as the token says, harmless; may be empty
    std::string spender;     // the contract that takes fees
    std::string spender_is;  // as it says: `ProtocolPayment v0.1.0`; empty: it does not
    unsigned decimals = 0;
    std::string allowance;  // present
    std::string balance;
    std::string supply;
    std::uint64_t chain_id = 0;

    struct Sent {
        std::uint64_t nonce = 0;
        std::string hash;
        std::string state;  // `sent`, `included`, `reverted` or `replaced`
        std::optional<std::uint64_t> block;
    };
    // What this process sent, by nonce; the newest few.
    std::vector<Sent> sent{};
};

struct ApprovalOrder {
    std::string amount;
    std::string signer;  // all three as they were shown
    std::string token;
    std::string spender;
};

// It is stored, and is on its way.
struct Approved {
    std::uint64_t nonce = 0;
    std::string hash;
    std::string amount;
};

struct NotApproved {
    enum class Why {
        bad,      // what was asked for
        changed,  // token or spender are not what was shown
        now,      // nodes or the signer are away; later it may do
    };
    Why why = Why::now;
    std::string reason;
};

// Port: lets contracts take fees from an account that signs for us (evm-gateway 1.5).
class Approvals {
public:
    virtual ~Approvals() = default;

    using Terms = std::variant<ApprovalTerms, NotApproved>;
    using Outcome = std::variant<Approved, NotApproved>;

    // Any thread; blocks while the chain is asked. `signer` empty: the only one there is.
    [[nodiscard]] virtual Terms approval_terms(const std::string& signer) = 0;
    // Same. Replies once, from any thread, perhaps before it returns; after the commit that stored
    // the transaction.
    virtual void approve(const ApprovalOrder& order, std::function<void(const Outcome&)> reply) = 0;
};

// A chain without fees.
class NoApprovals final : public Approvals {
public:
    explicit NoApprovals(std::string reason) : reason_(std::move(reason)) {}
    [[nodiscard]] Terms approval_terms(const std::string&) override {
        return NotApproved{NotApproved::Why::bad, reason_};
    }
    void approve(const ApprovalOrder&, std::function<void(const Outcome&)> reply) override {
        reply(NotApproved{NotApproved::Why::bad, reason_});
    }

private:
    const std::string reason_;
};

}  // namespace engine
