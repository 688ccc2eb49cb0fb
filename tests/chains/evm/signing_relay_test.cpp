#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/http_server_script.hpp"
#include "chains/evm/relay.hpp"
#include "chains/evm/scripted_signer.hpp"
#include "chains/evm/signers/remote.hpp"
#include "chains/jsonrpc/decode.hpp"

// The whole relayer with a signer that is not in the process.

using chains::evm::SignProblem;
using chains::evm::SignResult;
using chains::evm::Transaction;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using domain::Status;
using support::Relay;
using support::ScriptedSigner;
using namespace std::chrono_literals;

namespace {

const std::string elsewhere_key = std::string(63, '0') + "1";

// A relayer whose key is elsewhere: 300 ms for a signature.
struct Elsewhere {
    Elsewhere()
        : relay([this](Relay& self) {
              signer = std::make_unique<ScriptedSigner>(self.executor, elsewhere_key);
              return signer.get();
          }) {}

    std::unique_ptr<ScriptedSigner> signer;
    Relay relay;

    // Of every transaction that left, in order; those sent again too.
    [[nodiscard]] std::vector<std::uint64_t> nonces_sent() const {
        std::vector<std::uint64_t> nonces;
        for (const Call& call : relay.chain.calls) {
            if (!call.method.starts_with("eth_sendRawTransaction")) continue;
            const auto bytes = chains::jsonrpc::bytes(call.params[0]).value();
            nonces.push_back(chains::evm::decode_transaction(bytes).value().nonce);
        }
        return nonces;
    }

    void submit(int count) {
        for (int i = 1; i <= count; ++i) {
            relay.submit(support::input_proof(static_cast<std::uint8_t>(i)));
        }
    }

    void check_all_received() {
        for (const auto& id : relay.ids) CHECK(relay.engine.status(id) == Status::receipt_received);
        relay.check_inclusions();
        CHECK(relay.chain.nonce() == relay.chain.included().size());
    }
};

bool is_probe(const Transaction& transaction) {
    return transaction.nonce == std::uint64_t{1} << 62U;
}

SignProblem away() {
    return {"connection refused", true};
}

std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("with a signer elsewhere each kind goes through: accepted, included, answered") {
    Elsewhere world;
    for (const domain::Kind kind :
         {domain::Kind::input_proof, domain::Kind::public_decrypt, domain::Kind::user_decrypt}) {
        const auto id = world.relay.submit(support::request_of(kind, 1));
        world.relay.run_for(5s);
        REQUIRE(world.relay.engine.status(id) == Status::receipt_received);
        world.relay.chain.answer_all();
        world.relay.run_for(2s);
        CHECK(world.relay.engine.status(id) == Status::completed);
    }
    world.relay.check_inclusions();
    CHECK(world.signer->asked.size() == 3);
}

TEST_CASE("fifty signatures of 300 ms under way together take hardly longer than one") {
    Elsewhere world;
    world.relay.engine.options.sending.input_proof.per_seconds = 50;
    world.relay.restart();
    world.relay.run_for(1s);
    world.submit(50);
    world.relay.run_for(200ms);
    CHECK(world.signer->under_way_peak == 50);
    CHECK(world.nonces_sent().empty());
    const auto decrypt = world.relay.submit(support::public_decrypt(1));
    world.relay.run_for(1s);
    CHECK(world.nonces_sent().size() == 51);
    world.relay.run_for(5s);
    CHECK(world.relay.engine.status(decrypt) == Status::receipt_received);
    world.check_all_received();
}

TEST_CASE("nothing leaves before all smaller numbers are sealed, however slow their signatures") {
    Elsewhere world;
    world.signer->delay = [](const Transaction& transaction) {
        return domain::Milliseconds{4'000 - 900 * static_cast<int>(transaction.nonce)};
    };
    world.submit(5);
    world.relay.run_for(3s);
    CHECK(world.relay.engine.status(world.relay.ids[4]) == Status::tx_in_flight);
    CHECK(world.nonces_sent().empty());
    world.relay.run_for(15s);
    CHECK(world.nonces_sent() == first_numbers(5));
    world.check_all_received();
}

TEST_CASE("the number of a signature that failed goes to the next request, before larger ones") {
    Elsewhere world;
    bool failed = false;
    world.signer->on_sign = [&](const Transaction& transaction) -> std::optional<SignResult> {
        if (transaction.nonce == 1 && !std::exchange(failed, true)) return away();
        return world.signer->sign(transaction);
    };
    world.submit(4);
    world.relay.run_for(400ms);
    CHECK(failed);
    const auto late = world.relay.submit(support::input_proof(9));
    world.relay.run_for(20s);
    CHECK(world.relay.engine.status(late) == Status::receipt_received);
    CHECK(world.nonces_sent() == first_numbers(5));
    world.check_all_received();
}

TEST_CASE("a signer out of reach pauses what is not signed, and nothing fails") {
    Elsewhere world;
    bool reachable = false;
    world.signer->on_sign = [&](const Transaction& transaction) -> std::optional<SignResult> {
        if (!reachable) return away();
        return world.signer->sign(transaction);
    };
    world.submit(3);
    world.relay.run_for(20min);
    for (const auto& id : world.relay.ids) {
        CHECK(world.relay.engine.status(id) == Status::processing);
    }
    CHECK(world.nonces_sent().empty());
    CHECK(world.relay.gateway.problem() == "the signer: connection refused");
    CHECK(world.relay.engine.logger.count("signer_unreachable error=\"connection refused\"") == 1);
    // Tried out with what no chain would include, ever less often.
    CHECK(world.signer->asked.size() > 100);
    CHECK(world.signer->asked.size() < 200);
    CHECK(is_probe(world.signer->asked.back()));
    reachable = true;
    world.relay.run_for(1min);
    CHECK_FALSE(world.relay.gateway.problem());
    CHECK(world.relay.engine.logger.count("signer_recovered") == 1);
    CHECK(world.nonces_sent() == first_numbers(3));
    world.check_all_received();
}

TEST_CASE("trouble is looked at soon, however late the next look at credentials would be") {
    Elsewhere world;
    world.relay.crash();
    std::size_t kept_up = 0;
    world.signer->on_keep_up = [&] {
        ++kept_up;
        return chains::evm::Signer::Upkeep{std::nullopt, domain::Milliseconds{6h}};
    };
    world.relay.start();
    world.relay.run_for(1min);
    CHECK(kept_up == 1);
    world.signer->on_sign = [](const Transaction&) -> std::optional<SignResult> { return away(); };
    world.submit(3);
    world.relay.run_for(1min);
    CHECK(world.relay.gateway.problem());
    world.signer->on_sign = [&](const Transaction& asked) { return world.signer->sign(asked); };
    world.relay.run_for(11s);
    CHECK_FALSE(world.relay.gateway.problem());
    world.relay.run_for(1min);
    world.check_all_received();
    // And then it is late again.
    const std::size_t so_far = kept_up;
    world.relay.run_for(5h);
    CHECK(kept_up == so_far);
    world.relay.run_for(2h);
    CHECK(kept_up == so_far + 1);
}

TEST_CASE("after the limit of what is out of reach a request fails as such") {
    Elsewhere world;
    world.signer->on_sign = [](const Transaction&) -> std::optional<SignResult> { return away(); };
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(31min);
    CHECK(world.relay.engine.status(id) == Status::failure);
    CHECK(world.relay.failure(id).reason == domain::Reason::unreachable);
}

TEST_CASE("a start without the signer's address: everything but signing goes on") {
    Elsewhere world;
    const auto first = world.relay.submit(support::input_proof(1));
    world.relay.chain.mines = false;
    world.relay.run_for(3s);
    REQUIRE(world.relay.engine.status(first) == Status::tx_in_flight);
    world.relay.crash();
    const auto account = std::exchange(world.signer->account, std::nullopt);
    world.signer->on_keep_up = [] {
        return chains::evm::Signer::Upkeep{SignProblem{"kms:GetPublicKey: no route", true}, {}};
    };
    world.relay.chain.mines = true;
    world.relay.chain.mine_pool();
    world.relay.start();
    world.relay.run_for(10s);
    CHECK(world.relay.gateway.problem() == "the signer: kms:GetPublicKey: no route");
    // What was signed is found on chain, and answers are heard.
    CHECK(world.relay.engine.status(first) == Status::receipt_received);
    world.relay.chain.answer_all();
    const auto second = world.relay.submit(support::public_decrypt(1));
    world.relay.run_for(1min);
    CHECK(world.relay.engine.status(first) == Status::completed);
    CHECK(world.relay.engine.status(second) == Status::processing);
    CHECK(world.relay.chain.count("eth_estimateGas") == 1);
    world.signer->account = account;
    world.signer->on_keep_up = [] { return chains::evm::Signer::Upkeep{}; };
    world.relay.run_for(1min);
    CHECK_FALSE(world.relay.gateway.problem());
    CHECK(world.relay.engine.status(second) == Status::receipt_received);
    CHECK(world.relay.engine.logger.count("signer_known address=0x7e5f4552091a69125d5dfcb7b8c26590"
                                          "29395bdf") == 2);
    world.relay.check_inclusions();
}

TEST_CASE("a signature that comes after its lease is dropped, and its number is another's") {
    Elsewhere world;
    bool slow = true;
    world.signer->delay = [&](const Transaction&) -> domain::Milliseconds {
        return std::exchange(slow, false) ? domain::Milliseconds{11min} : 300ms;
    };
    const auto first = world.relay.submit(support::input_proof(1));
    world.relay.run_for(9min);
    CHECK(world.relay.engine.status(first) == Status::processing);
    CHECK(world.nonces_sent().empty());
    world.relay.run_for(90s);
    CHECK(world.relay.engine.status(first) == Status::receipt_received);
    CHECK(world.relay.engine.logger.count("late_signature_dropped") == 0);
    world.relay.run_for(1min);
    CHECK(world.relay.engine.logger.count("late_signature_dropped") == 1);
    const auto second = world.relay.submit(support::input_proof(2));
    world.relay.run_for(5s);
    CHECK(world.relay.engine.status(second) == Status::receipt_received);
    CHECK(world.nonces_sent() == first_numbers(2));
    world.check_all_received();
}

TEST_CASE(
    "an end of the process while signatures are under way loses no number and uses none twice") {
    Elsewhere world;
    for (int round = 0; round < 12; ++round) {
        CAPTURE(round);
        for (std::uint8_t i = 0; i < 4; ++i) {
            world.relay.submit(support::input_proof(static_cast<std::uint8_t>(10 * round + i + 1)));
        }
        world.relay.run_for(domain::Milliseconds{60 * round});
        world.relay.restart();
        world.signer->under_way = 0;
        world.relay.run_for(20s);
        world.check_all_received();
    }
    CHECK(world.relay.ids.size() == 48);
}

TEST_CASE("a raise is signed elsewhere too; while that fails the old bytes do") {
    Elsewhere world;
    world.relay.chain.mines = false;
    const auto id = world.relay.submit(support::input_proof(1));
    world.relay.run_for(5s);
    REQUIRE(world.relay.chain.in_pool() == 1);
    SUBCASE("it comes") {
        world.relay.run_for(40s);
        REQUIRE(world.signer->asked.size() >= 2);
        CHECK(world.signer->asked[1].nonce == 0);
        CHECK(world.signer->asked[1].max_fee > world.signer->asked[0].max_fee);
    }
    SUBCASE("it does not") {
        world.signer->on_sign = [](const Transaction&) -> std::optional<SignResult> {
            return away();
        };
        world.relay.run_for(5min);
        CHECK(world.relay.engine.status(id) == Status::tx_in_flight);
        CHECK(world.signer->asked.size() > 2);
    }
    world.relay.chain.mines = true;
    world.relay.chain.mine_pool();
    world.relay.run_for(1min);
    CHECK(world.relay.engine.status(id) == Status::receipt_received);
    world.relay.check_inclusions();
    CHECK(world.relay.chain.nonce() == 1);
}

TEST_CASE("a hole is filled with what is signed elsewhere, and is nobody's meanwhile") {
    Elsewhere world;
    world.relay.chain.mines = false;
    const auto a = world.relay.submit(support::input_proof(1));
    world.relay.run_for(1s);
    const auto b = world.relay.submit(support::input_proof(2));
    world.relay.run_for(1s);
    REQUIRE(world.relay.chain.in_pool() == 2);
    world.relay.crash();
    world.relay.chain.drop_pool();
    {
        SQLite::Database database{store::database_path(world.relay.engine.store_options).string(),
                                  SQLite::OPEN_READWRITE};
        const std::string id = std::to_string(a.sequence);
        database.exec("delete from payload where id = " + id);
        database.exec("delete from attempt where id = " + id);
        database.exec("update request set attempts = 0 where id = " + id);
    }
    world.relay.chain.mines = true;
    world.relay.start();
    world.relay.run_for(3min);
    CHECK(world.relay.engine.status(a) == Status::failure);
    CHECK(world.relay.engine.status(b) == Status::receipt_received);
    CHECK(world.relay.chain.nonce() == 2);
    CHECK(world.relay.engine.logger.count("nonce_hole_filled nonce=0 accepted=true") == 1);
}

TEST_CASE("a signer that lies in every field once: nothing of it leaves, and nothing is stored") {
    support::ServerScript script;
    const auto held = chains::evm::private_key_signer(elsewhere_key);
    const auto stranger = chains::evm::private_key_signer(std::string(63, '0') + "2");
    chains::evm::signers::Remote remote({held->address()}, script.server(), {});
    Relay relay([&](Relay&) { return &remote; });

    // What was asked for, out of the call.
    const auto asked = [](const net::OwnedRequest& request) {
        const Json call = Json::parse(request.body)["params"][0];
        Transaction transaction;
        transaction.chain_id = *chains::jsonrpc::quantity(call["chainId"]);
        transaction.nonce = *chains::jsonrpc::quantity(call["nonce"]);
        transaction.priority_fee = *chains::jsonrpc::wei(call["maxPriorityFeePerGas"]);
        transaction.max_fee = *chains::jsonrpc::wei(call["maxFeePerGas"]);
        transaction.gas_limit = *chains::jsonrpc::quantity(call["gas"]);
        transaction.to = *chains::jsonrpc::address(call["to"]);
        transaction.data = *chains::jsonrpc::bytes(call["data"]);
        return transaction;
    };
    const auto says = [](const domain::Bytes& bytes) {
        return support::http_answer(
            200, Json{{"id", 1}, {"result", chains::jsonrpc::hex(bytes)}}.dump());
    };
    const auto with = [&](const std::function<void(Transaction&)>& change) {
        return [&, change](const net::OwnedRequest& request) {
            Transaction transaction = asked(request);
            change(transaction);
            return says(chains::evm::sign(transaction, *held));
        };
    };
    using Answering = std::function<net::ClientResult(const net::OwnedRequest&)>;
    const std::vector<std::pair<const char*, Answering>> lies{
        {"nonce", with([](Transaction& t) { ++t.nonce; })},
        {"to", with([](Transaction& t) { t.to.fill(9); })},
        {"data", with([](Transaction& t) { t.data.push_back(0); })},
        {"fees", with([](Transaction& t) { t.max_fee *= 10; })},
        {"tip", with([](Transaction& t) { ++t.priority_fee; })},
        {"gas", with([](Transaction& t) { ++t.gas_limit; })},
        {"chain id", with([](Transaction& t) { ++t.chain_id; })},
        {"another key",
         [&](const net::OwnedRequest& request) {
             return says(chains::evm::sign(asked(request), *stranger));
         }},
        {"garbage",
         [&](const net::OwnedRequest&) {
             return says({1, 2, 3});
         }},
        {"silence",
         [&](const net::OwnedRequest&) {
             return net::ClientResult{
                 net::transport_error(net::TransportError::Kind::timed_out, "no answer in 5 s")};
         }},
    };
    const auto sends = [&] {
        return relay.chain.count("eth_sendRawTransactionSync") +
               relay.chain.count("eth_sendRawTransaction");
    };
    for (const auto& [label, lie] : lies) {
        CAPTURE(label);
        script.on_request = lie;
        const std::size_t before = sends();
        const auto id =
            relay.submit(support::input_proof(static_cast<std::uint8_t>(relay.ids.size() + 1)));
        relay.run_for(20s);
        CHECK(relay.engine.status(id) == Status::processing);
        CHECK(sends() == before);
        CHECK(relay.gateway.problem());
        script.on_request = with([](Transaction&) {});
        relay.run_for(1min);
        CHECK(relay.engine.status(id) == Status::receipt_received);
        CHECK_FALSE(relay.gateway.problem());
    }
    CHECK(relay.chain.nonce() == lies.size());
    relay.check_inclusions();
}
