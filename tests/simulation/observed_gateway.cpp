#include "simulation/observed_gateway.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace simulation {

using domain::Family;

void broken(const std::string& what) {
    throw std::logic_error(what);
}

namespace {

const engine::SendGateOptions& gate_of(const engine::Options& options, Family family) {
    switch (family) {
        case Family::input_proof:
            return options.sending.input_proof;
        case Family::public_decrypt:
            return options.sending.public_decrypt;
        default:
            return options.sending.user_decrypt;
    }
}

template <typename Counted>
std::size_t count_of(const Counted& counted, Family family) {
    return static_cast<std::size_t>(std::count_if(
        counted.begin(), counted.end(),
        [family](const auto& entry) { return domain::family_of(entry.second) == family; }));
}

engine::NullifierAnswer said_by(std::uint64_t dice) {
    if (dice < 4) return engine::NotRevealed{};
    if (dice == 9) return engine::Unreachable{"away"};
    return engine::Revealed{};
}

}  // namespace

void ObservedGateway::listen(engine::GatewayEvents& events, const engine::Resume& resume) {
    events_ = &events;
    checking_.clear();
    sending_.clear();
    proved_.clear();
    starts_.clear();
    chain_.listen(*this, resume);
}

void ObservedGateway::check(std::vector<engine::CheckOrder> orders) {
    for (const engine::CheckOrder& order : orders) {
        const bool is_new = checking_.emplace(order.id, domain::kind_of(*order.request)).second;
        if (!is_new) broken("checked twice at once: " + to_string(order.id));
    }
    hold_limits();
    chain_.check(std::move(orders));
}

void ObservedGateway::prepare(std::vector<engine::PrepareOrder> orders) {
    for (const engine::PrepareOrder& order : orders) {
        const domain::Kind kind = domain::kind_of(*order.request);
        const bool is_new = sending_.emplace(order.id, kind).second;
        if (!is_new) broken("prepared while in work: " + to_string(order.id));
        if (const auto* share = std::get_if<domain::VoteShare>(order.request.get())) {
            const domain::Timestamp due{
                std::chrono::seconds{static_cast<std::int64_t>(share->submit_at)}};
            if (clock_.wall() < due) broken("share started before its second");
            due_[order.id] = due;
            proved_.erase(order.id);
        } else {
            count_start(domain::family_of(kind));
        }
    }
    hold_limits();
    chain_.prepare(std::move(orders));
}

void ObservedGateway::send(std::vector<engine::SendOrder> orders) {
    for (const engine::SendOrder& order : orders) {
        if (order.sealed.empty()) broken("sent without a sealed transaction");
        if (const auto due = due_.find(order.id);
            due != due_.end() && clock_.wall() < due->second) {
            broken("share sent before its second");
        }
        // It passed the gate when it was prepared, perhaps in another life.
        const bool resent = sending_.emplace(order.id, order.kind).second;
        const bool is_proved = proved_.erase(order.id) > 0;
        if (resent && !is_proved && !order.look_up_first)
            broken("sent again without looking first");
    }
    hold_limits();
    chain_.send(std::move(orders));
}

void ObservedGateway::confirm(std::vector<engine::ConfirmOrder> orders) {
    if (!options_.shares.confirm_reveals) broken("looked up without being asked to");
    for (const engine::ConfirmOrder& order : orders) {
        if (order.sealed.bytes.empty()) broken("looked up without its message");
        if (++confirming_ > options_.shares.confirms_max) broken("more look-ups than allowed");
        const std::uint64_t dice = random_.below(10);
        executor_.run_after(domain::Milliseconds{static_cast<std::int64_t>(random_.below(3'000))},
                            [this, order, dice] {
                                --confirming_;
                                events_->confirmed({{order.id, order.since, said_by(dice)}});
                            });
    }
}

// Within any second no more than the rate and one burst (the gate begins each life full).
void ObservedGateway::count_start(Family family) {
    const engine::SendGateOptions& gate = gate_of(options_, family);
    const std::size_t burst = gate.burst == 0 ? gate.per_seconds : gate.burst;
    std::deque<domain::Monotonic>& starts = starts_[family];
    const domain::Monotonic now = clock_.monotonic();
    while (!starts.empty() && now - starts.front() >= std::chrono::seconds{1}) starts.pop_front();
    starts.push_back(now);
    if (starts.size() > gate.per_seconds + burst) broken("sent faster than the rate allows");
}

void ObservedGateway::hold_limits() const {
    if (count_of(checking_, Family::public_decrypt) >
            options_.readiness.public_decrypt.max_concurrency ||
        count_of(checking_, Family::user_decrypt) >
            options_.readiness.user_decrypt.max_concurrency) {
        broken("more checks at once than permits");
    }
    const std::size_t shares = count_of(sending_, Family::share);
    if (shares > options_.shares.max_concurrent_proofs) broken("more shares at once than slots");
    if (sending_.size() - shares > options_.sends_max) broken("more sends in flight than allowed");
}

void ObservedGateway::checked(std::vector<engine::Checked> events) {
    for (const engine::Checked& event : events) checking_.erase(event.id);
    events_->checked(std::move(events));
}

void ObservedGateway::prepared(std::vector<engine::Prepared> events) {
    for (const engine::Prepared& event : events) {
        const auto sending = sending_.find(event.id);
        if (sending == sending_.end()) continue;
        const bool is_plan = std::holds_alternative<engine::Plan>(event.outcome);
        const bool is_share = sending->second == domain::Kind::share;
        if (is_plan && is_share) proved_.insert(event.id);
        if (!is_plan || is_share) sending_.erase(sending);
    }
    events_->prepared(std::move(events));
}

void ObservedGateway::sent(std::vector<engine::Sent> events) {
    for (const engine::Sent& event : events) sending_.erase(event.id);
    events_->sent(std::move(events));
}

void ObservedGateway::answered(engine::Answered event) {
    events_->answered(std::move(event));
}

}  // namespace simulation
