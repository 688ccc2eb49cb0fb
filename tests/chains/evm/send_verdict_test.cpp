#include "chains/evm/send_verdict.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "domain/bytes.hpp"

using chains::evm::SendVerdict;
using chains::evm::verdict_on;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;

TEST_CASE("every reply to a transaction has its meaning (evm-gateway 4.1, 4.3, 5.2, 10.3)") {
    struct Row {
        std::string_view label;
        Answer answer;
        SendVerdict verdict;
    };
    const auto error = [](std::int64_t code, const char* message) {
        return NodeError{code, message, {}};
    };
    const auto problem = [](TransportError::Kind kind) { return TransportError{kind, "x", {}}; };
    const Row rows[]{
        {"a receipt", Json{{"status", "0x1"}}, SendVerdict::receipt},
        {"a receipt of a revert", Json{{"status", "0x0"}}, SendVerdict::receipt},
        {"a hash, as eth_sendRawTransaction gives", Json("0xab"), SendVerdict::pending},
        {"null", Json(nullptr), SendVerdict::unknown},
        {"a number", Json(7), SendVerdict::unknown},

        {"4: no receipt within the wait", error(4, "The transaction was added to the mempool"),
         SendVerdict::pending},
        {"5: not executable", error(5, "unknown"), SendVerdict::refused},
        {"6: nonce gap", error(6, "gap"), SendVerdict::nonce_gap},
        {"6 wins over its text", error(6, "expected nonce, request timeout"),
         SendVerdict::nonce_gap},
        {"anvil's wait is over", error(-32'603, "Transaction confirmation timeout"),
         SendVerdict::unknown},
        {"a request timed out", error(-32'000, "request timed out"), SendVerdict::unknown},

        {"geth: nonce too low", error(-32'000, "nonce too low: next nonce 7, tx nonce 3"),
         SendVerdict::nonce_used},
        {"anvil: nonce too low", error(-32'003, "nonce too low"), SendVerdict::nonce_used},
        {"capitals", error(-32'000, "Nonce Too Low"), SendVerdict::nonce_used},
        {"geth: nonce too high", error(-32'000, "nonce too high: address 0x1, tx: 9 state: 3"),
         SendVerdict::nonce_gap},

        {"geth: already known", error(-32'000, "already known"), SendVerdict::pending},
        {"anvil: already imported", error(-32'003, "transaction already imported"),
         SendVerdict::pending},
        {"older geth: known transaction", error(-32'000, "known transaction: ab"),
         SendVerdict::pending},

        {"replacement", error(-32'003, "replacement transaction underpriced"),
         SendVerdict::underpriced},
        {"too cheap for the pool", error(-32'000, "transaction underpriced"),
         SendVerdict::underpriced},
        {"too cheap for the block",
         error(-32'000, "max fee per gas less than block base fee: address 0x1"),
         SendVerdict::underpriced},

        {"beyond the node's own cap",
         error(-32'000, "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)"),
         SendVerdict::overpriced},

        {"anvil: no funds", error(-32'003, "Insufficient funds for gas * price + value"),
         SendVerdict::no_funds},
        {"geth: no funds",
         error(-32'000, "insufficient funds for gas * price + value: balance 0, tx cost 1"),
         SendVerdict::no_funds},

        {"no such method", error(-32'601, "the method does not exist/is not available"),
         SendVerdict::no_such_method},
        {"wrong chain", error(-32'003, "invalid chain id for signer"), SendVerdict::refused},
        {"too much gas", error(-32'000, "exceeds block gas limit"), SendVerdict::gas_too_high},
        {"too large", error(-32'000, "oversized data"), SendVerdict::doomed},
        {"jsonrpsee: too large", error(-32'007, "Request is too big"), SendVerdict::doomed},
        {"a contract that refuses", error(-32'000, "execution reverted"), SendVerdict::doomed},
        {"a contract that refuses, in data",
         NodeError{3, "", domain::Bytes{0xd9, 0x3c, 0x06, 0x65}}, SendVerdict::doomed},
        {"the code of a revert alone", error(3, "failed to include transaction"),
         SendVerdict::refused},
        {"a full pool", error(-32'000, "txpool is full"), SendVerdict::busy},
        {"Nitro: no sequencer",
         error(-32'000, "failed to publish transaction to any of the forwarding targets"),
         SendVerdict::busy},
        {"a forwarder that lost its sequencer", error(-32'000, "Post \"http://10.0.0.1\": EOF"),
         SendVerdict::unknown},
        {"one at a time", error(-32'000, "in-flight transaction limit reached"),
         SendVerdict::one_in_flight},
        {"an account that may not", error(-32'007, "Sender account not authorized"),
         SendVerdict::sender_forbidden},
        {"bad parameter", error(-32'602, "invalid params"), SendVerdict::refused},

        {"connection refused", problem(TransportError::Kind::unsent), SendVerdict::not_sent},
        {"asked to wait", problem(TransportError::Kind::throttled), SendVerdict::not_sent},
        {"stopping", problem(TransportError::Kind::stopped), SendVerdict::not_sent},
        {"broken on the way", problem(TransportError::Kind::lost), SendVerdict::unknown},
        {"no answer in time", problem(TransportError::Kind::timed_out), SendVerdict::unknown},
        {"an answer nobody can read", problem(TransportError::Kind::garbled), SendVerdict::unknown},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(verdict_on(row.answer) == row.verdict);
    }
}
