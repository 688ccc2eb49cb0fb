#include "chains/evm/readiness_outcomes.hpp"

#include <utility>
#include <variant>

#include "chains/evm/calls.hpp"
#include "chains/evm/eth_call.hpp"
#include "chains/evm/revert.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/reply_class.hpp"

namespace chains::evm {

using domain::Failure;
using domain::Reason;

namespace {

Failure not_readable(const std::string& why) {
    return {Reason::readiness_failed, "Processing Failed: Contract call failed: " + why,
            std::nullopt};
}

// A revert keeps its selector, which decides how the failure is served (relayer-api 9.3). Other
// errors may have digits in their text that look like one.
Failure not_readable(const jsonrpc::NodeError& error) {
    Failure failure = not_readable(text_of(error));
    if (is_revert(error)) {
        failure.reason = Reason::reverted;
        failure.selector = selector_of(error);
    }
    return failure;
}

struct GatewayOutcome {
    engine::CheckOutcome operator()(const jsonrpc::Json& json) const {
        const std::optional<domain::Bytes> bytes = jsonrpc::bytes(json);
        const std::optional<bool> ready = bytes ? decode_bool(*bytes) : std::nullopt;
        if (!ready)
            return engine::NotReady{not_readable(
                bytes && bytes->empty() ? "no contract at its address" : "malformed answer")};
        if (*ready) return engine::Ready{};
        return engine::NotReady{};
    }
    engine::CheckOutcome operator()(const jsonrpc::NodeError& error) const {
        return engine::NotReady{not_readable(error)};
    }
    engine::CheckOutcome operator()(const jsonrpc::TransportError& problem) const {
        const std::string text = text_of(problem);
        return engine::Unreachable{text, not_readable(text), 0, problem.wait, true};
    }
};

}  // namespace

Failure no_access_list(std::uint64_t chain_id) {
    return {Reason::host_acl_failed,
            "Host ACL check failed: No ACL binding configured for host chain " +
                std::to_string(chain_id),
            std::nullopt};
}

Failure access_list_failed(std::uint64_t chain_id, const std::string& why) {
    return {
        Reason::host_acl_failed,
        "Host ACL check failed: Host chain " + std::to_string(chain_id) + " call failed: " + why,
        std::nullopt};
}

engine::Unreachable access_list_unreachable(std::uint64_t chain_id, const std::string& why,
                                            domain::Milliseconds wait) {
    return {"host chain " + std::to_string(chain_id) + ": " + why,
            access_list_failed(chain_id, why), 0, wait, true};
}

Failure access_refused(const std::vector<domain::AclQuestion>& questions,
                       const std::vector<std::size_t>& refused,
                       const std::vector<std::string>& others) {
    std::string text = "Not allowed on host ACL:";
    if (!refused.empty()) {
        text += " ACL check failed for " + std::to_string(refused.size()) + " handle(s):";
    }
    for (const std::size_t at : refused) {
        text += at == refused.front() ? " " : ", ";
        text +=
            "handle=0x" + domain::to_hex(questions[at].handle) + " check=" + questions[at].check;
    }
    for (const std::string& other : others) text += (text.ends_with(':') ? " " : "; ") + other;
    return {Reason::host_acl_refused, std::move(text), std::nullopt};
}

std::optional<std::vector<bool>> access_list_answers(const jsonrpc::Json& json,
                                                     std::size_t questions) {
    const std::optional<domain::Bytes> bytes = jsonrpc::bytes(json);
    if (!bytes) return std::nullopt;
    const auto items = decode_bytes_array(*bytes);
    if (!items || items->size() != questions) return std::nullopt;
    std::vector<bool> answers;
    for (const domain::Bytes& item : *items) {
        const std::optional<bool> answer = decode_bool(item);
        if (!answer) return std::nullopt;
        answers.push_back(*answer);
    }
    return answers;
}

jsonrpc::Answer with_passing_as_trouble(jsonrpc::Answer answer) {
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    if (error == nullptr) return answer;
    using enum jsonrpc::ReplyClass;
    const jsonrpc::ReplyMeaning meaning = jsonrpc::classify(*error);
    switch (meaning.reply_class) {
        case pool_busy:
        case throttled:
        case front_door:
        case timed_out:
        case block_tag_not_served:
        case not_indexed_yet:
            return jsonrpc::TransportError{jsonrpc::TransportError::Kind::timed_out,
                                           text_of(*error),
                                           meaning.wait.value_or(domain::Milliseconds{0})};
        default:
            return answer;
    }
}

engine::CheckOutcome gateway_outcome(const jsonrpc::Answer& answer) {
    return std::visit(GatewayOutcome{}, with_passing_as_trouble(answer));
}

}  // namespace chains::evm
