// An operator lets the contract that takes fees have tokens, and what may go wrong meanwhile.

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/approval_relay.hpp"
#include "chains/evm/scripted_signer.hpp"
#include "store/store.hpp"

using chains::evm::SignProblem;
using chains::evm::Transaction;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Status;
using engine::NotApproved;
using support::ApprovalRelay;
using support::Relay;
using support::sends;
using support::transaction_in;
using namespace std::chrono_literals;

namespace {

std::vector<store::OwnTransaction> unsettled(ApprovalRelay& world) {
    return world.relay.engine.process().store.own_unsettled();
}

// Until as many blocks are on top as reorganisations are looked for.
void bury(ApprovalRelay& world) {
    world.relay.chain.mine(70);
    world.relay.run_for(1min);
}

}  // namespace

TEST_CASE("what would be approved is read from the chain") {
    ApprovalRelay world;
    const auto terms = world.terms();
    CHECK(terms.signer == domain::checksummed(Relay::account()));
    CHECK(terms.token == domain::checksummed(world.token));
    CHECK(terms.spender == domain::checksummed(world.spender));
    CHECK(terms.symbol == "FEE");
    CHECK(terms.decimals == 6);
    CHECK(terms.supply == "1000000");
    CHECK(terms.balance == "500.25");
    CHECK(terms.allowance == "0");
    CHECK(terms.sent.empty());
}

TEST_CASE("an approval stands in the database before it leaves, and its row tells its fate") {
    ApprovalRelay world;
    world.relay.submit(support::input_proof(1));
    world.relay.run_for(3s);
    std::size_t rows_when_sent = 0;
    world.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_sendRawTransaction") rows_when_sent = unsettled(world).size();
        return std::nullopt;
    };
    world.approve("12.5");
    CHECK(world.outcomes.empty());  // not before the commit
    world.relay.run_for(3s);
    REQUIRE(world.outcomes.size() == 1);
    const auto approved = std::get<engine::Approved>(world.outcomes[0]);
    CHECK(approved.nonce == 1);
    CHECK(approved.amount == "12.5");
    CHECK(rows_when_sent == 1);
    CHECK(world.approvals() == std::vector<std::uint64_t>{1});
    const auto terms = world.terms();
    CHECK(terms.allowance == "12.5");
    REQUIRE(terms.sent.size() == 1);
    CHECK(terms.sent[0].nonce == 1);
    CHECK(terms.sent[0].hash == approved.hash);
    CHECK(terms.sent[0].state == "included");
    CHECK(terms.sent[0].block == world.relay.chain.included().back().block);
    CHECK(unsettled(world).size() == 1);  // its block may be replaced
    bury(world);
    CHECK(unsettled(world).empty());
    CHECK(world.relay.engine.logger.count("own_transaction_signed purpose=approval") == 1);
    CHECK(world.relay.engine.logger.count("own_transaction_included purpose=approval") == 1);
    CHECK(world.relay.engine.logger.count("fate=included") == 1);
    world.relay.submit(support::input_proof(2));
    world.relay.run_for(3s);
    world.check_gapless();
    // 0 takes it back.
    world.approve("0");
    world.relay.run_for(3s);
    CHECK(world.terms().allowance == "0");
}

TEST_CASE("who asked for an approval is told of that one, whatever was approved since") {
    ApprovalRelay world;
    world.approve("5");
    world.approve("6");
    world.relay.run_for(3s);
    auto sent = world.terms().sent;
    REQUIRE(sent.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto approved = std::get<engine::Approved>(world.outcomes.at(i));
        CHECK(sent[i].nonce == approved.nonce);
        CHECK(sent[i].hash == approved.hash);
        CHECK(sent[i].state == "included");
    }
    // Not for ever.
    for (int i = 0; i < 20; ++i) world.approve("7");
    world.relay.run_for(3s);
    sent = world.terms().sent;
    CHECK(sent.size() == 16);
    CHECK(sent.back().nonce == 21);
}

TEST_CASE("an account that can not pay for an approval is told so, and nothing is signed") {
    ApprovalRelay world;
    world.relay.chain.balance(Relay::account()) = 1'000;
    world.approve("5");
    world.relay.run_for(3s);
    CHECK(world.refusal() == domain::checksummed(Relay::account()) +
                                 " has not enough coins for the gas of one transaction: send it "
                                 "some");
    CHECK(unsettled(world).empty());
}

TEST_CASE("amounts that are none, or too much, are refused, and nothing is signed") {
    struct Row {
        const char* label;
        std::string amount;
        std::string reason;
    };
    const std::string more =
        "amount: it is more than there is of the token, 1000000; approve what the requests of "
        "some time cost";
    for (const Row& row : std::vector<Row>{
             {"negative", "-1", "amount: it is no decimal number of tokens, such as 1000 or 12.5"},
             {"letters", "all", "amount: it is no decimal number of tokens, such as 1000 or 12.5"},
             {"decimals", "0.0000001", "amount: it has 7 digits behind the point; the token has 6"},
             {"above the supply", "1000000.000001", more},
             {"unlimited",
              "115792089237316195423570985008687907853269984665640564039457584007913129."
              "639935",
              "amount: it would have no end; approve what the requests of some time cost"},
             {"beyond", std::string(90, '9'), "amount: it is larger than any token amount"},
         }) {
        CAPTURE(row.label);
        ApprovalRelay world;
        world.approve(row.amount);
        CHECK(world.refusal() == row.reason);
        CHECK(std::get<NotApproved>(world.outcomes[0]).why == NotApproved::Why::bad);
        world.relay.run_for(3s);
        CHECK(unsettled(world).empty());
        CHECK(world.relay.chain.nonce() == 0);
    }
    for (const char* amount : {"1000000", "0", "0.000001"}) {
        CAPTURE(amount);
        ApprovalRelay world;
        world.approve(amount);
        world.relay.run_for(3s);
        CHECK(world.approvals().size() == 1);
    }
}

TEST_CASE("a token that is without end itself can not be approved without end") {
    ApprovalRelay world;
    world.decimals = 0;
    world.balance = "500";
    world.supply = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    world.approve(world.supply);
    CHECK(world.refusal() ==
          "amount: it would have no end; approve what the requests of some time cost");
}

TEST_CASE("signer, token and spender have to be what was shown") {
    ApprovalRelay world;
    const std::string other = "0x00000000000000000000000000000000000000ff";
    std::size_t refused = 0;
    for (const auto member : {&engine::ApprovalOrder::token, &engine::ApprovalOrder::spender}) {
        engine::ApprovalOrder order = world.order("1");
        order.*member = other;
        world.approve(order);
        REQUIRE(world.outcomes.size() == ++refused);
        CHECK(std::get<NotApproved>(world.outcomes.back()).why == NotApproved::Why::changed);
    }
    engine::ApprovalOrder order = world.order("1");
    order.signer = other;
    world.approve(order);
    CHECK(std::get<NotApproved>(world.outcomes.back()).reason ==
          "signer: " + other + " does not sign for this process");
    world.relay.run_for(3s);
    CHECK(world.relay.chain.nonce() == 0);
}

TEST_CASE("a chain without such a token, and nodes that say nothing of it, say so") {
    const std::string token_at = "0x" + domain::to_hex(support::address(0x70));
    const std::string spender_at = "0x" + domain::to_hex(support::address(0x71));
    const auto no_code_at = [](const std::string& place) {
        return [place](const Call& call) -> std::optional<Answer> {
            if (call.method == "eth_getCode" && call.params[0] == place) return Json("0x");
            return std::nullopt;
        };
    };
    const auto refuses = [](const std::string& selector) {
        return [selector](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_call") return std::nullopt;
            const auto data = call.params[0].at("input").get<std::string>();
            if (!data.starts_with(selector)) return std::nullopt;
            return NodeError{3, "execution reverted", {}};
        };
    };
    struct Row {
        const char* label;
        std::function<std::optional<Answer>(const Call&)> before;
        NotApproved::Why why;
        std::string reason;
    };
    const std::string no_token =
        "what the chain has at " + token_at +
        " is no token: it does not tell its decimals, its supply, a balance or an allowance; "
        "check gateway.contracts.fee_token_address";
    using Why = NotApproved::Why;
    for (const Row& row : std::vector<Row>{
             {"no token", no_code_at(token_at), Why::bad,
              "the chain has no contract at " + token_at +
                  ": check gateway.contracts.fee_token_address"},
             {"no spender", no_code_at(spender_at), Why::bad,
              "the chain has no contract at " + spender_at +
                  ": check gateway.contracts.protocol_payment_address"},
             {"decimals", refuses("0x313ce567"), Why::bad, no_token},
             {"supply", refuses("0x18160ddd"), Why::bad, no_token},
             {"balance", refuses("0x70a08231"), Why::bad, no_token},
             {"allowance", refuses("0xdd62ed3e"), Why::bad, no_token},
             {"another chain",
              [](const Call& call) -> std::optional<Answer> {
                  if (call.method == "eth_chainId") return Json("0x1");
                  return std::nullopt;
              },
              Why::bad, "the node is on another chain than the configured one"},
             {"away",
              [](const Call&) -> std::optional<Answer> {
                  return TransportError{TransportError::Kind::unsent, "connection refused", {}};
              },
              Why::now, "the node did not answer: connection refused"},
         }) {
        CAPTURE(row.label);
        ApprovalRelay world;
        const engine::ApprovalOrder order = world.order("1");
        world.before = row.before;
        const auto terms = world.port().approval_terms("");
        REQUIRE(std::holds_alternative<NotApproved>(terms));
        CHECK(std::get<NotApproved>(terms).reason == row.reason);
        CHECK(std::get<NotApproved>(terms).why == row.why);
        world.approve(order);
        CHECK(world.refusal() == row.reason);
    }
    ApprovalRelay world;
    world.relay.options.fee_token.reset();
    world.relay.restart();
    world.relay.run_for(1s);
    CHECK(std::get<NotApproved>(world.port().approval_terms(""))
              .reason.find("gateway.contracts.fee_token_address") != std::string::npos);
}

TEST_CASE("a token that refuses is told in its words, and costs no nonce") {
    ApprovalRelay world;
    world.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_estimateGas") return std::nullopt;
        return NodeError{3, "execution reverted: paused", {}};
    };
    world.approve("1");
    CHECK(world.refusal().find("execution reverted: paused") != std::string::npos);
    world.before = {};
    world.relay.submit(support::input_proof(1));
    world.relay.run_for(3s);
    world.check_gapless();
    CHECK(world.relay.chain.nonce() == 1);
}

TEST_CASE("a signer that is away is told in words, and the number is the next one's") {
    std::unique_ptr<support::ScriptedSigner> signer;
    ApprovalRelay world([&](Relay& relay) {
        signer =
            std::make_unique<support::ScriptedSigner>(relay.executor, std::string(63, '0') + "1");
        return signer.get();
    });
    signer->on_sign = [](const Transaction&) { return SignProblem{"connection refused", true}; };
    world.approve("1");
    world.relay.run_for(1s);
    CHECK(world.refusal() == "the signer: connection refused");
    signer->on_sign = [&](const Transaction& transaction) { return signer->sign(transaction); };
    const auto id = world.relay.submit(support::input_proof(1));
    world.approve("2");
    world.relay.run_for(10s);
    REQUIRE(world.outcomes.size() == 2);
    CHECK(std::holds_alternative<engine::Approved>(world.outcomes[1]));
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    CHECK(world.approvals().size() == 1);
    CHECK(world.relay.chain.nonce() == 2);
    world.check_gapless();
}

// --- kill -9 ------------------------------------------------------------------------------------

TEST_CASE("signed and not stored: nothing was sent, and the number is free") {
    ApprovalRelay world;
    world.approve("5");
    world.relay.restart();
    world.relay.run_for(1min);
    CHECK(world.outcomes.empty());
    CHECK(world.relay.chain.nonce() == 0);
    world.approve("5");
    world.relay.run_for(5s);
    CHECK(world.approvals() == std::vector<std::uint64_t>{0});
    world.check_gapless();
}

TEST_CASE("stored and not sent: the same bytes leave after the start") {
    ApprovalRelay world;
    world.approve("5");
    world.relay.engine.turn();
    REQUIRE(world.outcomes.size() == 1);
    const auto hash = std::get<engine::Approved>(world.outcomes[0]).hash;
    CHECK(world.relay.chain.count("eth_sendRawTransaction") == 0);
    world.relay.crash();
    world.relay.start();
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(10s);
    CHECK(world.approvals() == std::vector<std::uint64_t>{0});
    CHECK(chains::jsonrpc::hex(world.relay.chain.included()[0].hash) == hash);
    CHECK(world.last_state() == "included");
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    world.check_gapless();
}

TEST_CASE("sent, and the node forgot it: the same bytes go again") {
    ApprovalRelay world;
    world.relay.chain.mines = false;
    world.approve("5");
    world.relay.run_for(2s);
    REQUIRE(world.relay.chain.in_pool() == 1);
    world.relay.crash();
    world.relay.chain.drop_pool();
    world.relay.chain.mines = true;
    world.relay.start();
    world.relay.run_for(5s);
    CHECK(world.approvals() == std::vector<std::uint64_t>{0});
    CHECK(unsettled(world).size() == 1);
    world.check_gapless();
}

TEST_CASE("included and not settled: it is looked up, not sent again") {
    ApprovalRelay world;
    world.approve("5");
    while (world.approvals().empty()) world.relay.run_for(10ms);
    world.relay.crash();
    world.relay.chain.calls.clear();
    world.relay.start();
    world.relay.run_for(30s);
    CHECK(world.relay.chain.count("eth_sendRawTransaction") == 0);
    CHECK(world.last_state() == "included");
    bury(world);
    CHECK(unsettled(world).empty());
    // It is ours: the chain is not ahead of the database.
    world.relay.restart();
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(5s);
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    CHECK(world.relay.engine.logger.count("chain_is_ahead") == 0);
    CHECK(world.approvals() == std::vector<std::uint64_t>{0});
    world.check_gapless();
}

TEST_CASE("killed at any moment, among requests: each approval that was promised is there once") {
    for (auto moment = 0ms; moment <= 1'500ms; moment += 25ms) {
        CAPTURE(moment.count());
        ApprovalRelay world;
        world.relay.submit(support::input_proof(1));
        world.approve("5");
        world.relay.submit(support::input_proof(2));
        world.relay.run_for(moment);
        const bool promised = !world.outcomes.empty();
        world.relay.restart();
        world.relay.submit(support::input_proof(3));
        world.relay.run_for(1min);
        CHECK(world.approvals().size() <= 1);
        if (promised) CHECK(world.approvals().size() == 1);
        for (const auto& id : world.relay.ids) {
            CHECK(world.relay.engine.status(id) == Status::receipt_received);
        }
        world.check_gapless();
    }
}

// --- on the way ---------------------------------------------------------------------------------

TEST_CASE("one that is stuck gets higher fees at its own nonce, each in a row of its own") {
    ApprovalRelay world;
    world.relay.chain.mines = false;
    world.approve("5");
    world.relay.run_for(70s);
    const auto rows = unsettled(world);
    REQUIRE(rows.size() >= 2);
    std::set<std::uint64_t> nonces;
    for (const auto& row : rows) nonces.insert(row.nonce);
    CHECK(nonces == std::set<std::uint64_t>{0});
    CHECK(world.relay.chain.in_pool() == 1);
    world.relay.chain.mines = true;
    world.relay.chain.mine_pool();
    world.relay.run_for(5s);
    CHECK(world.last_state() == "included");
    bury(world);
    CHECK(unsettled(world).empty());
    CHECK(world.approvals() == std::vector<std::uint64_t>{0});
}

TEST_CASE("a block that was replaced brings it back") {
    for (const bool keeps : {false, true}) {
        CAPTURE(keeps);
        ApprovalRelay world;
        world.relay.chain.mine(3);
        world.approve("5");
        world.relay.run_for(5s);
        REQUIRE(world.approvals().size() == 1);
        world.relay.chain.reorganise(1, keeps);
        world.relay.run_for(1min);
        CHECK(world.approvals() == std::vector<std::uint64_t>{0});
        CHECK(world.last_state() == "included");
        bury(world);
        CHECK(unsettled(world).empty());
        world.check_gapless();
    }
}

TEST_CASE("what the node will never take gives its nonce to a transaction that does nothing") {
    ApprovalRelay world;
    world.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call) || !world.is_approval(transaction_in(call))) return std::nullopt;
        return NodeError{-32'000, "exceeds block gas limit", {}};
    };
    world.approve("5");
    world.relay.run_for(2s);
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(20s);
    CHECK(world.approvals().empty());
    CHECK(world.last_state() == "replaced");
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    world.check_gapless();
    bury(world);
    CHECK(unsettled(world).empty());
}

TEST_CASE("a nonce that somebody else used is told, and nobody waits for it") {
    ApprovalRelay world;
    world.before = [&](const Call& call) -> std::optional<Answer> {
        if (!sends(call)) return std::nullopt;
        return TransportError{TransportError::Kind::unsent, "connection refused", {}};
    };
    world.approve("5");
    world.relay.run_for(2s);
    world.relay.chain.use_nonce_elsewhere();
    world.before = {};
    world.relay.run_for(1min);
    CHECK(world.relay.engine.logger.count("foreign_nonce_use alert=true purpose=approval") == 1);
    CHECK(world.last_state() == "replaced");
    CHECK(unsettled(world).empty());
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(5s);
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    CHECK(world.approvals().empty());
}

TEST_CASE("a filler stands in the database before it leaves") {
    ApprovalRelay world;
    // Signed with a number far beyond the account's count.
    world.before = [](const Call& call) -> std::optional<Answer> {
        if (call.method == "eth_getTransactionCount") return Json("0x3");
        if (sends(call)) return NodeError{-32'000, "nonce too high", {}};
        return std::nullopt;
    };
    world.relay.restart();
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(20s);
    world.before = [&](const Call& call) -> std::optional<Answer> {
        if (call.method != "eth_sendRawTransaction") return std::nullopt;
        std::set<std::uint64_t> stored;
        for (const auto& own : unsettled(world)) stored.insert(own.nonce);
        CHECK(stored.contains(transaction_in(call).nonce));
        return std::nullopt;
    };
    world.relay.restart();
    world.relay.run_for(1min);
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    CHECK(world.relay.chain.nonce() == 4);
    CHECK(world.relay.engine.logger.count("own_transaction_signed purpose=filler") == 3);
    bury(world);
    CHECK(unsettled(world).empty());
}
