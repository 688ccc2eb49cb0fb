#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <set>
#include <string>

#include "chains/evm/calls.hpp"
#include "chains/evm/relay.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Reason;
using domain::Status;
using support::Relay;
using support::sends;
using support::transaction_in;
using namespace std::chrono_literals;

namespace {

TransportError lost() {
    return {TransportError::Kind::lost, "connection lost", {}};
}

NodeError node_error(std::int64_t code, const char* message) {
    return {code, message, {}};
}

std::set<std::uint64_t> nonces_of(const Relay& relay) {
    std::set<std::uint64_t> nonces;
    for (const auto& entry : relay.chain.included()) nonces.insert(entry.transaction.nonce);
    return nonces;
}

domain::Bytes bytes4(std::uint32_t selector) {
    domain::Bytes bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<std::uint8_t>(selector >> static_cast<unsigned>(shift)));
    }
    return bytes;
}

}  // namespace

TEST_CASE("each kind goes through: accepted, included, answered") {
    Relay relay;
    for (const domain::Kind kind :
         {domain::Kind::input_proof, domain::Kind::public_decrypt, domain::Kind::user_decrypt}) {
        const domain::Request request = support::request_of(kind, 1);
        const auto id = relay.submit(request);
        relay.run_for(5s);
        REQUIRE(relay.engine.status(id) == Status::receipt_received);
        relay.chain.answer_all();
        relay.run_for(2s);
        CHECK(relay.engine.status(id) == Status::completed);
    }
    relay.check_inclusions();
}

TEST_CASE("report 1: a broken connection after the transaction was taken includes it once") {
    Relay relay;
    bool broken = false;
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (!sends(call) || std::exchange(broken, true)) return std::nullopt;
        return lost();
    };
    const auto first = relay.submit(support::input_proof(1));
    relay.run_for(10s);
    CHECK(relay.engine.status(first) == Status::receipt_received);
    const auto second = relay.submit(support::input_proof(2));
    relay.run_for(10s);
    CHECK(relay.engine.status(second) == Status::receipt_received);
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{0, 1});
    relay.check_inclusions();
}

TEST_CASE("report 1: \"already known\" after a lost reply means alive") {
    Relay relay;
    relay.chain.mines = false;
    bool broken = false;
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (!sends(call) || std::exchange(broken, true)) return std::nullopt;
        return lost();
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.chain.in_pool() == 1);
    relay.chain.mine_pool();
    relay.run_for(35s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("report 2: a crash when the bytes had left costs no second transaction") {
    Relay relay;
    const auto id = relay.submit(support::input_proof(1));
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (sends(call)) return lost();
        return std::nullopt;
    };
    for (int step = 0; step < 100 && relay.chain.included().empty(); ++step) relay.run_for(10ms);
    REQUIRE(relay.chain.included().size() == 1);
    relay.chain.after = nullptr;
    relay.crash();
    relay.chain.calls.clear();
    relay.start();
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.chain.count("eth_sendRawTransactionSync") == 0);
    relay.check_inclusions();
}

TEST_CASE("report 2: after a crash before the bytes left the same bytes leave") {
    Relay relay;
    std::vector<std::string> sent;
    bool reaches = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        sent.push_back(call.params[0]);
        if (reaches) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    for (int step = 0; step < 100 && sent.empty(); ++step) relay.run_for(10ms);
    reaches = true;
    relay.restart();
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    REQUIRE(sent.size() >= 2);
    CHECK(std::set<std::string>(sent.begin(), sent.end()).size() == 1);
    relay.check_inclusions();
}

TEST_CASE("report 4: a used nonce without a receipt is no failure before half a minute") {
    Relay relay;
    int asked = 0;
    bool refused = false;
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (sends(call) && !std::exchange(refused, true)) {
            return node_error(-32'000, "nonce too low");
        }
        if (call.method == "eth_getTransactionReceipt" && ++asked <= 3) return Json(nullptr);
        return std::nullopt;
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(25s);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("report 5: a failed estimate takes no nonce and a refused connection loses none") {
    Relay relay;
    relay.chain.mine(3);
    const domain::Request reverting = support::input_proof(1);
    const domain::Bytes calldata = chains::evm::request_call(reverting);
    relay.chain.refuses = [&](const domain::Bytes& input, bool) -> std::optional<domain::Bytes> {
        if (input == calldata) return bytes4(0xdeadbeef);
        return std::nullopt;
    };
    int refusals = 0;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call) || ++refusals > 2) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    const auto a = relay.submit(reverting);
    const auto b = relay.submit(support::input_proof(2));
    relay.run_for(300ms);
    relay.restart();
    const auto c = relay.submit(support::input_proof(3));
    relay.run_for(30s);
    CHECK(relay.engine.status(a) == Status::failure);
    CHECK(relay.failure(a).reason == Reason::reverted);
    CHECK(relay.failure(a).selector == 0xdeadbeefU);
    CHECK(relay.engine.status(b) == Status::receipt_received);
    CHECK(relay.engine.status(c) == Status::receipt_received);
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{0, 1});
    relay.check_inclusions();
}

TEST_CASE("report 7: a nonce used by another program is replaced once, and somebody is told") {
    Relay relay;
    bool away = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call) || !away) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(200ms);
    REQUIRE(relay.engine.status(id) == Status::tx_in_flight);
    relay.chain.use_nonce_elsewhere();
    away = false;
    relay.chain.calls.clear();
    relay.run_for(60s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{1});
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 1);
    std::size_t spent = 0;
    for (const Call& call : relay.chain.calls) {
        const bool beside = call.method == "eth_getLogs" || call.method == "eth_blockNumber" ||
                            call.method == "eth_getBlockByNumber" || call.method == "eth_call" ||
                            call.method == "eth_getBalance" || call.method == "eth_chainId";
        if (!beside) ++spent;
    }
    // Four more look at the account every 15 seconds, whatever happens.
    CHECK(spent - std::min<std::size_t>(spent, 8) < 10);
    relay.check_inclusions();
}

TEST_CASE("report 7: the same where the node's words for it are unknown") {
    Relay relay;
    bool away = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        if (away) return TransportError{TransportError::Kind::unsent, "connection refused", {}};
        if (transaction_in(call).nonce >= relay.chain.nonce()) return std::nullopt;
        return NodeError{-32'603, "the stars are not right", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(200ms);
    REQUIRE(relay.engine.status(id) == Status::tx_in_flight);
    relay.chain.use_nonce_elsewhere();
    away = false;
    relay.run_for(3min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{1});
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 1);
    CHECK_FALSE(relay.gateway.problem().has_value());
    relay.check_inclusions();
}

TEST_CASE(
    "report 7: a node that knows nothing of what it took is believed once, then nothing goes") {
    Relay relay;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        const bool asks =
            call.method == "eth_getTransactionReceipt" || call.method == "eth_getTransactionByHash";
        return asks ? std::optional<Answer>(Json(nullptr)) : std::nullopt;
    };
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        const bool took = sends(call) && std::holds_alternative<Json>(answer);
        if (!took) return std::nullopt;
        return Answer{TransportError{TransportError::Kind::lost, "connection lost", {}}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(30min);
    CHECK(relay.chain.included().size() == 2);
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 2);
    CHECK(relay.engine.logger.count("requests_held") == 1);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
}

TEST_CASE("report 7: receipts of one node and the count of another do not make a use by others") {
    Relay relay;
    bool blind = true;
    // Behind a balancer: what is asked alone about transactions goes to a node that lacks them.
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        const bool asks =
            call.method == "eth_getTransactionReceipt" || call.method == "eth_getTransactionByHash";
        return blind && asks ? std::optional<Answer>(Json(nullptr)) : std::nullopt;
    };
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        if (!sends(call) || !std::holds_alternative<Json>(answer)) return std::nullopt;
        return Answer{TransportError{TransportError::Kind::lost, "connection lost", {}}};
    };
    relay.chain.before_request = [&](std::size_t calls) { blind = calls < 3; };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(10min);
    CHECK(relay.chain.included().size() == 1);
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 0);
    blind = false;
    relay.chain.before_request = nullptr;
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
}

TEST_CASE("report 8: a node that lags behind does not bring used nonces back") {
    Relay relay;
    relay.submit(support::input_proof(1));
    relay.run_for(5s);
    bool lags = false;
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        if (call.method != "eth_getTransactionCount") return std::nullopt;
        lags = !lags;
        if (!lags) return std::nullopt;
        const auto count = *chains::jsonrpc::quantity(std::get<Json>(answer));
        return Json(chains::jsonrpc::hex_quantity(count - 1));
    };
    for (std::uint64_t number = 2; number <= 5; ++number) {
        relay.submit(support::input_proof(number));
        relay.run_for(20s);
    }
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{0, 1, 2, 3, 4});
    relay.check_inclusions();
}

TEST_CASE("report 22: an empty account pauses the lane and fails nobody") {
    Relay relay;
    bool empty = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call) || !empty) return std::nullopt;
        return node_error(-32'003, "Insufficient funds for gas * price + value");
    };
    for (std::uint64_t number = 1; number <= 10; ++number) {
        relay.submit(support::input_proof(number));
    }
    relay.run_for(20s);
    CHECK(relay.gateway.problem().has_value());
    CHECK(relay.engine.logger.count("insufficient_funds") == 1);
    empty = false;
    relay.run_for(12s);
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK_FALSE(relay.gateway.problem());
    relay.check_inclusions();
}

TEST_CASE("report 23: a stuck transaction gets both fees raised at once, up to the cap") {
    Relay relay;
    relay.options.fees.max_fee_cap = 4'100'000'000;
    relay.restart();
    relay.chain.mines = false;
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(1s);
    REQUIRE(relay.chain.in_pool() == 1);
    relay.run_for(5min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("underpriced") == 0);
    // 3 gwei, 3.375, 3.797, 4.1: the last step is cut by the cap and still a step above.
    const auto order = relay.engine.process().store.attempts(id.sequence);
    std::vector<std::uint64_t> fees;
    for (const auto& attempt : order) {
        fees.push_back(
            static_cast<std::uint64_t>(chains::evm::decode_transaction(attempt.sealed)->max_fee));
    }
    CHECK(fees.size() >= 3);
    for (std::size_t i = 1; i < fees.size(); ++i) CHECK(fees[i] * 10 > fees[i - 1] * 11 - 10);
    CHECK(fees.back() <= 4'100'000'000);
    const auto bumps = order.size();
    relay.run_for(10min);
    CHECK(relay.engine.process().store.attempts(id.sequence).size() == bumps);
    relay.chain.mine_pool();
    relay.run_for(70s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("report 23: the same where the node's words for it are unknown") {
    Relay relay;
    relay.chain.mines = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        const auto fee = transaction_in(call).max_fee;
        if (fee <= 3'000'000'000 || fee >= 3'700'000'000) return std::nullopt;
        return NodeError{-32'603, "the stars are not right", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(5min);
    const auto attempts = relay.engine.process().store.attempts(id.sequence);
    CHECK(attempts.size() >= 3);
    relay.chain.mine_pool();
    relay.run_for(70s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    REQUIRE(relay.chain.included().size() == 1);
    CHECK(relay.chain.included().front().transaction.max_fee >= 3'700'000'000);
    relay.check_inclusions();
}

TEST_CASE("report 25: a reverted or silent transaction is no success") {
    SUBCASE("reverted when it was mined: the reason is found by playing it again") {
        Relay relay;
        relay.chain.refuses = [](const domain::Bytes&,
                                 bool estimates) -> std::optional<domain::Bytes> {
            if (estimates) return std::nullopt;
            return bytes4(0xd93c0665);
        };
        for (const domain::Kind kind : {domain::Kind::input_proof, domain::Kind::public_decrypt}) {
            const domain::Request request = support::request_of(kind, 1);
            const auto id = relay.submit(request);
            relay.run_for(5s);
            CHECK(relay.engine.status(id) == Status::failure);
            CHECK(relay.failure(id).reason == Reason::reverted);
            CHECK(relay.failure(id).selector == 0xd93c0665U);
        }
        CHECK(relay.chain.nonce() == 2);
    }
    SUBCASE("included without the event of the request") {
        Relay relay;
        bool lies = true;
        relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
            const auto* receipt = std::get_if<Json>(&answer);
            if (!lies || receipt == nullptr || !receipt->is_object()) return std::nullopt;
            if (!sends(call) && call.method != "eth_getTransactionReceipt") return std::nullopt;
            Json silent = *receipt;
            silent["logs"] = Json::array();
            return silent;
        };
        const auto id = relay.submit(support::public_decrypt(1));
        relay.run_for(15s);
        CHECK(relay.engine.status(id) == Status::tx_in_flight);
        SUBCASE("for a while") {
            lies = false;
            relay.run_for(5s);
            CHECK(relay.engine.status(id) == Status::receipt_received);
            relay.check_inclusions();
        }
        SUBCASE("for ever") {
            relay.run_for(15s);
            CHECK(relay.engine.status(id) == Status::failure);
            CHECK(relay.failure(id).text.find("no event") != std::string::npos);
        }
    }
    SUBCASE("the receipt of another transaction") {
        Relay relay;
        bool lied = false;
        relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
            if (!sends(call) || std::exchange(lied, true)) return std::nullopt;
            Json receipt = std::get<Json>(answer);
            receipt["transactionHash"] = "0x" + std::string(64, 'a');
            return receipt;
        };
        const auto id = relay.submit(support::public_decrypt(1));
        relay.run_for(10s);
        CHECK(relay.engine.status(id) == Status::receipt_received);
        relay.check_inclusions();
    }
}

TEST_CASE("report 26: what the node will never take is cancelled on its own nonce") {
    Relay relay;
    const domain::Bytes doomed = chains::evm::request_call(support::input_proof(1));
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        if (transaction_in(call).data != doomed) return std::nullopt;
        return node_error(-32'000, "exceeds block gas limit");
    };
    const auto a = relay.submit(support::input_proof(1));
    relay.run_for(100ms);
    const auto b = relay.submit(support::input_proof(2));
    const auto c = relay.submit(support::input_proof(3));
    relay.run_for(5min);
    CHECK(relay.engine.status(a) == Status::failure);
    CHECK(relay.failure(a).reason == Reason::send_failed);
    CHECK(relay.engine.status(b) == Status::receipt_received);
    CHECK(relay.engine.status(c) == Status::receipt_received);
    CHECK(relay.chain.nonce() == 3);
    relay.check_inclusions();
}

TEST_CASE("report 26: a cancelled transaction that is included all the same is a success") {
    Relay relay;
    bool hostile = true;
    std::string first;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call) || !hostile) return std::nullopt;
        if (first.empty()) first = call.params[0];
        return node_error(-32'000, "exceeds block gas limit");
    };
    const auto id = relay.submit(support::input_proof(1));
    // Until a no-op was signed for it as well.
    for (int look = 0; look < 600; ++look) {
        relay.run_for(1s);
        if (relay.engine.process().store.attempts(id.sequence).size() > 1) break;
    }
    REQUIRE(relay.engine.process().store.attempts(id.sequence).size() == 2);
    hostile = false;
    static_cast<void>(relay.chain.call({"eth_sendRawTransaction", Json::array({first})}));
    relay.run_for(2min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("report 37: only a refusal that can pass is tried again") {
    struct Row {
        const char* label;
        std::vector<Answer> says;
        Status status;
        std::size_t estimates;
    };
    const NodeError revert{3, "execution reverted", domain::Bytes{0xde, 0xad, 0xbe, 0xef}};
    const NodeError not_yet{3, "execution reverted", domain::Bytes{0x06, 0x66, 0xcb, 0xdf}};
    const TransportError bad_gateway{TransportError::Kind::garbled, "HTTP 502", {}};
    const NodeError odd{-32'000, "unknown block", {}};
    const NodeError failed{-32'603, "Internal server error", {}};
    const Answer good = Json("0x30d40");
    const Row rows[]{
        {"a revert", {revert}, Status::failure, 1},
        {"the ciphertext is not there yet",
         {not_yet, not_yet, not_yet, good},
         Status::receipt_received,
         4},
        {"HTTP 502", {bad_gateway, bad_gateway, good}, Status::receipt_received, 3},
        {"a refusal nobody knows, for ever", {odd}, Status::failure, 5},
        {"a refusal nobody knows, twice", {odd, odd, good}, Status::receipt_received, 3},
        {"the node's own failure, for ever", {failed}, Status::failure, 10},
        {"the node's own failure, for a minute",
         {failed, failed, failed, failed, failed, failed, failed, good},
         Status::receipt_received,
         8},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Relay relay;
        std::size_t estimates = 0;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_estimateGas") return std::nullopt;
            return row.says[std::min(estimates++, row.says.size() - 1)];
        };
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(3min);
        CHECK(relay.engine.status(id) == row.status);
        CHECK(estimates == row.estimates);
        if (row.status == Status::failure) CHECK(relay.chain.nonce() == 0);
    }
}

TEST_CASE("report 71: nobody sends before the time a node asked for") {
    Relay relay;
    int throttled = 0;
    std::vector<domain::Monotonic> times;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        times.push_back(relay.clock.monotonic());
        if (++throttled <= 3)
            return TransportError{TransportError::Kind::throttled, "HTTP 429", 7s};
        return std::nullopt;
    };
    relay.submit(support::input_proof(1));
    relay.run_for(1s);
    relay.submit(support::input_proof(2));
    relay.run_for(1min);
    REQUIRE(times.size() >= 4);
    // Both may come back at the same moment, but nobody in between.
    for (std::size_t i = 1; i < times.size(); ++i) {
        const bool was_throttled = i <= 3;
        CHECK((!was_throttled || times[i] == times[i - 1] || times[i] - times[i - 1] >= 7s));
    }
    CHECK(times[1] - times[0] >= 7s);
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("no contract at the address: failed before anything is signed") {
    Relay relay;
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_getCode") return std::nullopt;
        return Json("0x");
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(5s);
    CHECK(relay.engine.status(id) == Status::failure);
    CHECK(relay.failure(id).reason == Reason::no_contract_code);
    CHECK(relay.failure(id).text == "Invalid contract address: No code at target address: " +
                                        domain::checksummed(support::gateway_contract));
    CHECK(relay.chain.nonce() == 0);
}

TEST_CASE("a node without the synchronous method is asked for receipts") {
    Relay relay;
    relay.chain.knows_sync = false;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        relay.submit(support::input_proof(number));
        relay.run_for(5s);
    }
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.chain.count("eth_sendRawTransactionSync") == 1);
    relay.check_inclusions();
}

TEST_CASE("answers that come before the receipt is stored are joined to it") {
    Relay relay;
    const domain::Monotonic silent_until = relay.clock.monotonic() + 100s;
    std::optional<Answer> receipt;
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        receipt = answer;
        return TransportError{TransportError::Kind::timed_out, "no answer", {}};
    };
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_getTransactionReceipt" || relay.clock.monotonic() > silent_until) {
            return std::nullopt;
        }
        return Json(nullptr);
    };
    const auto id = relay.submit(support::user_decrypt(1));
    relay.run_for(10s);
    relay.chain.answer_all();
    relay.run_for(10s);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    relay.run_for(3min);
    CHECK(relay.engine.status(id) == Status::completed);
}

TEST_CASE("fifty requests at once get consecutive nonces") {
    Relay relay;
    for (std::uint64_t number = 1; number <= 50; ++number) {
        relay.submit(support::request_of(support::relayer_kinds[number % 3], number));
    }
    relay.run_for(20s);
    relay.chain.answer_all();
    relay.run_for(5s);
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::completed);
    CHECK(relay.chain.nonce() == 50);
    relay.check_inclusions();
}

TEST_CASE("nothing is sent to the wrong chain") {
    Relay relay;
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_chainId") return std::nullopt;
        return Json("0x1");
    };
    relay.restart();
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(2min);
    CHECK(relay.engine.status(id) == Status::processing);
    CHECK(relay.chain.count("eth_sendRawTransactionSync") == 0);
    CHECK(relay.gateway.problem().has_value());
}

TEST_CASE("a hole that a failed row left is filled, and those behind it go on") {
    Relay relay;
    relay.chain.mines = false;
    const auto a = relay.submit(support::input_proof(1));
    relay.run_for(1s);
    const auto b = relay.submit(support::input_proof(2));
    relay.run_for(1s);
    REQUIRE(relay.chain.in_pool() == 2);
    relay.crash();
    relay.chain.drop_pool();
    {
        SQLite::Database database{store::database_path(relay.engine.store_options).string(),
                                  SQLite::OPEN_READWRITE};
        database.exec("delete from payload where id = " + std::to_string(a.sequence));
        database.exec("delete from attempt where id = " + std::to_string(a.sequence));
        database.exec("update request set attempts = 0 where id = " + std::to_string(a.sequence));
    }
    relay.chain.mines = true;
    relay.start();
    relay.run_for(3min);
    CHECK(relay.engine.status(a) == Status::failure);
    CHECK(relay.engine.status(b) == Status::receipt_received);
    CHECK(relay.chain.nonce() == 2);
    CHECK(relay.engine.logger.count("nonce_hole_filled nonce=0 accepted=true") == 1);
}

TEST_CASE("a node that lost its pool gets everything again, the smallest nonce first") {
    Relay relay;
    relay.engine.options.sends_max = 20;
    relay.restart();
    relay.run_for(1s);
    relay.chain.mines = false;
    for (std::uint64_t number = 1; number <= 40; ++number) {
        relay.submit(support::input_proof(number));
    }
    relay.run_for(20s);
    REQUIRE(relay.chain.in_pool() == 20);  // what is signed and not settled keeps its place
    bool down = true;
    relay.chain.before = [&](const Call&) -> std::optional<Answer> {
        if (!down) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    relay.run_for(90s);
    relay.chain.drop_pool();
    std::vector<std::uint64_t> left;
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (sends(call)) {
            left.push_back(transaction_in(call).nonce);
        }
        return std::nullopt;
    };
    down = false;
    relay.chain.mines = true;
    // No resting transaction rests longer than five seconds.
    relay.run_for(12s);
    CHECK(relay.chain.nonce() >= 20);
    relay.run_for(30s);
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(std::is_sorted(left.begin(), left.end()));
    relay.check_inclusions();
}

TEST_CASE("a directory that was used with another chain keeps its signed requests for that one") {
    Relay relay;
    relay.chain.mines = false;
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(2s);
    relay.crash();
    relay.options.chain_id = 1;
    relay.chain.drop_pool();
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_chainId") return std::nullopt;
        return Json("0x1");
    };
    relay.chain.mines = true;
    relay.chain.calls.clear();
    relay.start();
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("sealed_for_another_chain") == 1);
    CHECK(relay.chain.count("eth_sendRawTransactionSync") == 0);
}

TEST_CASE("what was signed while gas was dear is signed anew when it is not, at the same nonce") {
    Relay relay;
    relay.chain.base_fee = 1'000'000'000'000;
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        if (transaction_in(call).max_fee < 100'000'000'000) return std::nullopt;
        return node_error(-32'003, "Insufficient funds for gas * price + value");
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(3s);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    relay.chain.base_fee = 1'000'000'000;
    relay.run_for(20s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{0});
    relay.check_inclusions();
}

TEST_CASE("what was signed without a base fee stays of its kind where it is signed anew for less") {
    Relay relay;
    bool knows_base_fee = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (sends(call) && transaction_in(call).max_fee > 100'000'000'000) {
            return NodeError{-32'000, "insufficient funds for gas * price + value", {}};
        }
        if (knows_base_fee) return std::nullopt;
        if (call.method == "eth_feeHistory") return NodeError{-32'601, "method not found", {}};
        if (call.method == "eth_gasPrice") return Json("0x2e90edd000");  // 200 gwei
        return std::nullopt;
    };
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        if (knows_base_fee || call.method != "eth_getBlockByNumber") return std::nullopt;
        Json block = std::get<Json>(answer);
        if (block.is_object()) block.erase("baseFeePerGas");
        return block;
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(3s);
    REQUIRE(relay.engine.status(id) == Status::tx_in_flight);
    knows_base_fee = true;
    relay.run_for(2min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    REQUIRE(relay.chain.included().size() == 1);
    CHECK(relay.chain.included().front().transaction.legacy);
    relay.check_inclusions();
}

TEST_CASE("a node that names a smaller cap on gas each time has few of them signed") {
    Relay relay;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        const std::uint64_t cap = transaction_in(call).gas_limit - 1;
        return NodeError{-32'000, "exceeds block gas limit " + std::to_string(cap), {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(25s);
    CHECK(relay.engine.process().store.attempts(id.sequence).size() <= 6);
}

TEST_CASE("a fee beyond a node's own cap is lowered to it, and waits while gas costs more") {
    constexpr std::uint64_t cap = 400'000'000'000'000'000;  // for 240 000 gas: 1 667 gwei
    for (const char* words :
         {"tx fee (0.48 ether) exceeds the configured cap (0.40 ether)",
          "tx fee (480000000000000000 wei) exceeds the configured cap (400000000000000000 wei)",
          "Transaction fee cap exceeded"}) {
        CAPTURE(words);
        Relay relay;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (!sends(call)) return std::nullopt;
            const auto transaction = transaction_in(call);
            if (transaction.max_fee * transaction.gas_limit <= cap) return std::nullopt;
            return node_error(-32'000, words);
        };
        relay.chain.base_fee = 1'000'000'000'000;
        const auto lowered = relay.submit(support::input_proof(1));
        relay.run_for(10s);
        CHECK(relay.engine.status(lowered) == Status::receipt_received);

        relay.chain.base_fee = 3'000'000'000'000;
        const auto waiting = relay.submit(support::input_proof(2));
        relay.run_for(15min);
        CHECK(relay.engine.status(waiting) == Status::tx_in_flight);
        CHECK(relay.gateway.problem().has_value());
        relay.chain.base_fee = 1'000'000'000'000;
        relay.run_for(1min);
        CHECK(relay.engine.status(waiting) == Status::receipt_received);
        CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
        CHECK(nonces_of(relay) == std::set<std::uint64_t>{0, 1});
        relay.check_inclusions();
    }
}

TEST_CASE("a second nonce that turned out to be needless keeps nobody waiting") {
    Relay relay;
    relay.options.foreign_use_patience = 2s;
    relay.restart();
    relay.run_for(1s);
    int stage = 0;
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (sends(call) && stage == 0) {
            stage = 1;
            return node_error(-32'000, "nonce too low");
        }
        const bool asks =
            call.method == "eth_getTransactionReceipt" || call.method == "eth_getTransactionByHash";
        if (asks && stage == 1) return Json(nullptr);
        return std::nullopt;
    };
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call) || stage != 1) return std::nullopt;
        stage = 2;  // the receipt shows up, and the second transaction gets lost
        return lost();
    };
    const auto first = relay.submit(support::input_proof(1));
    relay.run_for(60s);
    REQUIRE(stage == 2);
    CHECK(relay.engine.status(first) == Status::receipt_received);
    const auto second = relay.submit(support::input_proof(2));
    relay.run_for(10s);
    CHECK(relay.engine.status(second) == Status::receipt_received);
    CHECK(nonces_of(relay) == std::set<std::uint64_t>{0, 1});
    relay.check_inclusions();
}

TEST_CASE("an answer from while nobody listened counts, however late it is heard") {
    for (const bool is_down : {true, false}) {
        CAPTURE(is_down);
        Relay relay;
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(5s);
        REQUIRE(relay.engine.status(id) == Status::receipt_received);
        if (is_down) relay.crash();
        relay.chain.before = [](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_getLogs") return std::nullopt;
            return node_error(-32'603, "internal error");
        };
        relay.chain.answer_all();
        if (is_down) {
            relay.clock.advance(62min);
            relay.start();
        }
        relay.run_for(1min);
        CHECK_FALSE(relay.gateway.gateway->hears_answers());
        relay.run_for(45min);
        CHECK(relay.engine.status(id) == Status::receipt_received);
        relay.chain.before = {};
        relay.run_for(1min);
        CHECK(relay.gateway.gateway->hears_answers());
        CHECK(relay.engine.status(id) == Status::completed);
    }
}

TEST_CASE("who reads what is long past does not hear answers yet") {
    Relay relay;
    relay.options.listening.range_max = 10;
    relay.restart();
    relay.run_for(1s);
    REQUIRE(relay.gateway.gateway->hears_answers());
    relay.chain.mine(5'000);
    bool is_behind = false;
    for (int i = 0; i < 100 && !is_behind; ++i) {
        relay.executor.run_next();
        is_behind = !relay.gateway.gateway->hears_answers();
    }
    CHECK(is_behind);
    CHECK_FALSE(relay.gateway.problem());
    relay.run_for(1min);
    CHECK(relay.gateway.gateway->hears_answers());
}

TEST_CASE("field 16: a request that kills the process while it is prepared is set aside") {
    struct Death {};
    Relay relay;
    const auto first = relay.submit(support::input_proof(1));
    relay.run_for(5s);
    REQUIRE(relay.engine.status(first) == Status::receipt_received);
    const domain::Request deadly = support::input_proof(2);
    const std::string call_data = chains::jsonrpc::hex(chains::evm::request_call(deadly));
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        const bool kills = call.method == "eth_estimateGas" &&
                           call.params.dump().find(call_data) != std::string::npos;
        if (kills) throw Death{};
        return std::nullopt;
    };
    int deaths = 0;
    const auto lives = [&] {
        try {
            relay.run_for(1min);
            return true;
        } catch (const Death&) {
            ++deaths;
            return false;
        }
    };
    relay.submit(deadly);
    relay.submit(support::input_proof(3));
    while (!lives() && deaths < 20) relay.restart();
    CHECK(deaths == 5);
    CHECK(relay.failure(relay.ids[1]).reason == Reason::recovered_too_often);
    CHECK(relay.engine.status(relay.ids[2]) == Status::receipt_received);
}
