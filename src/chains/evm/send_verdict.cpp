#include "chains/evm/send_verdict.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace chains::evm {

namespace {

// EIP-7966.
constexpr std::int64_t code_no_receipt_yet = 4;
constexpr std::int64_t code_not_executable = 5;
constexpr std::int64_t code_nonce_gap = 6;
constexpr std::int64_t code_no_such_method = -32'601;

std::string lower(std::string_view text) {
    std::string out{text};
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

bool has_any(const std::string& text, std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

SendVerdict verdict_on(const jsonrpc::NodeError& error) {
    const std::string message = lower(error.message);
    if (has_any(message, {"already known", "already imported", "known transaction"})) {
        return SendVerdict::pending;
    }
    if (has_any(message, {"nonce too low", "nonce is too low", "nonce has already been used"})) {
        return SendVerdict::nonce_used;
    }
    if (error.code == code_nonce_gap ||
        has_any(message, {"nonce too high", "nonce is too high", "nonce gap"})) {
        return SendVerdict::nonce_gap;
    }
    if (has_any(message, {"underpriced", "less than block base fee", "fee cap less than",
                          "max fee per gas less than", "gas price too low"})) {
        return SendVerdict::underpriced;
    }
    if (means_no_funds(message)) return SendVerdict::no_funds;
    if (error.code == code_no_receipt_yet) return SendVerdict::pending;
    if (error.code == code_no_such_method) return SendVerdict::no_such_method;
    if (error.code == code_not_executable) return SendVerdict::refused;
    if (has_any(message, {"timeout", "timed out"})) return SendVerdict::unknown;
    return SendVerdict::refused;
}

SendVerdict verdict_on(const jsonrpc::Trouble& trouble) {
    switch (trouble.kind) {
        case jsonrpc::Trouble::Kind::unsent:
        case jsonrpc::Trouble::Kind::throttled:
        case jsonrpc::Trouble::Kind::stopped:
            return SendVerdict::not_sent;
        case jsonrpc::Trouble::Kind::lost:
        case jsonrpc::Trouble::Kind::timed_out:
        case jsonrpc::Trouble::Kind::garbled:
            break;
    }
    return SendVerdict::unknown;
}

}  // namespace

SendVerdict verdict_on(const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) return verdict_on(*error);
    if (const auto* trouble = std::get_if<jsonrpc::Trouble>(&answer)) return verdict_on(*trouble);
    const auto& result = std::get<jsonrpc::Json>(answer);
    if (result.is_object()) return SendVerdict::receipt;
    if (result.is_string()) return SendVerdict::pending;
    return SendVerdict::unknown;
}

bool means_no_funds(const std::string& message) {
    return has_any(lower(message), {"insufficient funds", "insufficient balance"});
}

}  // namespace chains::evm
