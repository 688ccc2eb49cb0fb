#include "cluster/simulated_chain.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "support/answers.hpp"

namespace cluster_test {

namespace {

using domain::Kind;

const std::string account = "0x00000000000000000000000000000000000000aa";

domain::Bytes32 reference_of(const domain::Bytes32& hash) {
    return domain::sha256(hash);
}

// What the chain says to a request; the same whenever it is asked.
std::vector<engine::AnswerBody> answers_to(Kind kind) {
    if (kind == Kind::input_proof) return {support::proof_accepted()};
    if (kind == Kind::public_decrypt) return {support::public_decrypted()};
    return {support::kms_share(1), support::kms_share(2)};
}

}  // namespace

domain::Bytes SignedCall::bytes() const {
    std::ostringstream text;
    text << id.sequence << ' ' << id.random << ' ' << static_cast<int>(kind) << ' ' << nonce << ' '
         << due << ' ' << salt;
    const std::string written = text.str();
    return {written.begin(), written.end()};
}

SignedCall SignedCall::in(const domain::Bytes& bytes) {
    std::istringstream text(std::string(bytes.begin(), bytes.end()));
    SignedCall call;
    int kind = 0;
    text >> call.id.sequence >> call.id.random >> kind >> call.nonce >> call.due >> call.salt;
    call.kind = static_cast<Kind>(kind);
    return call;
}

void SimulatedChain::send(const domain::Bytes& bytes) {
    if (random_.chance(50)) return;
    const auto late = domain::Milliseconds{
        static_cast<std::int64_t>(random_.below(random_.chance(100) ? 10'000 : 300))};
    on_their_way_.emplace(clock_.monotonic() + late, bytes);
}

void SimulatedChain::step() {
    const domain::Monotonic now = clock_.monotonic();
    while (!on_their_way_.empty() && on_their_way_.begin()->first <= now) {
        arrive(on_their_way_.extract(on_their_way_.begin()).mapped());
    }
    while (!answers_to_come_.empty() && answers_to_come_.begin()->first <= now) {
        answers_.push_back(answers_to_come_.extract(answers_to_come_.begin()).mapped());
    }
}

void SimulatedChain::arrive(const domain::Bytes& bytes) {
    const domain::Bytes32 hash = domain::sha256(bytes);
    if (included_.contains(hash)) return;
    const SignedCall call = SignedCall::in(bytes);
    if (call.kind == Kind::share) {
        const auto second = std::chrono::seconds{static_cast<std::int64_t>(call.due)};
        if (clock_.wall() < domain::Timestamp{second}) ++counts_.early;
        revealed_.insert(call.id);
        included_.emplace(hash, Included{call, {}});
        return;
    }
    if (call.nonce < next_nonce_) {
        ++counts_.nonce_used;
        return;
    }
    pool_.try_emplace(call.nonce, bytes);
    while (!pool_.empty() && pool_.begin()->first == next_nonce_) {
        const domain::Bytes next = pool_.extract(pool_.begin()).mapped();
        include(domain::sha256(next), SignedCall::in(next));
    }
}

void SimulatedChain::include(const domain::Bytes32& hash, const SignedCall& call) {
    ++next_nonce_;
    ++counts_.included;
    if (!included_for_.insert(call.id).second) ++counts_.twice;
    const domain::Bytes32 reference = reference_of(hash);
    included_.emplace(hash, Included{call, reference});
    for (engine::AnswerBody& body : answers_to(call.kind)) {
        const auto later = domain::Milliseconds{static_cast<std::int64_t>(random_.below(3'000))};
        answers_to_come_.emplace(clock_.monotonic() + later,
                                 engine::Answer{reference, std::move(body), std::nullopt});
    }
}

const SimulatedChain::Included* SimulatedChain::find(const domain::Bytes32& hash) const {
    const auto found = included_.find(hash);
    return found == included_.end() ? nullptr : &found->second;
}

bool SimulatedChain::was_revealed(const domain::RequestId& id) const {
    return revealed_.contains(id);
}

std::vector<engine::Answer> SimulatedChain::answers_behind(std::uint64_t position) const {
    if (position >= answers_.size()) return {};
    return {answers_.begin() + static_cast<std::ptrdiff_t>(position), answers_.end()};
}

void SimulatedGateway::listen(engine::GatewayEvents& events, const engine::Resume& resume) {
    events_ = &events;
    delivered_ = resume.cursor(std::string{engine::only_listener});
    const auto known = resume.nonces.find(account);
    nonce_ = std::max(chain_.next_nonce(), known == resume.nonces.end() ? 0 : known->second);
    kept_nonce_ = nonce_;
    events_->account_found({account, chain_.next_nonce(), false, false});
    events_->accounts_settled({});
    look_for_answers();
}

void SimulatedGateway::look_for_answers() {
    engine::Answered answered;
    answered.answers = chain_.answers_behind(delivered_);
    if (!answered.answers.empty()) {
        delivered_ += answered.answers.size();
        answered.cursor = delivered_;
        events_->answered(std::move(answered));
    }
    executor_.run_after(domain::Milliseconds{200}, [this] { look_for_answers(); });
}

void SimulatedGateway::check(std::vector<engine::CheckOrder> orders) {
    for (const engine::CheckOrder& order : orders) {
        const bool is_ready = !random_.chance(100);
        executor_.run_after(some_time(200), [this, id = order.id, is_ready] {
            events_->checked({{id, is_ready ? engine::CheckOutcome{engine::Ready{}}
                                            : engine::CheckOutcome{engine::NotReady{}}}});
        });
    }
}

void SimulatedGateway::prepare(std::vector<engine::PrepareOrder> orders) {
    for (const engine::PrepareOrder& order : orders) {
        SignedCall call{.id = order.id, .kind = domain::kind_of(*order.request)};
        if (const auto* share = std::get_if<domain::VoteShare>(order.request.get())) {
            call.due = share->submit_at;
        }
        executor_.run_after(some_time(200), [this, call] {
            events_->prepared({{call.id, engine::Plan{call.bytes()}}});
        });
    }
}

engine::Sealed SimulatedGateway::seal(const domain::RequestId&, domain::Kind kind,
                                      const engine::Plan& plan) {
    SignedCall call = SignedCall::in(plan.bytes);
    call.salt = std::to_string(random_.below(std::uint64_t{1} << 60U));
    engine::Sealed sealed;
    if (kind != Kind::share) {
        call.nonce = nonce_++;
        sealed.account = account;
    }
    sealed.nonce = call.nonce;
    sealed.bytes = call.bytes();
    sealed.hash = domain::sha256(sealed.bytes);
    return sealed;
}

void SimulatedGateway::send(std::vector<engine::SendOrder> orders) {
    for (const engine::SendOrder& order : orders) {
        executor_.run_after(some_time(50), [this, order] {
            const bool is_there = order.look_up_first &&
                                  std::ranges::any_of(order.sealed, [this](const auto& sealed) {
                                      return chain_.find(sealed.hash);
                                  });
            if (!is_there && may_act_()) chain_.send(order.sealed.back().bytes);
            executor_.run_after(some_time(1'000), [this, order] { look_for_receipt(order); });
        });
    }
}

void SimulatedGateway::look_for_receipt(const engine::SendOrder& order) {
    events_->sent({{order.id, outcome_of(order)}});
}

engine::SendOutcome SimulatedGateway::outcome_of(const engine::SendOrder& order) const {
    for (const engine::Sealed& sealed : order.sealed) {
        const SimulatedChain::Included* included = chain_.find(sealed.hash);
        if (included == nullptr) continue;
        engine::Receipt receipt{sealed.hash, {}, {}, false};
        if (order.kind == Kind::share) {
            receipt.revealed = domain::ShareRevealed{domain::to_hex(sealed.hash), false};
        } else {
            receipt.reference = included->reference;
        }
        return receipt;
    }
    if (order.kind == Kind::share && chain_.was_revealed(order.id)) {
        return engine::Receipt{
            order.sealed.back().hash, {}, domain::ShareRevealed{"", true}, false};
    }
    if (order.kind != Kind::share && order.sealed.back().nonce < chain_.next_nonce()) {
        SignedCall plan = SignedCall::in(order.sealed.back().bytes);
        plan.salt.clear();
        return engine::Reseal{{plan.bytes()}, order.sealed.size(), true};
    }
    return engine::Unreachable{"no receipt yet"};
}

}  // namespace cluster_test
