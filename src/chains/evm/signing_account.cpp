#include "chains/evm/signing_account.hpp"

#include <utility>

#include "chains/evm/unreachable.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {

namespace {

std::string checksummed(const std::optional<domain::Address>& address) {
    return address ? domain::checksummed(*address) : std::string{};
}

}  // namespace

void AccountLines::write(ports::LogLevel level, std::string_view line) {
    if (account_.empty() || line.find(" account=") != std::string_view::npos) {
        logger_.write(level, line);
    } else {
        logger_.write(level, std::string(line) + " account=" + account_);
    }
}

SigningAccount::SigningAccount(const Shared& shared, std::unique_ptr<Signer> signer, KeyPlace place)
    : place_(place),
      signer_(std::move(signer)),
      clock_(shared.clock),
      logger_(shared.logger, place.is_alone() ? std::string{} : address()),
      own_(shared.options, shared.write, nonces_, shared.fees, *signer_, shared.reads, shared.clock,
           logger_,
           {[this] { return account_.count(); }, shared.on_right_chain,
            [this] { sender_.let_others_leave(); }}),
      account_(shared.options, shared.write, nonces_, shared.fees, *signer_, own_, shared.reads,
               shared.clock, logger_),
      seals_(shared.options, place, *signer_, nonces_, shared.reads, shared.clock, logger_),
      check_(shared.options, shared.read, shared.reads, logger_),
      sender_(shared.options, place, shared.write, nonces_, shared.fees, shared.gas, account_,
              *signer_, shared.window, shared.sends, shared.clock, logger_),
      fee_approval_(shared.options, shared.write, nonces_, shared.fees, shared.gas, *signer_, own_,
                    [this] { return unready(); }) {}

void SigningAccount::start(engine::GatewayEvents& events, const engine::Resume& resume) {
    nonces_.restore(resume.in_flight, resume.used);
    seals_.start(events);
    check_.start(events, resume);
    own_.start(events, resume);
}

void SigningAccount::refresh() {
    const auto count = account_.refresh();
    if (count) check_.found(signer_->known_address().value(), *count);
}

bool SigningAccount::is_in_hurry() const {
    return (account_.has_unsigned_filler() && !seals_.unready()) || check_.unready();
}

bool SigningAccount::has_hole() const {
    return nonces_.has_returned() && !seals_.unready();
}

std::optional<engine::Unreachable> SigningAccount::unready() const {
    if (sender_.is_forbidden()) return engine::Unreachable{forbidden_text, {}, 0, no_funds_hold};
    if (auto unready = seals_.unready()) return unready;
    return unsettled();
}

std::optional<engine::Unreachable> SigningAccount::unusable() const {
    const auto waits = [](const char* why) {
        return engine::Unreachable{why, {}, 0, no_funds_hold};
    };
    // What waits there finds out when that is over; without any the next one has to.
    if (nonces_.held() > 0) {
        if (sender_.is_forbidden()) return waits(forbidden_text);
        if (sender_.lacks_funds()) return waits(no_funds_text);
    }
    if (auto unready = seals_.unready()) return unready;
    if (auto unready = unsettled()) return unready;
    const std::lock_guard lock{mutex_};
    if (!spared_ || clock_.monotonic() - spared_->since >= no_funds_hold) return std::nullopt;
    return waits(spared_->why);
}

void SigningAccount::refused(Refusal refusal) {
    const std::lock_guard lock{mutex_};
    spared_ =
        Spared{refusal == Refusal::forbidden ? forbidden_text : no_funds_text, clock_.monotonic()};
    if (refusal != Refusal::no_funds || std::exchange(lacks_funds_, true)) return;
    logger_.write(ports::LogLevel::error, no_funds_line);
}

void SigningAccount::permitted() {
    const std::lock_guard lock{mutex_};
    spared_.reset();
    if (!std::exchange(lacks_funds_, false)) return;
    logger_.write(ports::LogLevel::info, "insufficient_funds_recovered");
}

bool SigningAccount::lacks_funds() const {
    if (sender_.lacks_funds()) return true;
    const std::lock_guard lock{mutex_};
    return lacks_funds_;
}

std::optional<std::string> SigningAccount::problem() const {
    if (lacks_funds()) return no_funds_text;
    if (auto problem = sender_.problem()) return problem;
    return seals_.problem();
}

std::string SigningAccount::address() const {
    return checksummed(signer_->known_address());
}

}  // namespace chains::evm
