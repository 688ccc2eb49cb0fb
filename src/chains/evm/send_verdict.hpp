#pragma once

#include <string>

#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/reply_class.hpp"

namespace chains::evm {

// What the reply to a transaction means (evm-gateway 4.1 to 4.3 as recommended, 5.2, 10.3; field
// reports 1, 22, 23).
enum class SendVerdict {
    receipt,           // it is on chain
    pending,           // the node has it and waits for a block
    unknown,           // it may have it
    nonce_used,        // a transaction with its nonce is on chain: this one or another
    nonce_gap,         // one with a smaller nonce is missing
    underpriced,       // fees too low, for the chain or to replace what is pending
    overpriced,        // beyond a cap of the node's own
    no_funds,          // the account can not pay
    busy,              // not now: the same bytes again later
    one_in_flight,     // after the one before it
    sender_forbidden,  // nothing of this account
    gas_too_high,      // not with so much gas
    doomed,            // never: this one is cancelled
    no_such_method,    // for eth_sendRawTransactionSync: send it the other way
    refused,           // for a reason nobody knows; it may still turn out to be known
    not_sent,          // nothing reached the node
};

// What a refusal of a transaction means. A code alone does not say that the contract refused: some
// clients use the same one for every refusal. The codes of EIP-7966 count here and nowhere else:
// they mean something else in other places.
[[nodiscard]] jsonrpc::ReplyClass class_on_send(const jsonrpc::NodeError& error);

// The reply to eth_sendRawTransactionSync or eth_sendRawTransaction, apart from what a receipt or a
// hash in it say.
[[nodiscard]] SendVerdict verdict_on(const jsonrpc::Answer& answer);

}  // namespace chains::evm
