#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "chains/evm/calls.hpp"
#include "chains/evm/doctor_checks.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm::doctor {

using domain::Bytes32;

namespace {

using Word = std::variant<Bytes32, Problem>;

// As of the last finalized block, which is what key material is read at (evm-gateway 9.1).
Word ask_finalized(jsonrpc::Node& node, const domain::Address& contract, Getter which) {
    const auto answer = ask_contract(node, contract, getter(which), "finalized");
    if (const auto* problem = std::get_if<Problem>(&answer)) return *problem;
    const auto& bytes = std::get<domain::Bytes>(answer);
    if (bytes.empty()) {
        return Problem{
            "the contract is not in a finalized block yet: wait, or on a development node mine "
            "blocks with short epochs",
            true};
    }
    const auto word = decode_word(bytes, 0);
    if (!word) return Problem{"it does not answer as expected: check the address", true};
    return *word;
}

}  // namespace

diagnosis::Finding check_key_material(jsonrpc::Node& protocol, const Options& options) {
    const std::string subject = "key material";
    const domain::Address& contract = options.key_urls.kms_generation;
    for (const auto& [which, name] :
         {std::pair{Getter::active_key_id, "key"}, {Getter::active_crs_id, "CRS"}}) {
        const Word id = ask_finalized(protocol, contract, which);
        if (const auto* problem = std::get_if<Problem>(&id)) return failed(subject, problem->text);
        if (std::get<Bytes32>(id) == Bytes32{}) {
            return failed(subject, std::string{"no "} + name +
                                       " is active: wait for the KMS to generate one");
        }
    }
    return ok(subject, "a key and a CRS are active");
}

diagnosis::Finding check_threshold(jsonrpc::Node& protocol, const Options& options) {
    const std::string subject = "threshold";
    const domain::Address& contract = options.protocol_config.address;
    const Word context = ask_finalized(protocol, contract, Getter::current_kms_context_and_epoch);
    if (const auto* problem = std::get_if<Problem>(&context)) {
        return failed(subject, problem->text);
    }
    const auto answer = ask_contract(
        protocol, contract,
        getter(Getter::user_decryption_threshold_for_context, std::get<Bytes32>(context)));
    if (const auto* problem = std::get_if<Problem>(&answer)) return failed(subject, problem->text);
    const auto threshold = decode_number(std::get<domain::Bytes>(answer), 0);
    if (!threshold || *threshold == 0 || *threshold > std::numeric_limits<std::uint32_t>::max()) {
        return failed(subject,
                      "the current KMS context has none that is usable: check the address "
                      "of the protocol config contract");
    }
    const std::string text = std::to_string(*threshold) + " shares complete a user decryption";
    if (options.shares_threshold == 0 || options.shares_threshold == *threshold) {
        return ok(subject, text);
    }
    return warning(subject, text + ", the configuration says " +
                                std::to_string(options.shares_threshold) +
                                ": set gateway.contracts.user_decrypt_shares_threshold to " +
                                std::to_string(*threshold));
}

}  // namespace chains::evm::doctor
