#include "chains/jsonrpc/reply_class.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/node_replies_page.hpp"
#include "chains/jsonrpc/node_error.hpp"

namespace reply_class_test {

using namespace chains::jsonrpc;
using namespace std::chrono_literals;

namespace {

using enum ReplyClass;

std::string sample_of(std::string_view phrase) {
    std::string sample;
    for (const char c : phrase) {
        if (c == '*') {
            sample += "0x12";
        } else if (c == '#') {
            sample += "7";
        } else {
            sample += c;
        }
    }
    return sample;
}

std::string shouted(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        if (c == ' ') c = '_';
    }
    return text;
}

NodeError said(std::int64_t code, std::string message, const char* data = nullptr) {
    const Json error{{"code", code},
                     {"message", std::move(message)},
                     {"data", data == nullptr ? Json(nullptr) : Json::parse(data)}};
    return read_node_error(error, {}).value();
}

}  // namespace

TEST_CASE("every phrase means its class, and no phrase of another class gets in its way") {
    for (const auto rows : {reply_words(), reply_words_rare()}) {
        for (const ReplyWords& row : rows) {
            const std::string sample = sample_of(row.phrase);
            CAPTURE(sample);
            CHECK(name_of(classify(sample)) == name_of(row.reply_class));
            CHECK(name_of(classify("call failed: " + sample + ".")) == name_of(row.reply_class));
            CHECK_FALSE(row.said_by.empty());
            CHECK_FALSE(row.source.empty());
        }
    }
}

TEST_CASE("case and punctuation do not matter") {
    for (const ReplyWords& row : reply_words()) {
        const std::string sample = shouted(sample_of(row.phrase));
        CAPTURE(sample);
        CHECK(name_of(classify(sample)) == name_of(row.reply_class));
    }
}

TEST_CASE("no phrase is short enough to mean anything") {
    std::set<std::string_view> phrases;
    for (const ReplyWords& row : reply_words()) {
        CAPTURE(row.phrase);
        CHECK(row.phrase.size() >= 6);
        CHECK(phrases.insert(row.phrase).second);
    }
    const auto texts = reply_class_texts();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(static_cast<std::size_t>(texts[i].reply_class) == i);
    }
}

TEST_CASE("what clients and providers were seen to say") {
    struct Row {
        ReplyClass reply_class;
        const char* words;
    };
    const Row rows[]{
        {nonce_too_low, "nonce too low: address 0x3363, tx: 8089 state: 8090"},
        {nonce_too_low, "call failed: OldNonce, Current nonce: 22, nonce of rejected tx: 17"},
        {nonce_too_low,
         "Nonce too low. Expected nonce to be 7 but got 5. Note that transactions "
         "can't be queued when automining."},
        {nonce_too_low,
         "the tx doesn't have the correct nonce. account has nonce of: 7 tx has "
         "nonce of: 5"},
        {nonce_gap,
         "the tx doesn't have the correct nonce. account has nonce of: 5 tx has nonce "
         "of: 7"},
        {nonce_gap, "transaction nonce 10 does not match sender account nonce 1."},
        {nonce_gap, "account sequence mismatch, expected 5, got 7: incorrect account sequence"},
        {nonce_too_low, "account sequence mismatch, expected 7, got 5: incorrect account sequence"},
        {nonce_gap, "NonceGap, Future nonce. Expected nonce: 10"},
        {nonce_gap, "nonce too high. allowed nonce range: 427 - 477, actual: 527"},
        {nonce_gap, "Transaction nonce is too distant from current sender nonce"},
        {underpriced, "there is another tx which has the same nonce in the tx pool"},
        {underpriced,
         "virtual machine entered unexpected state. Error description: The operator "
         "included transaction with an unacceptable gas price"},
        {underpriced, "provided fee < minimum global fee (12aevmos < 34aevmos): insufficient fee"},
        {pool_busy,
         "There are too many transactions in the queue. Your transaction was dropped "
         "due to limit. Try increasing the fee."},
        {pool_busy, "INTERNAL_ERROR: pending sub-pool is full"},
        {pool_busy, "sequencer pending tx pool full, please try again"},
        {pool_busy, "Initial sync is still in progress"},
        {front_door, "no backend is currently healthy to serve traffic"},
        {front_door, "project ID does not have access to this network"},
        {throttled,
         "50/second request limit reached - reduce calls per second or upgrade your "
         "account"},
        {throttled, "daily request count exceeded, request rate limited"},
        {throttled, "project ID request rate exceeded"},
        {timed_out, "context deadline exceeded"},
        {timed_out, "Transaction confirmation timeout"},
        {balance_too_low, "InsufficientFunds, Account balance: 0, cumulative cost: 2100000"},
        {balance_too_low,
         "transaction up-front cost 0x0ad exceeds transaction sender account "
         "balance 0x01"},
        {balance_too_low,
         "Sender doesn't have enough funds to send tx. The max upfront cost is: 5 "
         "and the sender's balance is: 3."},
        {balance_too_low, "insufficient funds for l1fee + gas * price + value"},
        {balance_too_low,
         "up-front cost exceeds what is left, 3 transaction(s) already in the "
         "pool"},
        {sender_forbidden, "transaction sender is not on the whitelist"},
        {method_missing, "rpc method is not whitelisted"},
        {method_missing, "Method 'eth_sendRawTransactionSync' not found"},
        {method_missing, "eth_sendRawTransactionSync is not available on this plan"},
        {method_missing,
         "method eth_sendRawTransactionSync is not available on freetier, please "
         "upgrade to paid tier"},
        {gas_too_high, "tx gas (50000000) exceeds block gas limit (40000000): out of gas"},
        {gas_too_high,
         "Transaction gas limit '999999999' exceeds max gas per sec limit "
         "'15000000'"},
        {too_large, "oversized data: transaction size 131073, limit 131072"},
        {reverted, "VM Exception while processing transaction: revert nonce too low"},
        {reverted, "execution reverted: too many requests"},
        {reverted,
         "Error: VM Exception while processing transaction: reverted with reason string "
         "'insufficient funds'"},
        {known_already, "known transaction. transaction with hash 0x6013 is already in the system"},
        {known_already,
         "Transaction 0xabc was added to the mempool but wasn't confirmed within "
         "30s."},
        {query_too_large,
         "query returned more than 10000 results. Try with this block range "
         "[0x1, 0x2]."},
        {query_too_large, "Number of requests exceeds max batch size"},
        {query_too_large,
         "Batch of more than 3 requests are not allowed on free tier, to use this feature register "
         "paid account at drpc.org"},
        {query_too_large, "Batched requests are not supported by this server"},
        {query_too_large, "The batch request was too large"},
        {query_too_large, "The batch response was too large"},
        {too_large, "Request is too big"},
        {overpriced, "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)"},
        {overpriced, "Transaction fee cap exceeded"},
        {gas_too_high, "Transaction gas limit cap exceeded"},
        {gas_too_high, "TxGasLimitCapExceeded: Gas limit 30000000 exceeded cap of 16777216."},
        {sender_forbidden, "cannot issue transaction from non-allow listed address"},
        {front_door, "failed to publish transaction to any of the forwarding targets"},
        {front_door, "publishing transactions not supported by this endpoint"},
        {front_door, "sequencer internal error"},
        {front_door, "Post \"http://10.0.0.1\": dial tcp: lookup sequencer: no such host"},
        {front_door, "Post \"http://10.0.0.1\": dial tcp: lookup sequencer: server misbehaving"},
        {front_door, "Post \"http://10.0.0.1\": dial tcp 10.0.0.1:80: connect: no route to host"},
        {front_door, "dial tcp: lookup sequencer: no suitable address found"},
        {front_door, "500 Internal Server Error: {}"},
        {front_door, "error sending request for url (http://10.0.0.1/)"},
        {front_door,
         "Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in "
         "sync)."},
        {front_door, "Unable to complete request at this time."},
        {front_door, "We are not able to process your request at this time"},
        {front_door, "all upstream attempts failed (3)"},
        {timed_out, "Post \"https://10.0.0.1\": EOF"},
        {timed_out, "read tcp 10.0.0.1:80: read: connection reset by peer"},
        {nonce_too_low, "500 Internal Server Error: nonce too low"},
        {block_tag_not_served, "block range extends beyond current head block"},
        {block_tag_not_served,
         "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be "
         "found."},
        {block_tag_not_served, "requested from block 34 after last accepted block 33"},
        {block_tag_not_served, "no available upstreams to process a request: No label flashblocks"},
        {front_door, "IP Address Not Allowed"},
        {front_door, "IP is not in the whitelist"},
        {front_door, "Request IP not in whitelist."},
        {front_door, "Your IP is not in the allowlist"},
        {front_door, "Referer not whitelisted"},
        {front_door, "Unspecified origin not on whitelist."},
        {throttled, "IP rate limit exceeded"},
        {sender_forbidden, "sender is not in the whitelist"},
        {sender_forbidden, "address not allowed"},
        {sender_forbidden, "forbidden sender address"},
        {sender_forbidden, "`from` address of transaction in blacklist"},
        {sender_forbidden, "sender or to in black list"},
        {front_door, "backend offline"},
        {front_door, "backend returned an invalid response"},
        {front_door, "backend is currently not healthy to serve traffic"},
        {front_door, "backend request failed"},
        {front_door, "Apikey is expired"},
        {throttled, "Insufficient RU balance"},
        {throttled, "Insufficient quota"},
        {block_tag_not_served, "snapshot stale"},
        {block_tag_not_served, "layer stale"},
        {pool_busy, "Transaction pool is not ready"},
        {pool_busy, "txpool not responding"},
        {nonce_too_low,
         "submit transaction to pool failed: Pool(InvalidTransaction(InvalidTransaction::Stale))"},
        {nonce_too_low, "Pool(InvalidTransaction(Stale))"},
        {nonce_gap, "Pool(InvalidTransaction(InvalidTransaction::Future))"},
        {balance_too_low, "Pool(InvalidTransaction(InvalidTransaction::Payment))"},
        {pool_busy, "Pool(InvalidTransaction(InvalidTransaction::ExhaustsResources))"},
        {underpriced, "Another transaction has higher priority"},
        {underpriced, "gas price not enough to bump transaction"},
        {known_already, "pending transaction with same hash already exists"},
        {reverted, "invalid opcode: opcode 0xfe not defined"},
        {reverted, "VM Exception while processing transaction: invalid opcode"},
        {reverted, "invalid jump destination"},
        {not_indexed_yet, "Error: transaction hash not found (txHash=\"0x12\")"},
        {not_understood, "Zero signature transaction."},
        {throttled, "upgrade to a paid tier"},
        {throttled, "retry in 3 s"},
        {not_understood, "stop retrying and report it"},
        {not_understood, "this needs an upgrade to archive access"},
        {nonce_too_low,
         "failed to forward tx to sequencer, please try again. Error message: 'nonce too low'"},
        {known_already, "failed to forward tx to sequencer, err: 'already known'"},
        {not_understood,
         "failed to forward tx to sequencer, please try again. Error message: 'intrinsic gas too "
         "low'"},
        {pool_busy, "failed to forward tx to sequencer, please try again. Error message: ''"},
        {not_understood, "Internal error"},
        {not_understood, "invalid chain id for signer"},
        {not_understood, "intrinsic gas too low"},
        {not_understood, "Intrinsic gas exceeds gas limit"},
        {not_understood, "unknown block"},
        {not_understood, "invalid params"},
        {not_understood, "invalid sender"},
        {not_understood, "Unknown transaction type not supported"},
        {not_understood, "are vertical servers never timely"},
        {not_understood, ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.words);
        CHECK(name_of(classify(row.words)) == name_of(row.reply_class));
    }
}

TEST_CASE("words win over codes, codes over nothing, and data is looked into") {
    struct Row {
        NodeError error;
        ReplyClass reply_class;
    };
    const Row rows[]{
        {said(-32'004, "Upfront cost exceeds account balance"), balance_too_low},
        {said(-32'004, "no"), method_missing},
        {said(-32'005, "Transaction gas limit exceeds block gas limit"), gas_too_high},
        {said(-32'005, "limit exceeded"), throttled},
        {said(-32'007, "Sender account not authorized to send transactions"), sender_forbidden},
        {said(-32'007, "50/second request limit reached"), throttled},
        {said(-32'601, "insufficient funds"), balance_too_low},
        {said(3, "known transaction. transaction with hash 0x60 is already in the system"),
         known_already},
        {said(3, "something"), reverted},
        {said(-32'005, "Batched requests are not supported by this server"), query_too_large},
        {said(31, "no"), query_too_large},
        {said(4, "Token is not valid"), not_understood},  // of EIP-7966 on a send alone
        {said(6, "expected nonce, request timeout"), timed_out},
        {said(-32'015, "VM execution error.", R"("Reverted 0xd93c0665")"), reverted},
        {said(-32'603, "Internal error", R"("Reverted 0xd93c0665")"), reverted},
        {said(-32'603, "Internal error", R"("0xd93c0665")"), reverted},
        {said(-32'603, "Internal error",
              R"({"originalError":{"code":3,"data":"0xd93c0665","message":"execution reverted"}})"),
         reverted},
        {said(-32'000, "transaction rejected", R"("nonce too low")"), nonce_too_low},
        {said(-32'000, "failed", R"({"details":[{"cause":"txpool is full"}]})"), pool_busy},
        {said(-32'000, "VM Exception while processing transaction: revert",
              R"({"reason":"nonce too low","message":"insufficient funds"})"),
         reverted},
        {said(-32'603, "Internal error", R"({"reason":"nonce too low"})"), not_understood},
        {said(-32'603, "Internal error", R"("0x1111111111111111111111111111111111111111")"),
         not_understood},
    };
    for (const Row& row : rows) {
        CAPTURE(row.error.code);
        CAPTURE(row.error.message);
        CHECK(name_of(classify(row.error).reply_class) == name_of(row.reply_class));
    }
}

TEST_CASE("minimum fees are read where a node names them") {
    struct Row {
        const char* words;
        std::uint64_t fee;
        std::uint64_t tip;
    };
    constexpr std::uint64_t giga = 1'000'000'000;
    const Row rows[]{
        {"transaction underpriced: gas tip cap 1, minimum needed 25000000000", 0, 25 * giga},
        {"transaction underpriced: tip needed 100, tip permitted 10", 0, 100},
        {"transaction priority fee below minimum required priority fee 7", 0, 7},
        {"FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30", 0, 20},
        {"FeeTooLow, FeePerGas needs to be higher than 100 to be added to the TxPool.", 100, 0},
        {"max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 70", 70,
         0},
        {"Transaction maxFeePerGas (1) is too low for the next block, which has a baseFeePerGas of "
         "2",
         2, 0},
        {"gas price too low: 18000000000 wei, use at least tx.gasPrice = 19500000000 wei",
         19'500'000'000, 0},
        {"gas price is too low (minimal: 1.5 gwei)", 1'500'000'000, 0},
        {"Gas price '1' is below configured minimum gas price '710000000000'", 710 * giga, 0},
        {"transaction underpriced", 0, 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.words);
        const ReplyMeaning meaning = classify(NodeError{-32'000, row.words, {}});
        CHECK(name_of(meaning.reply_class) == "underpriced");
        CHECK(static_cast<std::uint64_t>(meaning.fee_min.value_or(0)) == row.fee);
        CHECK(static_cast<std::uint64_t>(meaning.tip_min.value_or(0)) == row.tip);
    }
}

TEST_CASE("gas caps are read where a node names them") {
    struct Row {
        const char* words;
        std::uint64_t cap;
    };
    const Row rows[]{
        {"transaction gas limit too high (cap: 16777216, tx: 18874368)", 16'777'216},
        {"Transaction gas limit is 30000001 and exceeds block gas limit of 30000000", 30'000'000},
        {"GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000", 30'000'000},
        {"exceeds block gas limit", 0},
        {"exceeds block gas limit 0x1111111111111111111111111111111111111111", 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.words);
        const ReplyMeaning meaning = classify(NodeError{-32'000, row.words, {}});
        CHECK(name_of(meaning.reply_class) == "gas_too_high");
        CHECK(meaning.gas_cap.value_or(0) == row.cap);
    }
}

TEST_CASE("a cap on fees is read where a node names it, in wei or in the chain's money") {
    struct Row {
        const char* words;
        std::uint64_t cap;
    };
    constexpr std::uint64_t finney = 1'000'000'000'000'000;
    const Row rows[]{
        {"tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", 1'000 * finney},
        {"tx fee (0.48 FTM) exceeds the configured cap (0.40 FTM)", 400 * finney},
        {"tx fee (1200 wei) exceeds the configured cap (1000 wei)", 1'000},
        {"tx fee (0.01 ether) exceeds the configured cap (0.00 ether)", 0},
        {"tx fee (2 ether) exceeds the configured cap (999999999999999999999999 ether)", 0},
        {"Transaction fee cap exceeded", 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.words);
        const ReplyMeaning meaning = classify(NodeError{-32'000, row.words, {}});
        CHECK(name_of(meaning.reply_class) == "overpriced");
        CHECK(static_cast<std::uint64_t>(meaning.fee_cap.value_or(0)) == row.cap);
    }
}

TEST_CASE("how long to wait is read where a node says it") {
    CHECK(classify(said(429, "rate limit, try again in 250ms")).wait == 250ms);
    CHECK(classify(said(429, "rate limit, retry in 3 s")).wait == 3s);
    CHECK(classify(said(429, "too many requests, retry after 2 minutes")).wait == 2min);
    CHECK(classify(said(429, "slow down", R"({"rate":{"backoff_seconds":30,"allowed_rps":1}})"))
              .wait == 30s);
    CHECK(classify(said(429, "slow down", R"({"retry_after":4})")).wait == 4s);
    CHECK(classify(said(429, "slow down", R"({"retryAfterMs":4000})")).wait.has_value());
    CHECK(classify(said(429, "slow down, try again in 99999999999 s")).wait == 10min);
    CHECK(classify(said(429, "Public RPC Rate Limit Hit, limit will reset in 60 seconds")).wait ==
          60s);
    CHECK(classify(said(429, "too many requests, ask again in 5 s")).wait == 5s);
    CHECK_FALSE(classify(said(429, "slow down")).wait);
}

TEST_CASE("docs/node-replies.md is what the tables say") {
    std::ifstream file{POSTHOUSE_SOURCE_ROOT "/docs/node-replies.md"};
    const std::string page{std::istreambuf_iterator<char>{file}, {}};
    const bool same = page == support::node_replies_page();
    CHECK_MESSAGE(same,
                  "write it anew: build/tests/chains/evm/write_node_replies > "
                  "docs/node-replies.md");
}

}  // namespace reply_class_test
