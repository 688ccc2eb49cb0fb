#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/bytes.hpp"
#include "engine/gateway.hpp"
#include "support/virtual_time.hpp"

namespace support {

// A chain that does what the test says: each order asks a function for its outcome; nothing means
// that the answer never comes. Outcomes arrive after a virtual delay.
class ScriptedGateway : public engine::Gateway {
public:
    explicit ScriptedGateway(VirtualExecutor& executor) : executor_(executor) {}

    std::function<std::optional<engine::CheckOutcome>(const engine::CheckOrder&)> on_check =
        [](const engine::CheckOrder&) { return engine::Ready{}; };
    std::function<std::optional<engine::PrepareOutcome>(const engine::PrepareOrder&)> on_prepare =
        [](const engine::PrepareOrder&) { return engine::Plan{}; };
    std::function<std::optional<engine::SendOutcome>(const engine::SendOrder&)> on_send =
        [](const engine::SendOrder& order) { return receipt(order); };

    std::function<std::optional<engine::NullifierAnswer>(const engine::ConfirmOrder&)> on_confirm =
        [](const engine::ConfirmOrder&) { return engine::Revealed{}; };

    domain::Milliseconds check_delay{10};
    domain::Milliseconds prepare_delay{10};
    domain::Milliseconds send_delay{10};
    domain::Milliseconds confirm_delay{10};
    // Called inside the step, like the real one.
    std::function<void()> on_seal = [] {};
    std::function<std::optional<std::uint32_t>(const domain::Bytes32& context)> on_threshold =
        [](const domain::Bytes32&) { return std::nullopt; };
    // A signer elsewhere: what it says to the ticket; nothing: it never answers. None: seal()
    // signs.
    std::function<std::optional<engine::SignOutcome>(std::uint64_t ticket, engine::Sealed sealed)>
        on_sign;
    std::function<domain::Milliseconds(std::uint64_t ticket)> sign_delay = [](std::uint64_t) {
        return domain::Milliseconds{10};
    };
    std::vector<std::uint64_t> dropped;  // tickets
    std::vector<std::uint64_t> stored_seals;
    bool announces = false;              // thresholds
    bool hears = true;                   // answers
    std::optional<bool> refused;         // whether what is sent was, for no reason that is known
    std::string account;                 // whose nonces it gives out; empty: nobody's
    std::vector<std::uint64_t> rereads;  // blocks it was asked to read again
    std::vector<engine::Plan> plans;     // that were sealed
    // The block that has what is sent, on a chain whose blocks may be replaced.
    std::optional<domain::Block> block;
    std::vector<std::vector<domain::Block>> watched;  // as they were given
    std::size_t kept = 0;                             // how often what was sealed became durable
    std::size_t undone = 0;                           // and how often it did not

    struct SentAt {
        domain::Monotonic when;
        engine::SendOrder order;
    };
    std::vector<engine::CheckOrder> checks;
    std::vector<engine::PrepareOrder> prepares;
    std::vector<SentAt> sends;
    struct ConfirmedAt {
        domain::Monotonic when;
        engine::ConfirmOrder order;
    };
    std::vector<ConfirmedAt> confirms;
    std::size_t confirms_running = 0;
    std::size_t confirms_peak = 0;
    std::size_t checks_running = 0;
    std::size_t checks_peak = 0;
    std::size_t sends_running = 0;
    std::size_t sends_peak = 0;
    std::uint64_t listened_from = 0;
    engine::Resume resumed;
    bool healthy = true;
    const VirtualClock* clock = nullptr;

    [[nodiscard]] static domain::Bytes32 reference_of(const domain::RequestId& id) {
        const std::string text = "reference " + to_string(id);
        return domain::sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }

    [[nodiscard]] static engine::SendOutcome receipt(const engine::SendOrder& order) {
        engine::Receipt receipt{order.sealed.front().hash, {}, {}};
        if (order.kind == domain::Kind::share) {
            receipt.revealed = domain::ShareRevealed{"AB", false};
        } else {
            receipt.reference = reference_of(order.id);
        }
        return receipt;
    }

    void news(engine::BlockNews said) { events_->block_news(std::move(said)); }

    void answer(const domain::RequestId& id, engine::AnswerBody body,
                std::optional<domain::Block> in = std::nullopt) {
        events_->answered({{{reference_of(id), std::move(body), in}},
                           ++cursor_,
                           std::string{engine::only_listener},
                           false});
    }

    void listen(engine::GatewayEvents& events, const engine::Resume& resume) override {
        events_ = &events;
        resumed = resume;
        listened_from = resume.cursor(std::string{engine::only_listener});
        cursor_ = std::max(cursor_, listened_from);
    }

    void check(std::vector<engine::CheckOrder> orders) override {
        for (engine::CheckOrder& order : orders) {
            checks_peak = std::max(checks_peak, ++checks_running);
            checks.push_back(order);
            executor_.run_after(check_delay, [this, order] {
                auto outcome = on_check(order);
                if (!outcome) return;
                --checks_running;
                events_->checked({{order.id, std::move(*outcome)}});
            });
        }
    }

    void prepare(std::vector<engine::PrepareOrder> orders) override {
        for (engine::PrepareOrder& order : orders) {
            prepares.push_back(order);
            executor_.run_after(prepare_delay, [this, order] {
                if (auto outcome = on_prepare(order)) {
                    events_->prepared({{order.id, std::move(*outcome)}});
                }
            });
        }
    }

    void send(std::vector<engine::SendOrder> orders) override {
        for (engine::SendOrder& order : orders) {
            sends_peak = std::max(sends_peak, ++sends_running);
            sends.push_back({clock != nullptr ? clock->monotonic() : domain::Monotonic{}, order});
            executor_.run_after(send_delay, [this, order] {
                auto outcome = on_send(order);
                if (!outcome) return;
                --sends_running;
                engine::Sent sent{order.id, std::move(*outcome)};
                sent.refused = refused;
                const bool has_block = std::holds_alternative<engine::Receipt>(sent.outcome) ||
                                       std::holds_alternative<engine::Rejected>(sent.outcome);
                if (block && has_block) {
                    sent.included = engine::Included{order.sealed.back().hash, *block};
                }
                events_->sent({std::move(sent)});
            });
        }
    }

    std::vector<store::OwnTransaction> own_sent;
    void send_own(std::vector<store::OwnTransaction> own) override {
        own_sent.insert(own_sent.end(), own.begin(), own.end());
    }

    void confirm(std::vector<engine::ConfirmOrder> orders) override {
        for (engine::ConfirmOrder& order : orders) {
            confirms_peak = std::max(confirms_peak, ++confirms_running);
            confirms.push_back(
                {clock != nullptr ? clock->monotonic() : domain::Monotonic{}, order});
            executor_.run_after(confirm_delay, [this, order] {
                auto answer = on_confirm(order);
                if (!answer) return;
                --confirms_running;
                events_->confirmed({{order.id, order.since, std::move(*answer)}});
            });
        }
    }

    struct ExpectedAt {
        domain::Monotonic when;
        std::size_t proofs;

        bool operator==(const ExpectedAt&) const = default;
    };
    std::vector<ExpectedAt> expected;
    void expect_proofs(std::size_t proofs) override {
        const auto when = clock != nullptr ? clock->monotonic() : domain::Monotonic{};
        const ExpectedAt now{when, proofs};
        if (expected.empty() || !(expected.back() == now)) expected.push_back(now);
    }

    void keep_sealed() override {
        ++kept;
        for (const Fetch& fetch : std::exchange(fetches_, {})) begin_fetch(fetch);
    }
    void undo_sealed() override {
        ++undone;
        fetches_.clear();
    }
    [[nodiscard]] std::optional<std::uint64_t> fetch_seal(const domain::RequestId& id,
                                                          domain::Kind kind,
                                                          const engine::Plan& plan) override {
        if (!on_sign) return std::nullopt;
        fetches_.push_back({++ticket_, id, kind, plan});
        return ticket_;
    }
    void end_seal(std::uint64_t ticket, bool stored) override {
        (stored ? stored_seals : dropped).push_back(ticket);
    }
    [[nodiscard]] std::optional<std::uint32_t> share_threshold(const domain::Bytes32& context,
                                                               std::uint32_t) override {
        return on_threshold(context);
    }
    [[nodiscard]] bool announces_thresholds() const override { return announces; }
    [[nodiscard]] bool hears_answers() const override { return hears; }
    void read_again(std::uint64_t number) override { rereads.push_back(number); }
    void watch(std::vector<domain::Block> blocks) override { watched.push_back(std::move(blocks)); }

    [[nodiscard]] engine::Sealed seal(const domain::RequestId& id, domain::Kind,
                                      const engine::Plan& plan) override {
        on_seal();
        plans.push_back(plan);
        const std::string text = to_string(id) + " " + std::to_string(++nonce_);
        engine::Sealed sealed;
        sealed.nonce = nonce_;
        sealed.bytes.assign(text.begin(), text.end());
        sealed.hash = domain::sha256(sealed.bytes);
        sealed.account = account;
        return sealed;
    }

    void stop() override {}
    [[nodiscard]] std::optional<std::string> problem() const override {
        return healthy ? std::nullopt : std::optional<std::string>("scripted");
    }

    // The process died: what was under way reports to nobody.
    void forget_work() { checks_running = sends_running = confirms_running = 0; }

private:
    struct Fetch {
        std::uint64_t ticket = 0;
        domain::RequestId id;
        domain::Kind kind{};
        engine::Plan plan;
    };

    void begin_fetch(const Fetch& fetch) {
        executor_.run_after(sign_delay(fetch.ticket), [this, fetch] {
            auto outcome = on_sign(fetch.ticket, seal(fetch.id, fetch.kind, fetch.plan));
            if (outcome) events_->sealed({{fetch.id, fetch.ticket, std::move(*outcome)}});
        });
    }

    VirtualExecutor& executor_;
    engine::GatewayEvents* events_ = nullptr;
    std::vector<Fetch> fetches_;
    std::uint64_t ticket_ = 0;
    std::uint64_t nonce_ = 0;
    std::uint64_t cursor_ = 0;
};

}  // namespace support
