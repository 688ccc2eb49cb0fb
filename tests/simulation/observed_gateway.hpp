#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "engine/gateway.hpp"
#include "engine/options.hpp"
#include "support/virtual_time.hpp"

namespace simulation {

// An invariant does not hold: ends the run.
[[noreturn]] void broken(const std::string& what);

// Stands between the engine and a chain and watches that the gates hold what they promise. Throws
// std::logic_error at the first broken promise.
class ObservedGateway : public engine::Gateway, private engine::GatewayEvents {
public:
    ObservedGateway(engine::Gateway& chain, const engine::Options& options,
                    const support::VirtualClock& clock, support::VirtualExecutor& executor,
                    std::uint64_t seed)
        : chain_(chain), options_(options), clock_(clock), executor_(executor), random_(seed) {}

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override;
    void check(std::vector<engine::CheckOrder> orders) override;
    void prepare(std::vector<engine::PrepareOrder> orders) override;
    void send(std::vector<engine::SendOrder> orders) override;
    // Says by dice what the chain has: loses shares, and is away now and then.
    void confirm(std::vector<engine::ConfirmOrder> orders) override;
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override {
        return chain_.seal(id, kind, plan);
    }
    void stop() override { chain_.stop(); }
    [[nodiscard]] std::optional<std::string> problem() const override { return chain_.problem(); }

private:
    void checked(std::vector<engine::Checked> events) override;
    void prepared(std::vector<engine::Prepared> events) override;
    void sent(std::vector<engine::Sent> events) override;
    void answered(engine::Answered event) override;

    void count_start(domain::Family family);
    void hold_limits() const;

    engine::Gateway& chain_;
    const engine::Options& options_;
    const support::VirtualClock& clock_;
    support::VirtualExecutor& executor_;
    support::SeededRandom random_;
    std::size_t confirming_ = 0;
    engine::GatewayEvents* events_ = nullptr;
    std::map<domain::RequestId, domain::Kind> checking_;
    std::map<domain::RequestId, domain::Kind> sending_;   // from preparing to the receipt
    std::map<domain::RequestId, domain::Timestamp> due_;  // of shares
    // Of them: sent next, or put back where the engine's clock says that they are early again.
    std::set<domain::RequestId> proved_;
    std::map<domain::Family, std::deque<domain::Monotonic>> starts_;  // of this life, last second
};

}  // namespace simulation
