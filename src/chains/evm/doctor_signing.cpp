#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "chains/evm/doctor_checks.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm::doctor {

diagnosis::Finding check_signing(Signer& signer, std::uint64_t chain_id,
                                 const ports::Clock& clock) {
    const std::string subject = "signing";
    const Signer::Upkeep upkeep = signer.keep_up();
    if (upkeep.problem) return failed(subject, upkeep.problem->text);
    const auto self = signer.known_address();
    if (!self) return failed(subject, "the address of the signer is not known");

    const domain::Monotonic begin = clock.monotonic();
    std::promise<SignResult> answered;
    signer.fetch(probe_transaction(chain_id, *self),
                 [&answered](SignResult result) { answered.set_value(std::move(result)); });
    const SignResult result = answered.get_future().get();
    const auto time =
        std::chrono::duration_cast<domain::Milliseconds>(clock.monotonic() - begin).count();
    const std::string address = jsonrpc::hex(*self);
    if (const auto* problem = std::get_if<SignProblem>(&result)) {
        return failed(subject, address + " signs nothing: " + problem->text);
    }
    return ok(subject,
              address + " signed a probe in " + std::to_string(time) + " ms; it was not sent");
}

std::optional<diagnosis::Finding> check_credential(Signer& signer) {
    const std::string subject = "signer's credential";
    const auto credential = signer.examine_credential();
    if (!credential) return std::nullopt;
    if (credential->text.empty()) {
        return warning(subject,
                       "none: whoever reaches the signer can have transactions signed; see "
                       "token_file and client_certificate_file");
    }
    std::string may;
    std::string may_not;
    for (const auto& [operation, problem] : credential->rights) {
        if (problem) {
            may_not += "; " + problem->text;
        } else {
            may += (may.empty() ? "; it may " : ", ") + operation;
        }
    }
    const std::string text = credential->text + may + may_not;
    return may_not.empty() ? ok(subject, text) : failed(subject, text);
}

}  // namespace chains::evm::doctor
