#include "chains/evm/eth_call.hpp"

#include <optional>
#include <utility>

#include "base/urls.hpp"
#include "chains/evm/revert.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "domain/failure.hpp"

namespace chains::evm {

jsonrpc::Call eth_call(const domain::Address& to, domain::ByteView input,
                       std::string_view block_tag) {
    jsonrpc::Json call{{"to", jsonrpc::hex(to)}};
    set_calldata(call, input);
    return {"eth_call", jsonrpc::Json::array({std::move(call), std::string(block_tag)})};
}

void set_calldata(jsonrpc::Json& call, domain::ByteView calldata) {
    call["input"] = call["data"] = jsonrpc::hex(calldata);
}

bool lacks_block(const jsonrpc::Answer& answer) {
    const auto* error = std::get_if<jsonrpc::NodeError>(&answer);
    return error != nullptr &&
           jsonrpc::classify(*error).reply_class == jsonrpc::ReplyClass::block_tag_not_served;
}

std::variant<domain::Bytes, NoResult> read_eth_call(const jsonrpc::Answer& answer) {
    if (const auto* error = std::get_if<jsonrpc::NodeError>(&answer))
        return NoResult{text_of(*error)};
    if (const auto* problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return no_result(*problem);
    }
    if (auto bytes = jsonrpc::bytes(std::get<jsonrpc::Json>(answer))) return std::move(*bytes);
    return NoResult{"malformed answer"};
}

NoResult no_result(const jsonrpc::TransportError& problem) {
    return {text_of(problem), problem.wait, problem.kind == jsonrpc::TransportError::Kind::stopped};
}

std::string text_of(const jsonrpc::NodeError& error) {
    return base::redact_urls(describe(error));
}

std::string text_of(const jsonrpc::TransportError& problem) {
    return base::redact_urls(problem.text);
}

}  // namespace chains::evm
