#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/wei.hpp"
#include "domain/time.hpp"

namespace chains::jsonrpc {

// What an error of a node means, whoever says it (evm-gateway 4.3, 5.2, 5.4, 10.3). The page
// docs/node-replies.md lists them with what is done about each.
enum class ReplyClass {
    known_already,         // the node has this transaction, or the chain
    nonce_too_low,         // a transaction with its nonce is on chain
    nonce_gap,             // one with a smaller nonce is missing
    underpriced,           // fees too low, for the chain, the pool or a replacement
    overpriced,            // the fee is beyond a cap of the node's own
    balance_too_low,       // the account can not pay
    pool_busy,             // pool, sequencer or node can not take it now
    sender_forbidden,      // this account may not send
    one_in_flight,         // it may have one pending transaction only (EIP-7702)
    gas_too_high,          // the gas limit is beyond that of a block or a transaction
    too_large,             // the transaction itself is
    reverted,              // the contract refused
    method_missing,        // the node or its provider does not serve the method
    block_tag_not_served,  // the state of that block can not be had
    not_indexed_yet,       // a receipt or transaction can not be had yet
    query_too_large,       // too many blocks, logs or calls in one question
    throttled,             // ask later
    front_door,            // what stands before the node refused: keys, plans, no healthy node
    timed_out,             // the node gave up waiting: a transaction may have been taken
    not_understood,
};

// The words and codes of one class are rows of a table; this is one of its rows.
struct ReplyWords {
    // Compared without regard to case, spaces and punctuation; it begins where a word begins, and
    // `*` stands for anything, up to 48 letters and digits, `#` for a number. It may end within a
    // word, unless a space is its last character.
    std::string_view phrase;
    ReplyClass reply_class = ReplyClass::not_understood;
    std::string_view said_by;  // clients and providers
    std::string_view source;   // where that can be read
};

struct ReplyCode {
    std::int64_t code = 0;
    ReplyClass reply_class = ReplyClass::not_understood;
    std::string_view said_by;
};

struct ReplyClassText {
    ReplyClass reply_class = ReplyClass::not_understood;
    std::string_view name;
    std::string_view meaning;
    std::string_view action;
};

// In the order of judging: the first that fits counts. Those of reply_words_rare() are judged when
// nothing else fits.
[[nodiscard]] std::span<const ReplyWords> reply_words();
[[nodiscard]] std::span<const ReplyWords> reply_words_rare();
// Judged after the words, whatever a code may mean elsewhere.
[[nodiscard]] std::span<const ReplyCode> reply_codes();
// One for each class, in the order of the enumeration.
[[nodiscard]] std::span<const ReplyClassText> reply_class_texts();
[[nodiscard]] std::string_view name_of(ReplyClass reply_class);

// The class and the numbers the node named with it.
struct ReplyMeaning {
    ReplyClass reply_class = ReplyClass::not_understood;
    std::optional<Wei> fee_min;                // underpriced: per gas, all in all
    std::optional<Wei> tip_min;                // underpriced: per gas, on top of the base fee
    std::optional<Wei> fee_cap;                // overpriced: of a transaction, in wei
    std::optional<std::uint64_t> gas_cap;      // gas_too_high
    std::optional<domain::Milliseconds> wait;  // how long to wait, up to 10 min
};

// Words in `message` and `detail` win over codes. What follows a revert is the contract's and is
// not judged: it could say anything.
[[nodiscard]] ReplyMeaning classify(const NodeError& error);

// The same for words alone, where there is no code.
[[nodiscard]] ReplyClass classify(std::string_view words);

// Whether the node says no more than that something in it failed (JSON-RPC 2.0, 5.1): no answer to
// a question. Some say it of every transaction they refuse.
[[nodiscard]] bool is_internal_error(const NodeError& error);

// Whether the HTTP status of an error says that a provider wants other credentials or a payment.
[[nodiscard]] bool turns_away(int http_status);
// The same, or that it does not reach its nodes, or not now.
[[nodiscard]] bool is_front_door(int http_status);

}  // namespace chains::jsonrpc
