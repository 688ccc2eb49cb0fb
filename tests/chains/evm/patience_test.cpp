// How long a request waits for nodes that are away, that refuse it or that contradict themselves,
// and what the operator sees meanwhile. Over restarts too.

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "chains/evm/relay.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"

using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Kind;
using domain::Reason;
using domain::Status;
using support::Relay;
using namespace std::chrono_literals;

namespace {

bool sends_no_op(const Call& call) {
    return support::transaction_in(call).data.empty();
}

Answer out_of_reach(TransportError::Kind kind) {
    return TransportError{kind, "HTTP 403", kind == TransportError::Kind::throttled ? 1s : 0s};
}

Answer refusal_of(const char* words) {
    return NodeError{-32'000, words, {}};
}

}  // namespace

TEST_CASE("nodes that can not be reached end what is not signed, at the limit (relayer-api 9.3)") {
    const TransportError::Kind kinds[]{
        TransportError::Kind::unsent, TransportError::Kind::throttled, TransportError::Kind::lost,
        TransportError::Kind::timed_out, TransportError::Kind::garbled};
    for (const auto kind : kinds) {
        for (const Kind asked : support::relayer_kinds) {
            CAPTURE(kind);
            CAPTURE(asked);
            Relay relay;
            relay.chain.before = [&](const Call&) -> std::optional<Answer> {
                return out_of_reach(kind);
            };
            const auto id = relay.submit(support::request_of(asked, 1));
            relay.run_for(29min);
            CHECK_FALSE(domain::is_terminal(relay.engine.status(id)));
            CHECK(relay.gateway.problem().has_value());
            relay.run_for(3min);
            REQUIRE(relay.engine.status(id) == Status::failure);
            CHECK(relay.failure(id).reason == Reason::unreachable);
        }
    }
}

TEST_CASE("the limit counts from the first unanswered try, over restarts") {
    for (const Kind asked : {Kind::input_proof, Kind::public_decrypt}) {
        CAPTURE(asked);
        Relay relay;
        relay.engine.options.unreachable_limit = 10min;
        relay.restart();
        relay.run_for(1s);
        relay.chain.before = [](const Call&) { return out_of_reach(TransportError::Kind::unsent); };
        const auto id = relay.submit(support::request_of(asked, 1));
        relay.run_for(6min);
        relay.restart();
        relay.run_for(210s);
        CHECK_FALSE(domain::is_terminal(relay.engine.status(id)));
        relay.run_for(1min);
        CHECK(relay.engine.status(id) == Status::failure);
        CHECK(relay.failure(id).reason == Reason::unreachable);
    }
}

TEST_CASE("any answer begins the limit anew, and what is signed never ends by it") {
    Relay relay;
    relay.engine.options.unreachable_limit = 5min;
    relay.engine.options.sending_timeout = 3h;
    relay.restart();
    relay.run_for(1s);
    bool up = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!up) return out_of_reach(TransportError::Kind::unsent);
        if (call.method == "eth_estimateGas") return refusal_of("insufficient funds for transfer");
        return std::nullopt;
    };
    const auto unsigned_yet = relay.submit(support::input_proof(1));
    for (int outage = 0; outage < 3; ++outage) {
        up = false;
        relay.run_for(4min);
        up = true;
        relay.run_for(1min);
    }
    CHECK(relay.engine.status(unsigned_yet) == Status::processing);

    relay.chain.before = {};
    relay.chain.mines = false;
    relay.run_for(1min);
    REQUIRE(relay.engine.status(unsigned_yet) == Status::tx_in_flight);
    relay.chain.before = [](const Call&) { return out_of_reach(TransportError::Kind::unsent); };
    relay.run_for(3h);
    CHECK(relay.engine.status(unsigned_yet) == Status::tx_in_flight);
    relay.chain.before = {};
    relay.chain.mines = true;
    relay.run_for(1min);
    CHECK(relay.engine.status(unsigned_yet) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("the span of time for refusals goes on after a restart") {
    Relay relay;
    relay.chain.before = [](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || sends_no_op(call)) return std::nullopt;
        return refusal_of("the stars are not right");
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(6min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    relay.restart();
    relay.run_for(3min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    relay.run_for(90s);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 1);
    CHECK(relay.engine.status(id) == Status::failure);
    CHECK(relay.chain.nonce() == 1);
}

TEST_CASE("the span of time for refusals has none in which nobody was there") {
    Relay relay;
    bool refuses = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!refuses || !support::sends(call) || sends_no_op(call)) return std::nullopt;
        return refusal_of("the stars are not right");
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(1min);
    for (int stop = 0; stop < 2; ++stop) {
        relay.crash();
        relay.clock.advance(1h);
        relay.start();
        relay.run_for(1min);
    }
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    refuses = false;
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
}

TEST_CASE("times that another clock wrote in the future count from now on") {
    for (const bool is_signed : {false, true}) {
        CAPTURE(is_signed);
        Relay relay;
        relay.engine.options.unreachable_limit = 5min;
        relay.restart();
        relay.run_for(1s);
        relay.chain.before = [=](const Call& call) -> std::optional<Answer> {
            if (!is_signed) return out_of_reach(TransportError::Kind::unsent);
            if (!support::sends(call) || sends_no_op(call)) return std::nullopt;
            return refusal_of("the stars are not right");
        };
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(1min);
        relay.crash();
        {
            SQLite::Database database{store::database_path(relay.engine.store_options).string(),
                                      SQLite::OPEN_READWRITE};
            const char* const column = is_signed ? "refused_ms" : "unreached_ms";
            CHECK(database.exec(std::string("update request set ") + column + " = " + column +
                                " + 86400000 where " + column + " > 0") == 1);
        }
        relay.start();
        relay.run_for(4min);
        CHECK_FALSE(domain::is_terminal(relay.engine.status(id)));
        relay.run_for(8min);
        CHECK(relay.engine.status(id) == Status::failure);
    }
}

TEST_CASE("a send whose outcome stays unknown is sent again for ever, and cancelled by nobody") {
    const Answer outcomes[]{
        refusal_of("context deadline exceeded"),     refusal_of("Post \"http://10.0.0.1\": EOF"),
        out_of_reach(TransportError::Kind::lost),    out_of_reach(TransportError::Kind::timed_out),
        out_of_reach(TransportError::Kind::garbled), Json(nullptr),
    };
    for (const Answer& outcome : outcomes) {
        for (const std::uint64_t count : {1U, 2U}) {
            CAPTURE(outcome.index());
            CAPTURE(count);
            Relay relay;
            bool down = true;
            relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
                if (!support::sends(call) || !down) return std::nullopt;
                return outcome;
            };
            for (std::uint64_t number = 1; number <= count; ++number) {
                relay.submit(support::input_proof(number));
            }
            relay.run_for(15min);
            for (const auto& id : relay.ids) {
                CHECK(relay.engine.status(id) == Status::tx_in_flight);
            }
            REQUIRE(relay.gateway.problem().has_value());
            CHECK(relay.gateway.problem()->find("nothing is included") != std::string::npos);
            down = false;
            relay.run_for(1min);
            for (const auto& id : relay.ids) {
                CHECK(relay.engine.status(id) == Status::receipt_received);
            }
            CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
            relay.check_inclusions();
        }
    }
}

TEST_CASE("what a pool may have and does not show is raised when it has got too cheap") {
    Relay relay;
    std::uint64_t silent_below = std::numeric_limits<std::uint64_t>::max();
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call)) return std::nullopt;
        const auto bytes = chains::jsonrpc::bytes(call.params[0]);
        const auto transaction = chains::evm::decode_transaction(bytes.value());
        if (transaction.value().max_fee >= silent_below) return std::nullopt;
        return out_of_reach(TransportError::Kind::timed_out);
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(5min);
    CHECK(relay.engine.process().store.attempts(id.sequence).size() == 1);
    relay.chain.base_fee *= 4;
    silent_below = relay.chain.base_fee;
    relay.run_for(2min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.engine.process().store.attempts(id.sequence).size() == 2);
    relay.check_inclusions();
}

TEST_CASE("host and gateway nodes that lack the block for a while fail nobody") {
    for (const char* words : {"header not found", "missing trie node 0xab (path )",
                              "World state unavailable", "Block not found"}) {
        CAPTURE(words);
        Relay relay;
        bool lacks = true;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_call" || !lacks) return std::nullopt;
            return refusal_of(words);
        };
        const auto id = relay.submit(support::public_decrypt(1));
        relay.run_for(20s);
        CHECK(relay.engine.status(id) == Status::queued);
        lacks = false;
        relay.run_for(2min);
        CHECK(relay.engine.status(id) == Status::receipt_received);
    }
}

TEST_CASE("a node that hangs is asked for the account's count once at a time") {
    Relay relay;
    int under_way = 0;
    int most = 0;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        const std::size_t calls = relay.chain.calls.size();
        const bool is_with_balance =
            calls > 1 && relay.chain.calls[calls - 2].method == "eth_getBalance";
        if (call.method != "eth_getTransactionCount" || is_with_balance) return std::nullopt;
        most = std::max(most, ++under_way);
        if (under_way == 1) relay.executor.run_for(2min);  // meanwhile
        --under_way;
        return out_of_reach(TransportError::Kind::timed_out);
    };
    relay.run_for(1min);
    CHECK(most == 1);
}

TEST_CASE("a nonce that a node takes in between has its whole span again") {
    Relay relay;
    bool refused = true;
    relay.chain.mines = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || !refused || sends_no_op(call)) return std::nullopt;
        return refusal_of("the stars are not right");
    };
    const auto id = relay.submit(support::input_proof(1));
    for (int turn = 0; turn < 3; ++turn) {
        refused = true;
        relay.chain.drop_pool();
        relay.run_for(7min);
        refused = false;
        relay.run_for(2min);
    }
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
}

TEST_CASE("T-034: a nonce too low that the count says is unused is told, and ends as a refusal") {
    for (const bool recovers : {true, false}) {
        CAPTURE(recovers);
        Relay relay;
        bool lies = true;
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (!support::sends(call) || !lies || sends_no_op(call)) return std::nullopt;
            return refusal_of("nonce too low");
        };
        const auto id = relay.submit(support::input_proof(1));
        relay.run_for(30s);
        CHECK(relay.engine.logger.count("transaction_refused") == 1);
        REQUIRE(relay.gateway.problem().has_value());
        CHECK(relay.gateway.problem()->find("contradicts itself") != std::string::npos);
        relay.run_for(5min);
        CHECK(relay.engine.status(id) == Status::tx_in_flight);
        CHECK(relay.engine.logger.count("transaction_refused") >= 5);
        CHECK(relay.engine.logger.count("foreign_nonce_use") == 0);
        lies = !recovers;
        relay.run_for(6min);
        CHECK(relay.engine.status(id) == (recovers ? Status::receipt_received : Status::failure));
        CHECK(relay.chain.nonce() == 1);
        CHECK_FALSE(relay.gateway.problem().has_value());
    }
}

TEST_CASE("a node that indexes for hours is waited for, with one nonce, and health says so") {
    Relay relay;
    bool indexes = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!indexes || !call.method.starts_with("eth_getTransaction")) return std::nullopt;
        if (call.method == "eth_getTransactionCount") return std::nullopt;
        return refusal_of("transaction indexing is in progress");
    };
    relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
        if (!indexes || !support::sends(call)) return std::nullopt;
        return Answer{TransportError{TransportError::Kind::lost, "connection lost", {}}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(3min);
    REQUIRE(relay.gateway.problem().has_value());
    CHECK(relay.gateway.problem()->find("indexing") != std::string::npos);
    relay.run_for(3h);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 0);
    indexes = false;
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK_FALSE(relay.gateway.problem().has_value());
    CHECK(relay.chain.included().size() == 1);
}

TEST_CASE("a node whose pool is full for minutes is told of by health and the log") {
    Relay relay;
    bool full = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || !full) return std::nullopt;
        return refusal_of("txpool is full");
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(50s);
    CHECK_FALSE(relay.gateway.problem().has_value());
    CHECK(relay.engine.logger.count("transaction_refused") == 1);
    relay.run_for(3min);
    REQUIRE(relay.gateway.problem().has_value());
    CHECK(relay.gateway.problem()->find("takes no transactions") != std::string::npos);
    CHECK(relay.engine.logger.count("error=\"txpool is full\"") >= 3);
    relay.run_for(3h);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    full = false;
    relay.run_for(2min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK_FALSE(relay.gateway.problem().has_value());
}

TEST_CASE(
    "what a node calls a missing method is told where the method is, and nothing is cancelled") {
    Relay relay;
    bool missing = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || !missing) return std::nullopt;
        return NodeError{-32'601, "method not supported", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(3min);
    REQUIRE(relay.gateway.problem().has_value());
    CHECK(relay.gateway.problem()->find("method_missing") != std::string::npos);
    CHECK(relay.engine.logger.count("transaction_refused") >= 1);
    relay.run_for(1h);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    missing = false;
    relay.run_for(2min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK_FALSE(relay.gateway.problem().has_value());
}

TEST_CASE("a code for missing methods alone is a refusal like any other") {
    Relay relay;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || sends_no_op(call)) return std::nullopt;
        return NodeError{-32'004, "Zero signature transaction.", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(5min);
    CHECK(relay.engine.status(id) == Status::tx_in_flight);
    CHECK(relay.engine.logger.count("transaction_refused") >= 3);
    relay.run_for(7min);
    CHECK(relay.engine.status(id) == Status::failure);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 1);
}

TEST_CASE("where one that does nothing is refused as well, no other request is cancelled") {
    Relay relay;
    bool refuses = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || !refuses) return std::nullopt;
        return refusal_of("the stars are not right");
    };
    for (std::uint64_t number = 1; number <= 5; ++number) {
        relay.submit(support::input_proof(number));
    }
    relay.run_for(1h);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 1);
    REQUIRE(relay.gateway.problem().has_value());
    refuses = false;
    relay.run_for(2min);
    std::size_t received = 0;
    for (const auto& id : relay.ids) {
        if (relay.engine.status(id) == Status::receipt_received) ++received;
    }
    CHECK(received == 4);
    CHECK_FALSE(relay.gateway.problem().has_value());
}

TEST_CASE("a node with errors for receipts it has not is no reason to send nothing") {
    Relay relay;
    std::size_t sent = 0;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (!support::sends(call) || ++sent > 1) return std::nullopt;
        return refusal_of("txpool is full");
    };
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        const auto* result = std::get_if<Json>(&answer);
        const bool asks = call.method == "eth_getTransactionReceipt";
        if (!asks || result == nullptr || !result->is_null()) return std::nullopt;
        return NodeError{-32'603, "the stars are not right", {}};
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK(relay.chain.included().size() == 1);
}

TEST_CASE("a chain that stands still has dropped nothing, where what waits is not shown") {
    Relay relay;
    relay.chain.block_time = [&] {
        const auto since = relay.clock.wall().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(since).count());
    };
    relay.chain.mine();
    relay.chain.mines = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        const bool shows = call.method == "eth_getTransactionByHash";
        return shows ? std::optional<Answer>(Json(nullptr)) : std::nullopt;
    };
    relay.submit(support::input_proof(1));
    relay.submit(support::input_proof(2));
    relay.run_for(30min);
    CHECK(relay.engine.logger.count("transaction_cancelled") == 0);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(1min);
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
    relay.check_inclusions();
}

TEST_CASE("a node that keeps what it takes from every block is told of by health") {
    Relay relay;
    relay.chain.mines = false;
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(9min);
    CHECK_FALSE(relay.gateway.problem().has_value());
    relay.run_for(4min);
    REQUIRE(relay.gateway.problem().has_value());
    CHECK(relay.gateway.problem()->find("nothing is included") != std::string::npos);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(1min);
    CHECK(relay.engine.status(id) == Status::receipt_received);
    CHECK_FALSE(relay.gateway.problem().has_value());
}

TEST_CASE("a patience with foreign uses below ten seconds is kept") {
    Relay relay;
    relay.options.foreign_use_patience = 2s;
    relay.restart();
    relay.run_for(1s);
    bool used = false;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (support::sends(call) && !std::exchange(used, true)) relay.chain.use_nonce_elsewhere();
        return std::nullopt;
    };
    const auto id = relay.submit(support::input_proof(1));
    relay.run_for(8s);
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 1);
    CHECK(relay.engine.status(id) == Status::receipt_received);
}

TEST_CASE("a nonce that somebody else used while nothing was in flight costs one look") {
    Relay relay;
    const auto first = relay.submit(support::input_proof(1));
    relay.run_for(5s);
    REQUIRE(relay.engine.status(first) == Status::receipt_received);
    relay.chain.use_nonce_elsewhere();
    const auto second = relay.submit(support::input_proof(2));
    relay.run_for(2s);
    CHECK(relay.engine.status(second) == Status::receipt_received);
    CHECK(relay.engine.logger.count("foreign_nonce_use") == 0);
}

namespace {

// A transaction that is signed with a number far beyond the account's count.
domain::RequestId strand(Relay& relay, std::uint64_t nonce) {
    relay.chain.before = [=](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_getTransactionCount") {
            return Answer{Json(chains::jsonrpc::hex_quantity(nonce))};
        }
        if (support::sends(call)) return refusal_of("nonce too high");
        return std::nullopt;
    };
    relay.restart();
    const auto id = relay.submit(support::input_proof(99));
    relay.run_for(20s);
    REQUIRE(relay.engine.status(id) == Status::tx_in_flight);
    relay.chain.before = {};
    return id;
}

}  // namespace

TEST_CASE("a filler that a node refused is sent again within seconds, the lowest hole first") {
    Relay relay;
    const auto id = strand(relay, 3);
    bool full = true;
    relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
        if (support::sends(call) && full) return refusal_of("txpool is full");
        return std::nullopt;
    };
    relay.restart();
    relay.run_for(2min);
    CHECK(relay.chain.nonce() == 0);
    CHECK(relay.engine.logger.count("nonce_hole_filled nonce=0 accepted=false") == 1);
    full = false;
    relay.run_for(5s);
    CHECK(relay.chain.nonce() >= 3);
    relay.run_for(20s);
    CHECK(relay.engine.status(id) == Status::receipt_received);
}

TEST_CASE("many holes are filled a batch a block, and new requests begin at the count") {
    Relay relay;
    const auto stranded = strand(relay, 637);
    relay.restart();
    relay.chain.mines = false;
    relay.run_for(3s);
    CHECK(relay.chain.in_pool() == 64 + 1);
    relay.run_for(10s);
    CHECK(relay.chain.in_pool() == 64 + 1);
    CHECK(relay.engine.logger.count("nonce_hole_filled nonce=0 accepted=true count=64 left=573") ==
          1);
    const auto fresh = relay.submit(support::input_proof(1));
    relay.run_for(5s);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(5s);
    CHECK(relay.engine.status(fresh) == Status::receipt_received);
    CHECK(relay.chain.nonce() < 200);
    relay.run_for(5min);
    CHECK(relay.engine.status(stranded) == Status::receipt_received);
    CHECK(relay.chain.nonce() == 638);
    CHECK(relay.engine.logger.count("nonce_hole_filled") <= 12);
}
