#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::evm {

// `eth_call` of {to, input, data} in the state of a block tag (evm-gateway 0.3).
[[nodiscard]] jsonrpc::Call eth_call(const domain::Address& to, domain::ByteView input,
                                     std::string_view block_tag);

// The calldata of a call object under both names: nodes that read one ignore the other without a
// word (field report 92).
void set_calldata(jsonrpc::Json& call, domain::ByteView calldata);

// The state of the block that was asked for can not be had; that of another one may.
[[nodiscard]] bool lacks_block(const jsonrpc::Answer& answer);

// Why there is no result; for those who need not tell a refusal from silence.
struct NoResult {
    std::string reason;
    domain::Milliseconds wait{0};  // nobody should ask earlier
    bool stopped = false;          // because we stop: no trouble, and nobody should ask again
};

// The bytes of an `eth_call`'s answer.
[[nodiscard]] std::variant<domain::Bytes, NoResult> read_eth_call(const jsonrpc::Answer& answer);

// What an exchange that failed comes to.
[[nodiscard]] NoResult no_result(const jsonrpc::TransportError& problem);

// For failure texts and the log: one line without URLs.
[[nodiscard]] std::string text_of(const jsonrpc::NodeError& error);
[[nodiscard]] std::string text_of(const jsonrpc::TransportError& problem);

}  // namespace chains::evm
