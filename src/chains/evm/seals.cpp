#include "chains/evm/seals.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "base/sanitize.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"
#include "domain/retry_policy.hpp"

namespace chains::evm {

namespace {

constexpr domain::RetryPolicy trouble_pause{domain::Milliseconds{500},
                                            domain::Milliseconds{10'000}};

engine::Unreachable unreachable(const SignProblem& problem) {
    engine::Unreachable outcome;
    outcome.reason = "the signer: " + problem.text;
    outcome.unreached = problem.unreached;
    outcome.verdict = domain::Failure{
        domain::Reason::send_failed, "Transaction failed: Signing failed: " + problem.text, {}};
    return outcome;
}

const SignProblem address_unknown{"its address is not known yet", true};

}  // namespace

Seals::Seals(const Options& options, KeyPlace place, Signer& signer, Nonces& nonces,
             engine::TaskGroup& task_group, const ports::Clock& clock, ports::Logger& logger)
    : options_(options),
      place_(place),
      signer_(signer),
      nonces_(nonces),
      task_group_(task_group),
      clock_(clock),
      logger_(logger),
      next_ticket_(std::uint64_t{place.index} + 1) {}

void Seals::start(engine::GatewayEvents& events) {
    events_ = &events;
    if (is_local()) return;
    const std::lock_guard lock{mutex_};
    if (!signer_.known_address()) problem_ = address_unknown;
    plan_look_locked(domain::Milliseconds{0});
}

engine::Sealed Seals::sealed(std::uint64_t nonce, domain::Bytes bytes) const {
    engine::Sealed sealed;
    sealed.nonce = nonce;
    sealed.bytes = std::move(bytes);
    sealed.hash = domain::keccak256(sealed.bytes);
    sealed.account = domain::checksummed(signer_.known_address().value());
    // What is stored beside the bytes is what they say.
    assert(decode_transaction(sealed.bytes).value().nonce == sealed.nonce);
    assert(decode_transaction(sealed.bytes).value().chain_id == options_.chain_id);
    return sealed;
}

engine::Sealed Seals::seal(const Draft& draft) {
    assert(is_local());
    Transaction transaction = draft.transaction;
    if (!draft.has_nonce) transaction.nonce = nonces_.take();
    return sealed(transaction.nonce, sign(transaction, *signer_.local()));
}

std::optional<std::uint64_t> Seals::fetch(const domain::RequestId& id, const Draft& draft) {
    if (is_local()) return std::nullopt;
    Order order{next_ticket_, id, draft.transaction, !draft.has_nonce};
    next_ticket_ += place_.of;
    if (order.reserved) order.transaction.nonce = nonces_.take();
    ordered_.push_back(std::move(order));
    return ordered_.back().ticket;
}

void Seals::end(std::uint64_t ticket, bool stored) {
    ended_.push_back({ticket, stored});
}

void Seals::keep() {
    nonces_.keep();
    if (ordered_.empty() && ended_.empty()) return;
    std::vector<Order> ordered = std::exchange(ordered_, {});
    {
        const std::lock_guard lock{mutex_};
        for (const Order& order : ordered) {
            pending_[order.ticket] = {order.reserved ? std::optional{order.transaction.nonce}
                                                     : std::nullopt};
        }
        for (const Ended& ended : std::exchange(ended_, {})) {
            const auto found = pending_.find(ended.ticket);
            if (found == pending_.end()) continue;
            if (!ended.stored) give_back(found->second);
            pending_.erase(found);
        }
    }
    for (Order& order : ordered) begin(std::move(order));
}

void Seals::undo() {
    nonces_.undo();
    ordered_.clear();
    ended_.clear();
}

void Seals::give_back(const Pending& pending) {
    if (pending.reserved) nonces_.give_back(*pending.reserved);
}

void Seals::begin(Order order) {
    const Transaction transaction = order.transaction;
    signer_.fetch(transaction, [this, order = std::move(order)](SignResult result) {
        finish(order, std::move(result));
    });
}

void Seals::finish(const Order& order, SignResult result) {
    const auto* problem = std::get_if<SignProblem>(&result);
    {
        const std::lock_guard lock{mutex_};
        const auto found = pending_.find(order.ticket);
        if (found == pending_.end() || found->second.answered) {
            logger_.write(ports::LogLevel::info,
                          "late_signature_dropped job_id=" + to_string(order.id) +
                              " nonce=" + std::to_string(order.transaction.nonce));
            return;
        }
        found->second.answered = true;
        if (problem != nullptr) {
            give_back(found->second);
            pending_.erase(found);
        }
    }
    if (problem == nullptr) {
        note(std::nullopt);
        events_->sealed(
            {{order.id, order.ticket,
              sealed(order.transaction.nonce, std::get<domain::Bytes>(std::move(result)))}});
    } else if (!problem->is_stopped) {
        note(*problem);
        events_->sealed({{order.id, order.ticket, unreachable(*problem)}});
    }
}

// --- how the signer is ---------------------------------------------------------------------------

void Seals::note(const std::optional<SignProblem>& problem) {
    const std::lock_guard lock{mutex_};
    if (!problem) {
        if (problem_) logger_.write(ports::LogLevel::info, "signer_recovered");
        problem_.reset();
        failures_ = 0;
        return;
    }
    if (!problem_ || problem_->text != problem->text) {
        logger_.write(problem->unreached ? ports::LogLevel::warning : ports::LogLevel::error,
                      std::string(problem->unreached ? "signer_unreachable" : "signer_refuses") +
                          (problem->unreached ? "" : " alert=true") +
                          " error=" + base::log_value(problem->text) +
                          " action=\"nothing new is signed until it signs; all requests are "
                          "kept\"");
    }
    problem_ = problem;
    if (!looks_ && plan_look_locked(trouble_pause.pause(failures_ + 1))) ++failures_;
}

bool Seals::plan_look_locked(domain::Milliseconds pause) {
    const domain::Monotonic planned = clock_.monotonic() + pause;
    if (next_look_ && *next_look_ <= planned) return false;
    next_look_ = planned;
    task_group_.run_after(pause, [this, planned] { look(planned); });
    return true;
}

// Sees to credentials, and in trouble to whether it is over.
void Seals::look(domain::Monotonic planned) {
    {
        const std::lock_guard lock{mutex_};
        if (next_look_ != planned) return;  // trouble came, and an earlier one was planned
        next_look_.reset();
        looks_ = true;
    }
    const Signer::Upkeep upkeep = signer_.keep_up();
    bool tries = false;
    {
        const std::lock_guard lock{mutex_};
        if (!upkeep.problem) tell_address_locked();
        tries = !upkeep.problem && problem_ && signer_.known_address();
        looks_ = tries;
        if (!upkeep.problem && !tries && upkeep.again) plan_look_locked(*upkeep.again);
    }
    if (upkeep.problem) {
        if (!upkeep.problem->is_stopped) note(upkeep.problem);
    } else if (tries) {
        try_out();
    }
}

void Seals::tell_address_locked() {
    const auto address = signer_.known_address();
    if (!address || std::exchange(told_address_, true)) return;
    logger_.write(ports::LogLevel::info, "signer_known address=" + jsonrpc::hex(*address));
}

void Seals::try_out() {
    signer_.fetch(probe_transaction(options_.chain_id, *signer_.known_address()),
                  [this](const SignResult& result) {
                      const auto* problem = std::get_if<SignProblem>(&result);
                      if (problem != nullptr && problem->is_stopped) return;
                      {
                          const std::lock_guard lock{mutex_};
                          looks_ = false;
                      }
                      note(problem != nullptr ? std::optional{*problem} : std::nullopt);
                      if (problem != nullptr) return;
                      const std::lock_guard lock{mutex_};
                      plan_look_locked(domain::Milliseconds{0});
                  });
}

std::optional<engine::Unreachable> Seals::unready() const {
    const std::lock_guard lock{mutex_};
    if (!problem_) return std::nullopt;
    return unreachable(*problem_);
}

std::optional<std::string> Seals::problem() const {
    const std::lock_guard lock{mutex_};
    if (!problem_) return std::nullopt;
    return "the signer: " + problem_->text;
}

std::size_t Seals::pending() const {
    const std::lock_guard lock{mutex_};
    return pending_.size();
}

}  // namespace chains::evm
