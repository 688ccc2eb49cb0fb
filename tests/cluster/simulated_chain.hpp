#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/kind.hpp"
#include "domain/request_id.hpp"
#include "engine/gateway.hpp"
#include "support/virtual_time.hpp"

namespace cluster_test {

// What was signed for a request, as its bytes say it.
struct SignedCall {
    domain::RequestId id;
    domain::Kind kind = domain::Kind::input_proof;
    std::uint64_t nonce = 0;  // of shares: none
    std::uint64_t due = 0;    // of shares: the second before which they must not be seen
    std::string salt{};       // two of them never have the same bytes

    [[nodiscard]] domain::Bytes bytes() const;
    [[nodiscard]] static SignedCall in(const domain::Bytes& bytes);
};

// A chain with one account, in virtual time. It outlives every owner, and what was sent to it may
// come late, or never. It includes nonce after nonce, and does not prevent that a request is
// included twice: it shows it.
class SimulatedChain {
public:
    struct Included {
        SignedCall call;
        domain::Bytes32 reference{};
    };
    struct Counts {
        std::uint64_t included = 0;
        std::uint64_t twice = 0;       // with another transaction before
        std::uint64_t early = 0;       // shares seen before their second
        std::uint64_t nonce_used = 0;  // transactions whose nonce another one had used
    };

    SimulatedChain(const support::VirtualClock& clock, std::uint64_t seed)
        : clock_(clock), random_(seed) {}

    // Somebody gives it to a node: it arrives within some seconds, unless it is lost.
    void send(const domain::Bytes& bytes);
    // What has arrived by now.
    void step();

    [[nodiscard]] const Included* find(const domain::Bytes32& hash) const;
    [[nodiscard]] bool was_revealed(const domain::RequestId& id) const;
    [[nodiscard]] std::uint64_t next_nonce() const { return next_nonce_; }
    [[nodiscard]] bool has_waiting() const { return !pool_.empty(); }
    [[nodiscard]] bool has_included(const domain::RequestId& id) const {
        return included_for_.contains(id);
    }
    [[nodiscard]] const Counts& counts() const { return counts_; }

    // Answers in their order, behind this one.
    [[nodiscard]] std::vector<engine::Answer> answers_behind(std::uint64_t position) const;

private:
    void arrive(const domain::Bytes& bytes);
    void include(const domain::Bytes32& hash, const SignedCall& call);

    const support::VirtualClock& clock_;
    support::SeededRandom random_;
    std::multimap<domain::Monotonic, domain::Bytes> on_their_way_;
    std::map<std::uint64_t, domain::Bytes> pool_;  // by nonce
    std::uint64_t next_nonce_ = 0;
    std::map<domain::Bytes32, Included> included_;
    std::set<domain::RequestId> included_for_;
    std::set<domain::RequestId> revealed_;
    std::multimap<domain::Monotonic, engine::Answer> answers_to_come_;
    std::vector<engine::Answer> answers_;
    Counts counts_;
};

// The chain as one ownership reaches it. Nothing is sent, and nothing read of it is told, unless
// `may_act` says so.
class SimulatedGateway : public engine::Gateway {
public:
    SimulatedGateway(SimulatedChain& chain, support::VirtualClock& clock,
                     support::VirtualExecutor& executor, std::function<bool()> may_act,
                     std::uint64_t seed)
        : chain_(chain),
          clock_(clock),
          executor_(executor),
          may_act_(std::move(may_act)),
          random_(seed) {}

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override;
    void check(std::vector<engine::CheckOrder> orders) override;
    void prepare(std::vector<engine::PrepareOrder> orders) override;
    void send(std::vector<engine::SendOrder> orders) override;
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override;
    void keep_sealed() override { kept_nonce_ = nonce_; }
    void undo_sealed() override { nonce_ = kept_nonce_; }
    void stop() override {}
    [[nodiscard]] std::optional<std::string> problem() const override { return std::nullopt; }

private:
    void look_for_answers();
    void look_for_receipt(const engine::SendOrder& order);
    [[nodiscard]] engine::SendOutcome outcome_of(const engine::SendOrder& order) const;
    [[nodiscard]] domain::Milliseconds some_time(std::uint64_t most) {
        return domain::Milliseconds{static_cast<std::int64_t>(random_.below(most))};
    }

    SimulatedChain& chain_;
    support::VirtualClock& clock_;
    support::VirtualExecutor& executor_;
    const std::function<bool()> may_act_;
    support::SeededRandom random_;
    engine::GatewayEvents* events_ = nullptr;
    std::uint64_t nonce_ = 0;
    std::uint64_t kept_nonce_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace cluster_test
