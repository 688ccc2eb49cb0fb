#include "chains/evm/contract_kind.hpp"

#include <algorithm>

#include "chains/evm/abi.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/revert.hpp"

namespace chains::evm {
namespace {

constexpr std::size_t text_bytes_max = 64;

bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::optional<ContractVersion> version_in(domain::ByteView result) {
    constexpr std::string_view separator = " v";
    const auto bytes = abi::Decoder{result}.bytes(0);
    if (!bytes || bytes->size() > text_bytes_max) return std::nullopt;
    const std::string text{bytes->begin(), bytes->end()};
    const auto at = text.rfind(separator);
    if (!is_plain(text) || at == std::string::npos || at == 0) return std::nullopt;
    return ContractVersion{text.substr(0, at), text.substr(at + separator.size())};
}

}  // namespace

std::string_view name_of(ContractKind kind) {
    switch (kind) {
        case ContractKind::decryption:
            return "Decryption";
        case ContractKind::input_verification:
            return "InputVerification";
        case ContractKind::protocol_payment:
            return "ProtocolPayment";
        case ContractKind::access_list:
            return "ACL";
        case ContractKind::protocol_config:
            return "ProtocolConfig";
        case ContractKind::kms_generation:
            return "KMSGeneration";
    }
    return {};
}

std::string to_string(const ContractVersion& version) {
    return version.name + " v" + version.number;
}

jsonrpc::Call version_call(const domain::Address& contract) {
    return eth_call(contract, getter(Getter::version), "latest");
}

ContractAnswer read_version(const jsonrpc::Answer& answer) {
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    if (error != nullptr && is_revert(*error)) return Nameless{};
    const auto read = read_eth_call(answer);
    if (const auto* unread = std::get_if<NoResult>(&read)) return *unread;
    auto version = version_in(std::get<domain::Bytes>(read));
    if (!version) return Nameless{};
    return *std::move(version);
}

}  // namespace chains::evm
