#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/calls.hpp"
#include "chains/evm/contract_wallets.hpp"
#include "chains/evm/doctor_checks.hpp"
#include "chains/evm/http_harness.hpp"
#include "chains/evm/relay.hpp"
#include "chains/evm/scripted_node.hpp"
#include "chains/evm/send_verdict.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node_error.hpp"
#include "chains/jsonrpc/reply_class.hpp"
#include "domain/keccak.hpp"

// Every client's and provider's words in every place where they can be met (field reports 79 to
// 100).
namespace support::reply_words {
namespace {

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::classify;
using chains::jsonrpc::name_of;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::ReplyClass;
using chains::jsonrpc::ReplyWords;
using chains::jsonrpc::TransportError;
using domain::Reason;
using domain::Status;
using namespace std::chrono_literals;
using enum ReplyClass;

// One phrase of each class and client.
struct Sample {
    ReplyClass reply_class;
    std::string words;
};

std::string words_in(std::string_view phrase) {
    std::string words;
    for (const char c : phrase) {
        if (c == '*' || c == '#') {
            words += "12";
        } else {
            words += c;
        }
    }
    return words;
}

const std::vector<Sample>& samples() {
    static const std::vector<Sample> all = [] {
        std::vector<Sample> made;
        std::set<std::pair<ReplyClass, std::string>> seen;
        for (const auto rows :
             {chains::jsonrpc::reply_words(), chains::jsonrpc::reply_words_rare()}) {
            for (const ReplyWords& row : rows) {
                if (row.reply_class == not_understood) continue;
                if (!seen.emplace(row.reply_class, std::string(row.said_by)).second) continue;
                made.push_back({row.reply_class, words_in(row.phrase)});
            }
        }
        for (const char* words : {"Internal error", "no", ""})
            made.push_back({not_understood, words});
        return made;
    }();
    return all;
}

// As the reader of replies makes it of an error in an HTTP 200.
Answer answer_of(const Sample& sample) {
    if (sample.reply_class == throttled)
        return TransportError{TransportError::Kind::throttled, "wait", 1s};
    if (sample.reply_class == front_door)
        return TransportError{TransportError::Kind::unsent, "door", {}};
    return NodeError{-32'000, sample.words, {}};
}

Json error_of(const Json& id, std::int64_t code, const std::string& message) {
    return error_reply(id, static_cast<int>(code), message);
}

// What a relay did with this answer to calls of some method, given so many times or for so long.
struct Outcome {
    Status status;
    std::size_t cancelled;
    std::uint64_t chain_nonce;
};

template <typename Says>
Outcome relayed(const Says& says, domain::Milliseconds time = 3min) {
    Relay relay;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        return says(call, relay);
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(time);
    relay.chain.before = nullptr;
    relay.run_for(1min);
    const Status status = relay.engine.status(id);
    if (status != Status::failure) relay.check_inclusions();
    return {status, relay.engine.logger.count("transaction_cancelled"), relay.chain.nonce()};
}

// A relay whose sends are refused with these words for a while.
struct Refusing {
    Refusing(std::string words, std::int64_t code = -32'000) : refusal{code, std::move(words), {}} {
        relay.chain.before = [this](const Call& call) -> std::optional<Answer> {
            if (!refuses || !sends(call)) return std::nullopt;
            ++refused;
            return refusal;
        };
    }

    void submit(std::uint64_t count) {
        for (std::uint64_t number = 1; number <= count; ++number) {
            relay.submit(support::input_proof(number));
        }
    }

    void check_all_received() {
        for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
        CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
        relay.check_inclusions();
    }

    Relay relay;
    NodeError refusal;
    bool refuses = true;
    std::size_t refused = 0;
};

}  // namespace

TEST_CASE("generated: each class and client, read singly and as an item of a batch") {
    const Sample* sample = nullptr;
    HttpStub stub(HttpStub::answering([&](const StubRequest& request) {
        if (request.body.is_object()) {
            return http(200, error_of(request.body.at("id"), -32'000, sample->words).dump());
        }
        Json replies = Json::array();
        replies.push_back(reply(request.body.at(0).at("id"), "fine"));
        replies.push_back(error_of(request.body.at(1).at("id"), -32'000, sample->words));
        return http(200, replies.dump());
    }));
    for (const Sample& one : samples()) {
        CAPTURE(one.words);
        sample = &one;
        const std::string kind = one.reply_class == throttled    ? "throttled"
                                 : one.reply_class == front_door ? "unsent"
                                                                 : "error";
        HttpHarness single({stub.url()});
        const Answer alone = single.call();
        CHECK(kind_of(alone) == kind);
        HttpHarness batched({stub.url()});
        const auto both = batched.node.call_all({chain_id, chain_id});
        CHECK(kind_of(both.at(0)) == "json");
        CHECK(kind_of(both.at(1)) == kind);
        for (const Answer* answer : {&alone, &both.at(1)}) {
            if (const auto* error = std::get_if<NodeError>(answer)) {
                CHECK(name_of(classify(*error).reply_class) == name_of(one.reply_class));
            }
        }
    }
}

TEST_CASE("generated: each class and client on a send") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.words);
        std::size_t told = 0;
        const Outcome outcome = relayed([&](const Call& call, Relay&) -> std::optional<Answer> {
            if (!sends(call) || told >= 3) return std::nullopt;
            if (sample.reply_class == method_missing && !call.method.ends_with("Sync")) {
                return std::nullopt;
            }
            ++told;
            return answer_of(sample);
        });
        const bool ends = sample.reply_class == too_large || sample.reply_class == reverted ||
                          sample.reply_class == gas_too_high;
        CHECK(outcome.status == (ends ? Status::failure : Status::receipt_received));
        CHECK(outcome.cancelled == (ends ? 1 : 0));
        CHECK(outcome.chain_nonce == 1);
    }
}

TEST_CASE("generated: each class and client on an estimate") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.words);
        std::size_t told = 0;
        const Outcome outcome = relayed([&](const Call& call, Relay&) -> std::optional<Answer> {
            if (call.method != "eth_estimateGas" || told >= 4) return std::nullopt;
            ++told;
            return answer_of(sample);
        });
        // What no block holds ends like what the contract refuses.
        const bool ends = sample.reply_class == reverted || sample.reply_class == too_large ||
                          sample.reply_class == gas_too_high;
        CHECK(outcome.status == (ends ? Status::failure : Status::receipt_received));
        CHECK(outcome.cancelled == 0);
    }
}

TEST_CASE("generated: each class and client on a receipt and on the count of nonces") {
    for (const char* method : {"eth_getTransactionReceipt", "eth_getTransactionCount"}) {
        for (const Sample& sample : samples()) {
            CAPTURE(method);
            CAPTURE(sample.words);
            std::size_t told = 0;
            const Outcome outcome =
                relayed([&](const Call& call, Relay& relay) -> std::optional<Answer> {
                    relay.chain.knows_sync = false;
                    if (call.method != method || told >= 4) return std::nullopt;
                    ++told;
                    return answer_of(sample);
                });
            CHECK(outcome.status == Status::receipt_received);
            CHECK(outcome.cancelled == 0);
            CHECK(outcome.chain_nonce == 1);
        }
    }
}

TEST_CASE("generated: each class and client on a call: only a revert is the contract's answer") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.words);
        ScriptedNode node;
        node.on["eth_call"] = [&](const Json&) { return answer_of(sample); };
        const auto answer = node.call({"eth_call", Json::array()});
        const auto* error = std::get_if<NodeError>(&answer);
        const bool is_reverted = error != nullptr && classify(*error).reply_class == reverted;
        CHECK(is_reverted == (sample.reply_class == reverted));
    }
}

// --- one for each report ------------------------------------------------------------------------

TEST_CASE("field 79: a node without the sync method says so in other words") {
    const NodeError says[]{
        {-32'001, "rpc method is not whitelisted", {}},
        {-32'600, "Unsupported method: eth_sendRawTransactionSync. See available methods", {}},
        {-32'004, "method not supported", {}},
        {-32'000, "the method eth_sendRawTransactionSync does not exist/is not available", {}},
        {-32'000, "eth_sendRawTransactionSync is disabled on this endpoint: method disabled", {}},
        {-32'601, "no", {}},
    };
    for (const NodeError& missing : says) {
        CAPTURE(missing.message);
        Relay relay;
        std::size_t asked = 0;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_sendRawTransactionSync") return std::nullopt;
            ++asked;
            return missing;
        };
        for (std::uint64_t number = 1; number <= 3; ++number) {
            relay.submit(support::input_proof(number));
            relay.run_for(5s);
        }
        for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
        CHECK(asked == 1);
        CHECK(relay.engine.logger.count("send_sync_missing") == 1);
        // Asked anew after ten minutes, and told once.
        relay.run_for(10min);
        relay.submit(support::input_proof(4));
        relay.run_for(5s);
        CHECK(asked == 2);
        CHECK(relay.engine.status(relay.ids.back()) == Status::receipt_received);
        CHECK(relay.engine.logger.count("send_sync_missing") == 1);
        relay.check_inclusions();

        ScriptedNode node;
        node.say("eth_sendRawTransactionSync", {missing});
        const auto finding = chains::evm::doctor::check_sync_send(node);
        CHECK(finding.verdict == chains::diagnosis::Finding::Verdict::warning);
        CHECK(finding.text.find("does not have it") != std::string::npos);
    }
}

TEST_CASE("field 80: what passes costs time, not the request") {
    const NodeError says[]{
        {-32'000, "txpool is full", {}},
        {-32'010,
         "There are too many transactions in the queue. Your transaction was dropped due "
         "to limit. Try increasing the fee.",
         {}},
        {-32'603, "Internal error", {}},
        {-32'000, "context deadline exceeded", {}},
        {-32'000, "something nobody has heard of", {}},
    };
    for (const NodeError& passing : says) {
        CAPTURE(passing.message);
        Refusing world(passing.message, passing.code);
        world.submit(5);
        world.relay.run_for(40s);
        world.refuses = false;
        world.relay.run_for(1min);
        world.check_all_received();
    }
}

TEST_CASE("field 80: a refusal nobody knows is borne for minutes, told once a minute, then ends") {
    Refusing world("something nobody has heard of");
    Relay& relay = world.relay;
    relay.submit(support::input_proof(1));
    relay.run_for(9min);
    CHECK(relay.engine.status(relay.ids.front()) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    const auto lines = relay.engine.logger.count("transaction_refused");
    CHECK(lines >= 8);
    CHECK(lines <= 10);
    CHECK(world.refused < 9 * 60);
    relay.run_for(2min);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 1);
    // The no-op is refused as well: health says why.
    REQUIRE(relay.gateway.problem());
    CHECK(relay.gateway.problem()->find("nobody has heard of") != std::string::npos);
    world.refuses = false;
    relay.run_for(1min);
    CHECK_FALSE(relay.gateway.problem());
    CHECK(relay.engine.status(relay.ids.front()) == Status::failure);
    CHECK(relay.failure(relay.ids.front()).reason == Reason::send_failed);
    CHECK(relay.chain.nonce() == 1);
}

TEST_CASE("field 80: with others behind it the span is shorter") {
    Relay relay;
    const domain::Bytes doomed = chains::evm::request_call(support::input_proof(1));
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        if (transaction_in(call).data != doomed) return std::nullopt;
        return NodeError{-32'000, "something nobody has heard of", {}};
    };
    relay.submit(support::input_proof(1));
    relay.run_for(100ms);
    relay.submit(support::input_proof(2));
    relay.run_for(110s);
    CHECK(relay.engine.status(relay.ids[0]) == Status::tx_in_flight);
    relay.run_for(60s);
    CHECK(relay.engine.status(relay.ids[0]) == Status::failure);
    CHECK(relay.engine.status(relay.ids[1]) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("field 82: slow down inside a 200, also as an item of a batch") {
    struct Row {
        int code;
        const char* message;
    };
    const Row rows[]{
        {429,
         "Your app has exceeded its compute units per second capacity. If you have retries "
         "enabled, you can safely ignore this message."},
        {-32'007, "50/second request limit reached - reduce calls per second"},
        {-32'005, "daily request count exceeded, request rate limited"},
        {30, "Too many"},
        {15, "Too many"},
        {-32'000, "please upgrade your plan"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.message);
        std::size_t limit = 1;
        HttpStub stub(HttpStub::answering([&](const StubRequest& request) {
            if (limit == 0) return http_result(request, "fine");
            --limit;
            if (request.body.is_object()) return http_error(request, row.code, row.message);
            Json replies = Json::array();
            replies.push_back(reply(request.body.at(0).at("id"), "fine"));
            replies.push_back(error_of(request.body.at(1).at("id"), row.code, row.message));
            return http(200, replies.dump());
        }));
        for (const bool batch : {false, true}) {
            limit = 1;
            HttpHarness harness({stub.url()});
            const Answer first =
                batch ? harness.node.call_all({chain_id, chain_id}).at(1) : harness.call();
            CHECK(kind_of(first) == "throttled");
            CHECK(wait_ms(first) == 1'000);
            // Nobody asks before that.
            CHECK(kind_of(harness.call()) == "throttled");
            harness.clock.advance(1s);
            CHECK(kind_of(harness.call()) == "json");
        }
    }
}

TEST_CASE("field 82: the time a node names inside its error is kept") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        return http(200, Json{{"jsonrpc", "2.0"},
                              {"id", request.body.at("id")},
                              {"error",
                               {{"code", -32'005},
                                {"message", "rate limited"},
                                {"data", {{"rate", {{"backoff_seconds", 30}}}}}}}}
                             .dump());
    }));
    HttpHarness harness({stub.url()});
    CHECK(wait_ms(harness.call()) == 30'000);
}

TEST_CASE("field 83: what the door before the node says goes to the next URL, sends as well") {
    struct Row {
        int status;
        int code;
        const char* message;
        std::string kind;
    };
    const Row rows[]{
        {503, -32'011, "no backend is currently healthy to serve traffic", "unsent"},
        {200, -32'011, "no backends available for method", "unsent"},
        {403, -32'600, "Monthly capacity limit exceeded. Visit the dashboard", "throttled"},
        {403, -32'600, "something nobody has heard of", "unsent"},
        {401, -32'000, "something nobody has heard of", "unsent"},
        {402, -32'000, "something nobody has heard of", "unsent"},
        {502, -32'603, "something nobody has heard of", "unsent"},
        {500, -32'603, "Internal error", "unsent"},
        {403, 4, "something nobody has heard of", "unsent"},
        {200, -32'000, "failed to publish transaction to any of the forwarding targets", "unsent"},
        {200, -32'603, "error sending request for url (http://10.0.0.1/)", "unsent"},
        {200, -32'002, "Transaction pool not enabled.", "unsent"},
        {200, -32'001, "Unable to complete request at this time.", "unsent"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.message);
        HttpStub door(HttpStub::answering([&](const StubRequest& request) {
            const Json id = request.body.is_array() ? Json(nullptr) : request.body.at("id");
            return http(row.status, error_of(id, row.code, row.message).dump());
        }));
        HttpStub spare(HttpStub::answering(
            [](const StubRequest& request) { return http_result(request, "spare"); }));
        HttpHarness alone({door.url()});
        const Answer refused = alone.node.call(send_raw);
        CHECK(kind_of(refused) == row.kind);
        if (row.kind == "unsent" && row.status != 200) {
            CHECK(text_of(refused).find("HTTP " + std::to_string(row.status)) != std::string::npos);
        }
        HttpHarness both({door.url(), spare.url()});
        CHECK(text_of(both.call()) == "\"spare\"");
        HttpHarness sending({door.url(), spare.url()});
        CHECK(text_of(sending.node.call(send_raw)) == "\"spare\"");
        HttpHarness batch({door.url(), spare.url()});
        for (const Answer& one : batch.node.call_all({chain_id, chain_id})) {
            CHECK(text_of(one) == "\"spare\"");
        }
    }
    // What the chain says counts whatever the status.
    HttpStub node(HttpStub::answering([](const StubRequest& request) {
        return http_error(request, -32'000, "nonce too low", 503);
    }));
    HttpHarness harness({node.url()});
    CHECK(kind_of(harness.call()) == "error");
}

TEST_CASE("field 85: an empty account in the words of any client pauses, and fails nobody") {
    const NodeError says[]{
        {-32'010, "InsufficientFunds, Account balance: 0, cumulative cost: 2100000", {}},
        {-32'004, "Upfront cost exceeds account balance", {}},
        {-32'000, "up-front gas cost 0x1 exceeds transaction sender account balance 0x0", {}},
        {-32'000, "sender doesn't have enough funds to send tx. The max upfront cost is: 1", {}},
    };
    for (const NodeError& empty : says) {
        CAPTURE(empty.message);
        Refusing world(empty.message, empty.code);
        world.submit(10);
        world.relay.run_for(1min);
        CHECK(world.relay.gateway.problem().has_value());
        CHECK(world.relay.engine.logger.count("insufficient_funds ") == 1);
        world.refuses = false;
        world.relay.run_for(30s);
        CHECK_FALSE(world.relay.gateway.problem());
        world.check_all_received();
    }
}

TEST_CASE("field 85: before a nonce is given up the balance is compared with the cost") {
    Relay relay;
    bool refuses = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!refuses) return std::nullopt;
        if (call.method == "eth_getBalance") return Json("0x1");
        if (!sends(call)) return std::nullopt;
        return NodeError{-32'000, "kein Geld", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(15min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("insufficient_funds ") == 1);
    CHECK(relay.gateway.problem().has_value());
    refuses = false;
    relay.run_for(30s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    relay.check_inclusions();
}

TEST_CASE("field 86: a delegated account sends one at a time, nobody is cancelled") {
    Relay relay;
    relay.chain.mines = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        const auto nonce = transaction_in(call).nonce;
        if (nonce > relay.chain.nonce()) {
            return NodeError{-32'000,
                             relay.chain.in_pool() > 0
                                 ? "in-flight transaction limit reached for delegated accounts"
                                 : "gapped-nonce tx from delegated accounts",
                             {}};
        }
        return std::nullopt;
    };
    for (std::uint64_t number = 1; number <= 20; ++number) {
        relay.submit(support::input_proof(number));
    }
    for (int block = 0; block < 90; ++block) {
        relay.run_for(2s);
        relay.chain.mine_pool();
    }
    std::size_t received = 0;
    for (const auto& id : relay.ids) {
        received += relay.engine.status(id) == Status::receipt_received ? 1U : 0U;
    }
    CHECK(received == 20);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    CHECK(relay.engine.logger.count("one_transaction_in_flight") == 1);
    relay.check_inclusions();
}

TEST_CASE("field 91: an account that may not send stops signing, and says so") {
    Refusing world("Sender account not authorized to send transactions", -32'007);
    Relay& relay = world.relay;
    relay.submit(support::input_proof(1));
    relay.run_for(5s);
    for (std::uint64_t number = 2; number <= 30; ++number) {
        relay.submit(support::input_proof(number));
    }
    relay.run_for(5min);
    CHECK(relay.engine.logger.count("sender_forbidden alert=true") == 1);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    REQUIRE(relay.gateway.problem());
    CHECK(relay.gateway.problem()->find("not authorized") != std::string::npos);
    CHECK_FALSE(relay.gateway.gateway->dependencies().front().ok);
    std::size_t sealed = 0;
    for (const auto& id : relay.ids) {
        sealed += relay.engine.process().store.attempts(id.sequence).size();
    }
    CHECK(sealed <= 3);
    world.refuses = false;
    relay.run_for(1min);
    CHECK_FALSE(relay.gateway.problem());
    CHECK(relay.engine.logger.count("sender_forbidden_recovered") == 1);
    world.check_all_received();
}

TEST_CASE("field 92: calldata goes under both names, in every call object") {
    Relay relay;
    relay.chain.after = [](const Call&, const Answer&) -> std::optional<Answer> {
        return std::nullopt;
    };
    relay.submit(support::public_decrypt(1));
    relay.run_for(10s);
    std::set<std::string> methods;
    for (const Call& call : relay.chain.calls) {
        if (call.method != "eth_call" && call.method != "eth_estimateGas") continue;
        methods.insert(call.method);
        REQUIRE(call.params.at(0).contains("data"));
        CHECK(call.params.at(0).at("data") == call.params.at(0).at("input"));
    }
    CHECK(methods == std::set<std::string>{"eth_call", "eth_estimateGas"});
}

TEST_CASE("field 94: the margin on top of an estimate never lifts it over a limit") {
    struct Row {
        const char* refusal;
        std::uint64_t block_limit;  // 0: the header has none
        std::uint64_t cap;
    };
    const Row rows[]{
        {"transaction gas limit too high (cap: 16777216, tx: 18874368)", 0, 16'777'216},
        {"exceeds block gas limit", 17'000'000, 17'000'000},
        {"Transaction gas limit cap exceeded", 0, 16'777'216},
        {"Transaction gas limit cap exceeded", 60'000'000, 16'777'216},
    };
    for (const Row& row : rows) {
        CAPTURE(row.refusal);
        Relay relay;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method == "eth_estimateGas") return Json("0xf00000");
            if (!sends(call)) return std::nullopt;
            if (transaction_in(call).gas_limit <= row.cap) return std::nullopt;
            return NodeError{-32'005, row.refusal, {}};
        };
        relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
            if (call.method != "eth_getBlockByNumber" || row.block_limit == 0) return std::nullopt;
            Json block = std::get<Json>(answer);
            if (!block.is_object()) return std::nullopt;
            block["gasLimit"] = chains::jsonrpc::hex_quantity(row.block_limit);
            return block;
        };
        for (std::uint64_t number = 1; number <= 2; ++number) {
            relay.submit(support::input_proof(number));
            relay.run_for(10s);
        }
        for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
        CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
        for (const auto& entry : relay.chain.included()) {
            CHECK(entry.transaction.gas_limit == row.cap);
        }
        CHECK(relay.chain.nonce() == 2);
        relay.check_inclusions();
    }
}

TEST_CASE("field 94: a limit below the estimate is not tried") {
    Relay relay;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_estimateGas") return Json("0xf00000");
        if (!sends(call)) return std::nullopt;
        if (transaction_in(call).gas_limit <= 10'000'000) return std::nullopt;
        return NodeError{-32'000, "gas limit too high (cap: 10000000)", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::failure);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 1);
    CHECK(relay.chain.nonce() == 1);
}

TEST_CASE("one wrong reply about gas ends nothing and shrinks nothing") {
    struct Row {
        const char* label;
        const char* method;
        Answer says;
    };
    Json tiny_block{{"number", "0x1"}, {"hash", "0x" + std::string(64, '1')}, {"gasLimit", "0x1"}};
    const Row rows[]{
        {"a block without room", "eth_getBlockByNumber", tiny_block},
        {"an estimate below what the data costs", "eth_estimateGas", Json("0x5208")},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Relay relay;
        int lies = 1;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method == "eth_estimateGas" && row.method != call.method)
                return Json("0xf00000");
            if (call.method != row.method || lies-- <= 0) return std::nullopt;
            return row.says;
        };
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(1min);
        CHECK(relay.engine.status(id) == Status::receipt_received);
        relay.check_inclusions();
    }
}

TEST_CASE("a cap too small for one transaction leaves the others their margin") {
    Relay relay;
    int lies = 1;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_estimateGas") return Json("0xf0000");
        if (!sends(call) || lies-- <= 0) return std::nullopt;
        return NodeError{-32'000, "gas limit too high (cap: 30000)", {}};
    };
    relay.submit(support::input_proof(1));
    relay.run_for(10s);
    const auto id = relay.submit(support::input_proof(2));
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.chain.included().back().transaction.gas_limit == 0xf0000 * 12 / 10);
}

TEST_CASE("a node that takes a transaction and drops it over and over refuses it") {
    Relay relay;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        if (transaction_in(call).data.empty()) return std::nullopt;  // it does nothing
        if (call.method == "eth_sendRawTransactionSync") return NodeError{-32'601, "unknown", {}};
        return Json(
            chains::jsonrpc::hex(domain::keccak256(*chains::jsonrpc::bytes(call.params[0]))));
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(9min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("transaction_refused") >= 5);
    relay.run_for(5min);
    CHECK(relay.engine.status(id) == Status::failure);
    CHECK(relay.chain.nonce() == 1);
}

TEST_CASE("field 95: a revert that shows in its data or code only") {
    const NodeError revert{-32'015, "VM execution error.", domain::Bytes{0xd9, 0x3c, 0x06, 0x65},
                           "Reverted 0xd93c0665"};
    Relay relay;
    std::size_t estimates = 0;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_estimateGas") return std::nullopt;
        ++estimates;
        return revert;
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(30s);
    CHECK(estimates == 1);
    CHECK(relay.engine.status(id) == Status::failure);
    CHECK(relay.failure(id).reason == Reason::reverted);
    CHECK(relay.failure(id).selector == 0xd93c0665U);

    std::map<std::uint64_t, std::unique_ptr<chains::jsonrpc::Node>> hosts;
    auto node = std::make_unique<ScriptedNode>();
    node->say("eth_call", {revert});
    const ScriptedNode& asked = *node;
    hosts[8009] = std::move(node);
    chains::evm::ContractWallets wallets(relay.options, hosts, [](domain::Milliseconds) {});
    const auto said = wallets.ask(8009, {}, {}, domain::Bytes(65, 1));
    CHECK(std::holds_alternative<engine::SignatureInvalid>(said));
    CHECK(asked.calls.size() == 1);
}

TEST_CASE("field 100: replies carry their ids as text") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        const auto answer = [](const Json& call) {
            return reply(std::to_string(call.at("id").get<int>()), "0x1");
        };
        if (request.body.is_object()) return http(200, answer(request.body).dump());
        Json all = Json::array();
        for (const Json& call : request.body) all.push_back(answer(call));
        return http(200, all.dump());
    }));
    HttpHarness harness({stub.url()});
    CHECK_FALSE(harness.node.remark());
    CHECK(text_of(harness.call()) == "\"0x1\"");
    for (const Answer& one : harness.node.call_all({chain_id, chain_id})) {
        CHECK(text_of(one) == "\"0x1\"");
    }
    CHECK(harness.node.remark());
    const auto finding = chains::evm::doctor::check_endpoint("gateway", harness.node, 1);
    CHECK(finding.text.find("id as text") != std::string::npos);
}

// --- fees, tags and receipts --------------------------------------------------------------------

TEST_CASE("a raise reaches the minimum that a refusal names, within the cap") {
    Relay relay;
    std::size_t refused = 0;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        if (transaction_in(call).priority_fee >= 25'000'000'000) {
            return std::nullopt;
        }
        ++refused;
        return NodeError{-32'000,
                         "transaction underpriced: gas tip cap 1000000000, minimum needed "
                         "25000000000",
                         {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(refused == 1);
    relay.check_inclusions();
}

TEST_CASE("estimates are asked at the latest block, at the pending one where only that is served") {
    Relay relay;
    std::vector<std::string> tags;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_estimateGas") return std::nullopt;
        tags.push_back(call.params.at(1));
        if (tags.back() == "latest") return NodeError{-32'000, "header not found", {}};
        return std::nullopt;
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(5s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(tags == std::vector<std::string>{"latest", "pending"});
}

TEST_CASE("throttling and busy nodes in estimates are no tries") {
    for (const char* words : {"txpool is full", "request timed out", "header not found"}) {
        CAPTURE(words);
        Relay relay;
        std::size_t asked = 0;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_estimateGas") return std::nullopt;
            if (++asked <= 24) return NodeError{-32'000, words, {}};
            if (asked <= 28) return NodeError{-32'000, "unknown block", {}};
            return std::nullopt;
        };
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(20min);
        CHECK(relay.engine.status(id) == Status::receipt_received);
    }
}

TEST_CASE("a receipt that can not be had is unknown: no other nonce, however long it lasts") {
    Relay relay;
    relay.chain.knows_sync = false;
    bool indexing = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!indexing) return std::nullopt;
        if (call.method == "eth_getTransactionReceipt" ||
            call.method == "eth_getTransactionByHash") {
            return NodeError{-32'000, "transaction indexing is in progress", {}};
        }
        return std::nullopt;
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(20min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 0);
    CHECK(relay.engine.process().store.attempts(id.sequence).size() == 1);
    indexing = false;
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

}  // namespace support::reply_words
