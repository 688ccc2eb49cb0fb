#include <string>
#include <utility>
#include <variant>

#include "chains/evm/calls.hpp"
#include "chains/evm/doctor_checks.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm::doctor {

namespace {

// Nothing: it can not be paused, or does not say.
std::optional<bool> is_paused(jsonrpc::Node& node, const domain::Address& contract) {
    const auto answer = ask_contract(node, contract, getter(Getter::paused));
    const auto* bytes = std::get_if<domain::Bytes>(&answer);
    return bytes != nullptr ? decode_bool(*bytes) : std::nullopt;
}

diagnosis::Finding check_paused(const std::string& subject, jsonrpc::Node& node,
                                const domain::Address& contract, ContractKind kind,
                                std::string text) {
    const auto paused = is_paused(node, contract);
    if (!paused) return ok(subject, std::move(text));
    if (!*paused) return ok(subject, text + ", not paused");
    text += ", paused: ";
    if (kind == ContractKind::access_list) {
        return warning(subject, text + "nobody is given access, what is allowed already stays so");
    }
    return failed(subject, text + "requests fail until its owner ends that");
}

}  // namespace

diagnosis::Finding check_contract(const std::string& subject, jsonrpc::Node& node,
                                  const domain::Address& contract, ContractKind kind) {
    diagnosis::Finding code = check_code(subject, node, contract);
    if (code.verdict != diagnosis::Finding::Verdict::ok) return code;
    const std::string expected{name_of(kind)};
    const ContractAnswer answer = read_version(node.call(version_call(contract)));
    if (const auto* unread = std::get_if<NoResult>(&answer)) {
        return failed(subject, code.text + ", which contract is not known (" + unread->reason +
                                   "): try again");
    }
    const auto* version = std::get_if<ContractVersion>(&answer);
    if (version == nullptr) {
        return warning(subject, code.text +
                                    ", but it does not say what it is (getVersion): make "
                                    "sure that it is " +
                                    expected);
    }
    if (version->name != expected) {
        return failed(subject, code.text + " stands " + to_string(*version) + ", not " + expected +
                                   ": correct the address");
    }
    return check_paused(subject, node, contract, kind, code.text + ", " + to_string(*version));
}

}  // namespace chains::evm::doctor
