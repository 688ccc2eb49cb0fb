#include "chains/evm/send_verdict.hpp"

#include <cstdint>
#include <optional>

namespace chains::evm {

namespace {

SendVerdict verdict_on(const jsonrpc::NodeError& error) {
    using enum jsonrpc::ReplyClass;
    switch (class_on_send(error)) {
        case known_already:
            return SendVerdict::pending;
        case nonce_too_low:
            return SendVerdict::nonce_used;
        case nonce_gap:
            return SendVerdict::nonce_gap;
        case underpriced:
            return SendVerdict::underpriced;
        case overpriced:
            return SendVerdict::overpriced;
        case balance_too_low:
            return SendVerdict::no_funds;
        // Those from the door on are trouble where they come from a provider; here a node of
        // another kind says so.
        case pool_busy:
        case block_tag_not_served:
        case not_indexed_yet:
        case throttled:
        case front_door:
            return SendVerdict::busy;
        case one_in_flight:
            return SendVerdict::one_in_flight;
        case sender_forbidden:
            return SendVerdict::sender_forbidden;
        case gas_too_high:
            return SendVerdict::gas_too_high;
        case too_large:
        case reverted:
            return SendVerdict::doomed;
        case method_missing:
            return SendVerdict::no_such_method;
        case timed_out:
            return SendVerdict::unknown;
        case query_too_large:
        case not_understood:
            break;
    }
    return SendVerdict::refused;
}

SendVerdict verdict_on(const jsonrpc::TransportError& problem) {
    switch (problem.kind) {
        case jsonrpc::TransportError::Kind::unsent:
        case jsonrpc::TransportError::Kind::throttled:
        case jsonrpc::TransportError::Kind::stopped:
            return SendVerdict::not_sent;
        case jsonrpc::TransportError::Kind::lost:
        case jsonrpc::TransportError::Kind::timed_out:
        case jsonrpc::TransportError::Kind::garbled:
            break;
    }
    return SendVerdict::unknown;
}

std::optional<jsonrpc::ReplyClass> judge_sync_code(std::int64_t code) {
    constexpr std::int64_t no_receipt_yet = 4;
    constexpr std::int64_t not_executable = 5;
    constexpr std::int64_t gap = 6;
    if (code == no_receipt_yet) return jsonrpc::ReplyClass::known_already;
    if (code == not_executable) return jsonrpc::ReplyClass::not_understood;
    if (code == gap) return jsonrpc::ReplyClass::nonce_gap;
    return std::nullopt;
}

}  // namespace

jsonrpc::ReplyClass class_on_send(const jsonrpc::NodeError& error) {
    const jsonrpc::ReplyClass said = jsonrpc::classify(error).reply_class;
    if (said == jsonrpc::ReplyClass::not_understood || said == jsonrpc::ReplyClass::timed_out) {
        return judge_sync_code(error.code).value_or(said);
    }
    if (said != jsonrpc::ReplyClass::reverted) return said;
    jsonrpc::NodeError without_code = error;
    without_code.code = 0;
    return jsonrpc::classify(without_code).reply_class;
}

SendVerdict verdict_on(const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer)) return verdict_on(*error);
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer))
        return verdict_on(*problem);
    const auto& result = std::get<jsonrpc::Json>(answer);
    if (result.is_object()) return SendVerdict::receipt;
    if (result.is_string()) return SendVerdict::pending;
    return SendVerdict::unknown;
}

}  // namespace chains::evm
