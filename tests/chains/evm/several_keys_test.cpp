// Several keys that sign at once: each with its own nonces, and requests are spread over them.

#include <algorithm>
#include <chrono>
#include <string>

#include "chains/evm/several_relay.hpp"
#include "support/contains.hpp"

using chains::evm::SignProblem;
using chains::evm::SignResult;
using chains::evm::Transaction;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Status;
using support::SeveralRelay;
using namespace std::chrono_literals;

namespace {

using Shares = std::vector<std::size_t>;

// What this account asks for or sends is refused in these words.
void refuse_account(SeveralRelay& relay, std::size_t index, const std::string& words,
                    bool estimates) {
    relay.chain.before = [account = relay.accounts.at(index), words,
                          estimates](const Call& call) -> std::optional<Answer> {
        const bool matters =
            support::sends(call) || (estimates && call.method == "eth_estimateGas");
        if (!matters || SeveralRelay::account_in(call) != account) return std::nullopt;
        return NodeError{-32'000, words, {}};
    };
}

std::optional<SignResult> out_of_reach_signer(const Transaction&) {
    return SignProblem{"connection refused", true};
}

}  // namespace

TEST_CASE("requests are spread over the keys, evenly while all are on their way") {
    for (const bool elsewhere : {false, true}) {
        CAPTURE(elsewhere);
        SeveralRelay relay{3, elsewhere};
        relay.chain.mines = false;
        relay.submit_proofs(18);
        relay.run_for(5s);
        CHECK(relay.chain.in_pool() == 18);
        relay.chain.mines = true;
        relay.chain.mine_pool();
        relay.run_for(10s);
        CHECK(relay.shares() == Shares{6, 6, 6});
        relay.check_received();
    }
}

TEST_CASE("keys take turns when each is included at once") {
    SeveralRelay relay;
    for (int i = 0; i < 9; ++i) {
        relay.submit_proofs(1);
        relay.run_for(1s);
    }
    relay.run_for(5s);
    CHECK(relay.shares() == Shares{3, 3, 3});
    relay.check_received();
}

TEST_CASE("a transaction remembers its account, and stays with it when its fees are raised") {
    SeveralRelay relay;
    relay.chain.mines = false;
    relay.submit_proofs(3);
    relay.run_for(2min);
    for (const auto& [id, by] : relay.signed_by()) {
        CHECK(by.size() == 1);
        CHECK(by.begin()->starts_with("0x"));
    }
    CHECK(relay.engine.row(relay.ids[0]).schedule.attempts > 1);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(30s);
    CHECK(relay.shares() == Shares{1, 1, 1});
    relay.check_received();
}

TEST_CASE("an empty key is left out before anything is signed with it, and taken once it is not") {
    SeveralRelay relay;
    relay.chain.balance(relay.accounts[1]) = 1'000;
    relay.submit_proofs(12);
    relay.run_for(10s);
    CHECK(relay.shares() == Shares{6, 0, 6});
    relay.check_received();
    CHECK_FALSE(relay.gateway.problem());
    CHECK(relay.engine.logger.count("insufficient_funds alert=true") == 1);
    CHECK(relay.engine.logger.count("account=" + relay.address(1)) > 0);
    const auto readings = relay.gateway.readings();
    REQUIRE(readings.signers.size() == 3);
    CHECK(readings.signers[1].account == relay.address(1));
    CHECK(readings.signers[1].problem == "the relayer's account can not pay for gas");
    CHECK_FALSE(readings.signers[0].problem);
    CHECK_FALSE(readings.signer_balance);

    relay.chain.balance(relay.accounts[1]) = 1'000'000'000'000'000'000U;
    relay.run_for(10s);
    relay.chain.mines = false;
    relay.submit_proofs(9);
    relay.run_for(5s);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(10s);
    CHECK(relay.shares() == Shares{9, 3, 9});
    CHECK_FALSE(relay.gateway.readings().signers[1].problem);
    relay.check_received();
}

TEST_CASE("a key that can not pay for more than it has on its way is no empty one") {
    SeveralRelay relay{2};
    relay.chain.mines = false;
    // 0x30d40 gas and a fifth, at 3 gwei: enough for two.
    relay.chain.balance(relay.accounts[0]) = 2'000'000'000'000'000U;
    relay.submit_proofs(10);
    relay.run_for(10s);
    CHECK(relay.engine.logger.count("insufficient_funds") == 0);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(10s);
    CHECK(relay.shares() == Shares{2, 8});
    relay.check_received();
}

TEST_CASE("what was signed with a key that became empty waits for it, and nobody else does") {
    SeveralRelay relay;
    refuse_account(relay, 0, "insufficient funds for gas * price + value", false);
    relay.submit_proofs(3);
    relay.run_for(5s);
    CHECK(relay.shares() == Shares{0, 1, 1});
    // The others are not held up: with the gate shut for 5 s after each try nobody would pass.
    relay.submit_proofs(30);
    relay.run_for(10s);
    CHECK(relay.chain.included().size() == 32);
    CHECK(relay.shares()[0] == 0);
    CHECK_FALSE(relay.gateway.problem());
    CHECK(relay.gateway.readings().signers[0].problem);
    relay.chain.before = nullptr;
    relay.run_for(20s);
    CHECK(relay.shares()[0] == 1);
    relay.check_received();
    CHECK(relay.engine.logger.count("insufficient_funds_recovered account=" + relay.address(0)) ==
          1);
}

TEST_CASE("of an account that waits one transaction is tried now and then, not each of them") {
    SeveralRelay relay{2};
    relay.chain.mines = false;
    relay.submit_proofs(20);
    relay.run_for(2s);
    refuse_account(relay, 0, "insufficient funds for gas * price + value", false);
    relay.chain.drop_pool();
    relay.run_for(2min);
    relay.chain.calls.clear();
    relay.run_for(1min);
    const auto tries = std::ranges::count_if(relay.chain.calls, [&](const Call& call) {
        return support::sends(call) && SeveralRelay::account_in(call) == relay.accounts[0];
    });
    CHECK(tries > 5);
    CHECK(tries < 20);
    relay.chain.before = nullptr;
    relay.chain.mines = true;
    relay.run_for(1min);
    relay.check_received();
}

TEST_CASE("a key that may not send is left out, as long as another one may") {
    for (const bool estimates : {false, true}) {
        CAPTURE(estimates);
        SeveralRelay relay;
        refuse_account(relay, 2, "sender account not authorized to send transactions", estimates);
        relay.submit_proofs(3);
        relay.run_for(5s);
        relay.submit_proofs(20);
        relay.run_for(10s);
        CHECK(relay.shares()[2] == 0);
        CHECK(relay.chain.included().size() == (estimates ? 23 : 22));
        CHECK_FALSE(relay.gateway.problem());
        relay.chain.before = nullptr;
        relay.run_for(20s);
        relay.submit_proofs(12);
        relay.run_for(10s);
        CHECK(relay.shares()[2] > 1);
        relay.check_received();
    }
}

TEST_CASE(
    "a key whose signer is out of reach is left out, and its number goes to its next request") {
    SeveralRelay relay{3, true};
    relay.scripted[1]->on_sign = out_of_reach_signer;
    relay.submit_proofs(20);
    relay.run_for(20s);
    CHECK(relay.shares()[1] == 0);
    CHECK(relay.chain.included().size() == 20);
    relay.check_received();
    CHECK_FALSE(relay.gateway.problem());
    CHECK(relay.gateway.readings().signers[1].problem == "the signer: connection refused");
    CHECK(relay.engine.logger.count("signer_unreachable error=\"connection refused\"") == 1);
    CHECK(relay.gateway.dependencies().front().ok);
    relay.scripted[1]->on_sign = [&](const Transaction& asked) {
        return relay.scripted[1]->sign(asked);
    };
    relay.run_for(20s);
    relay.submit_proofs(20);
    relay.run_for(20s);
    CHECK(relay.shares()[1] > 3);
    relay.check_received();
}

TEST_CASE("when no key can sign the requests wait, and health names each account") {
    SeveralRelay relay{2, true};
    relay.scripted[0]->on_sign = out_of_reach_signer;
    relay.chain.balance(relay.accounts[1]) = 0;
    relay.submit_proofs(5);
    relay.run_for(5min);
    CHECK(relay.chain.included().empty());
    for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::processing);
    const std::string problem = relay.gateway.problem().value_or("none");
    CHECK(problem == relay.address(0) + ": the signer: connection refused; " + relay.address(1) +
                         ": the relayer's account can not pay for gas");
    std::map<std::string, bool> health;
    for (const auto& dependency : relay.gateway.dependencies()) {
        health[dependency.name] = dependency.ok;
    }
    CHECK_FALSE(health.at("gateway_http"));
    CHECK_FALSE(health.at("signer"));
    relay.chain.balance(relay.accounts[1]) = 1'000'000'000'000'000'000U;
    relay.run_for(30s);
    CHECK(relay.shares() == Shares{0, 5});
    CHECK_FALSE(relay.gateway.problem());
    relay.check_received();
}

TEST_CASE("a restart with transactions of all keys on their way: none twice, none lost") {
    SeveralRelay relay;
    relay.chain.mines = false;
    relay.submit_proofs(7);
    relay.run_for(5s);
    const auto before = relay.signed_by();
    relay.chain.drop_pool();
    relay.restart();
    relay.submit_proofs(7);
    relay.run_for(5s);
    for (const auto& [id, by] : before) CHECK(relay.signed_by().at(id) == by);
    relay.chain.mines = true;
    relay.run_for(2min);
    CHECK(relay.chain.included().size() == 14);
    relay.check_received();
}

TEST_CASE("the nonces of each key stay reserved over a restart until their blocks are deep") {
    SeveralRelay relay;
    relay.options.listening.reorg_depth = 10;
    relay.restart();
    relay.submit_proofs(6);
    relay.run_for(5s);
    REQUIRE(relay.shares() == Shares{2, 2, 2});
    relay.restart();
    relay.run_for(2s);
    relay.chain.reorganise(4, false);
    relay.submit_proofs(6);
    relay.run_for(2min);
    relay.check_received();
    CHECK(relay.chain.included().size() == 12);
}

TEST_CASE("rows from before there were accounts are whoever's signed them") {
    SeveralRelay relay;
    relay.chain.mines = false;
    relay.submit_proofs(6);
    relay.run_for(5s);
    relay.crash();
    relay.change("update attempt set account = null");
    relay.chain.drop_pool();
    relay.start();
    relay.submit_proofs(6);
    relay.run_for(5s);
    relay.chain.mines = true;
    relay.run_for(2min);
    CHECK(relay.chain.included().size() == 12);
    relay.check_inclusions();
    for (const auto& account : relay.accounts) CHECK(relay.chain.nonce(account) == 4);
}

TEST_CASE("a key may be added while others have transactions on their way") {
    SeveralRelay relay;
    relay.crash();
    const auto all = relay.options.signers;
    relay.use_keys({0});
    relay.start();
    relay.run_for(1s);
    relay.chain.mines = false;
    relay.submit_proofs(4);
    relay.run_for(5s);
    relay.crash();
    relay.options.signers = all;
    relay.start();
    relay.submit_proofs(8);
    relay.run_for(10s);
    relay.chain.mines = true;
    relay.chain.mine_pool();
    relay.run_for(10s);
    CHECK(relay.shares() == Shares{4, 4, 4});
    relay.check_received();
}

TEST_CASE("what a key signed that is gone waits, and no other number is used for it") {
    SeveralRelay relay;
    relay.chain.mines = false;
    relay.submit_proofs(3);
    relay.run_for(5s);
    relay.crash();
    relay.chain.drop_pool();
    const auto all = relay.options.signers;
    relay.use_keys({0, 1});
    relay.chain.mines = true;
    relay.start();
    relay.run_for(1min);
    CHECK(relay.shares() == Shares{1, 1, 0});
    CHECK(relay.engine.logger.count("sealed_by_another_key alert=true") == 1);
    relay.crash();
    relay.options.signers = all;
    relay.start();
    relay.run_for(1min);
    CHECK(relay.shares() == Shares{1, 1, 1});
    relay.check_received();
}

TEST_CASE("nobody signs before it is known of each account whether the chain is ahead") {
    SeveralRelay relay;
    relay.submit_proofs(3);
    relay.run_for(5s);
    REQUIRE(relay.shares() == Shares{1, 1, 1});
    relay.crash();
    relay.tell_count_of(1, TransportError{TransportError::Kind::unsent, "connection refused", {}});
    relay.start();
    relay.submit_proofs(6);
    relay.run_for(1min);
    CHECK(relay.chain.included().size() == 3);
    relay.chain.before = nullptr;
    relay.run_for(1min);
    CHECK(relay.chain.included().size() == 9);
    relay.check_received();
}

// Found by the chaos: the filler waits for the number, and the number waited for the filler.
TEST_CASE("a number that is given back below a filler on its way is filled too") {
    SeveralRelay relay{2, true};
    const auto is_refused = [](const chains::evm::Transaction& asked) {
        return asked.nonce < 2 && !asked.data.empty();
    };
    auto& signer = *relay.scripted[0];
    signer.on_sign =
        [&](const chains::evm::Transaction& asked) -> std::optional<chains::evm::SignResult> {
        if (is_refused(asked)) return chains::evm::SignProblem{"it refuses"};
        return signer.sign(asked);
    };
    signer.delay = [&](const chains::evm::Transaction& asked) {
        return is_refused(asked) && asked.nonce == 0 ? domain::Milliseconds{15'000}
                                                     : domain::Milliseconds{300};
    };
    relay.submit_proofs(6);
    relay.run_for(10s);
    CHECK(relay.engine.logger.count("own_transaction_signed purpose=filler") == 1);
    CHECK(relay.shares() == Shares{0, 4});
    relay.run_for(2min);
    CHECK(relay.engine.logger.count("own_transaction_signed purpose=filler") == 2);
    CHECK(relay.shares() == Shares{3, 5});
    relay.check_received();
}

TEST_CASE("a hole that nobody else fills is filled within seconds after the signer is back") {
    for (const domain::Milliseconds trouble : {1ms, 3'000ms, 7'000ms, 20'000ms}) {
        CAPTURE(trouble.count());
        SeveralRelay relay{2, true};
        auto& signer = *relay.scripted[0];
        std::optional<domain::Monotonic> over;
        signer.delay = [](const Transaction& asked) {
            return domain::Milliseconds{asked.nonce == 0 ? 600 : 300};
        };
        signer.on_sign = [&](const Transaction& asked) -> std::optional<SignResult> {
            const domain::Monotonic now = relay.clock.monotonic();
            if (!over && asked.nonce == 0) over = now + trouble;
            if (over && now < *over) {
                return SignProblem{"no answer in 1 s", true};
            }
            return signer.sign(asked);
        };
        relay.submit_proofs(4);
        relay.run_for(2s);
        for (int i = 0; i < 40 && relay.engine.logger.count("signer_recovered") == 0; ++i) {
            relay.run_for(1s);
        }
        CHECK(relay.engine.logger.count("signer_unreachable") == 1);
        CHECK(relay.shares() == Shares{0, 3});
        relay.run_for(11s);
        CHECK(relay.engine.logger.count("own_transaction_signed purpose=filler") == 1);
        CHECK(relay.shares() == Shares{2, 3});
        relay.check_received();
    }
}

TEST_CASE("a hole outlives the process, and is filled whatever the signer does in between") {
    SeveralRelay relay{2, true};
    auto& signer = *relay.scripted[0];
    bool fails = true;
    signer.delay = [](const Transaction& asked) {
        return domain::Milliseconds{asked.nonce == 0 ? 600 : 300};
    };
    signer.on_sign = [&](const Transaction& asked) -> std::optional<SignResult> {
        const auto second = std::chrono::floor<std::chrono::seconds>(relay.clock.monotonic());
        const bool flaps = second.time_since_epoch().count() % 3 == 0;
        if (asked.nonce == 0 && (fails || flaps)) return SignProblem{"no answer in 1 s", true};
        return signer.sign(asked);
    };
    relay.submit_proofs(4);
    relay.run_for(3s);
    CHECK(relay.shares() == Shares{0, 3});
    for (int i = 0; i < 5; ++i) {
        relay.crash();
        relay.start();
        relay.run_for(2s);
    }
    fails = false;
    relay.run_for(1min);
    CHECK(relay.shares() == Shares{2, 3});
    relay.check_received();
}

TEST_CASE("a transaction of one key that is stuck does not keep those of the others") {
    SeveralRelay relay{2};
    refuse_account(relay, 0, "something that nobody understands", false);
    relay.submit_proofs(2);
    relay.run_for(5s);
    for (int i = 0; i < 10; ++i) {
        relay.submit_proofs(1);
        relay.run_for(1s);
    }
    CHECK(relay.shares() == Shares{0, 11});
    relay.chain.before = nullptr;
    relay.run_for(5min);
    relay.check_received();
}
