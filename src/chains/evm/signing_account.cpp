#include "chains/evm/signing_account.hpp"

#include <utility>

#include "chains/evm/unreachable.hpp"

namespace chains::evm {

SigningAccount::SigningAccount(const Shared& shared, std::unique_ptr<Signer> signer)
    : signer_(std::move(signer)),
      own_(shared.options, shared.write, nonces_, shared.fees, *signer_, shared.reads, shared.clock,
           shared.logger,
           {[this] { return account_.count(); }, shared.on_right_chain,
            [this] { sender_.let_others_leave(); }}),
      account_(shared.options, shared.write, nonces_, shared.fees, *signer_, own_, shared.reads,
               shared.clock, shared.logger),
      seals_(shared.options, *signer_, nonces_, shared.reads, shared.clock, shared.logger),
      check_(shared.options, shared.read, shared.reads, shared.logger),
      sender_(shared.options, shared.write, nonces_, shared.fees, shared.gas, account_, *signer_,
              shared.sends, shared.clock, shared.logger),
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
    return account_.has_unsigned_filler() || check_.unready();
}

std::optional<engine::Unreachable> SigningAccount::unready() const {
    if (sender_.is_forbidden()) return engine::Unreachable{forbidden_text, {}, 0, no_funds_hold};
    if (auto unready = seals_.unready()) return unready;
    return check_.unready();
}

}  // namespace chains::evm
