#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gateway.hpp"

namespace chains {

// Two chains behind one port: vote shares go to one, everything else to the other. Both outlive it.
class SplitGateway final : public engine::Gateway {
public:
    SplitGateway(engine::Gateway& relayer, engine::Gateway& votes)
        : relayer_(relayer), votes_(votes) {}

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override;
    void check(std::vector<engine::CheckOrder> orders) override;
    void prepare(std::vector<engine::PrepareOrder> orders) override;
    void send(std::vector<engine::SendOrder> orders) override;
    void send_own(std::vector<store::OwnTransaction> own) override {
        relayer_.send_own(std::move(own));
    }
    void expect_proofs(std::size_t proofs) override { votes_.expect_proofs(proofs); }
    void confirm(std::vector<engine::ConfirmOrder> orders) override;
    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind kind,
                                      const engine::Plan& plan) override;
    [[nodiscard]] std::optional<std::uint64_t> fetch_seal(const domain::RequestId& id,
                                                          domain::Kind kind,
                                                          const engine::Plan& plan) override;
    void end_seal(std::uint64_t ticket, bool stored) override;
    void keep_sealed() override;
    void undo_sealed() override;
    [[nodiscard]] std::optional<std::uint32_t> share_threshold(const domain::Bytes32& context,
                                                               std::uint32_t configured) override;
    [[nodiscard]] bool announces_thresholds() const override;
    [[nodiscard]] bool hears_answers() const override { return relayer_.hears_answers(); }
    void read_again(std::uint64_t block) override;
    void watch(std::vector<domain::Block> blocks) override;
    void wind_down() override;
    void stop() override;
    [[nodiscard]] std::optional<std::string> problem() const override;
    [[nodiscard]] std::vector<engine::Dependency> dependencies() const override;
    [[nodiscard]] engine::ChainReadings readings() const override;

private:
    [[nodiscard]] engine::Gateway& of(domain::Kind kind) {
        return kind == domain::Kind::share ? votes_ : relayer_;
    }

    engine::Gateway& relayer_;
    engine::Gateway& votes_;
};

}  // namespace chains
