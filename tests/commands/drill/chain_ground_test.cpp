#include "commands/drill/chain_ground.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/scripted_node.hpp"
#include "commands/drill/main_nets.hpp"
#include "commands/exit_status.hpp"
#include "domain/identity.hpp"
#include "domain/keccak.hpp"
#include "domain/moves.hpp"
#include "store/store.hpp"
#include "support/requests.hpp"
#include "support/temp_directory.hpp"

using namespace commands::drill;
using chains::jsonrpc::Json;

namespace {

constexpr domain::Address the_signer{0x01, 0x02, 0x03};

config::Settings on_test_chain(const std::filesystem::path& directory = "/nowhere/at/all") {
    config::Settings settings;
    settings.gateway = config::GatewayType::evm;
    settings.evm.chain_id = 8'009;
    settings.evm.host_chains.push_back({.chain_id = 11'155'111, .urls = {}, .acl = {}});
    settings.store.directory = directory;
    return settings;
}

store::Options options_in(const std::filesystem::path& directory) {
    store::Options options;
    options.directory = directory;
    return options;
}

// On that chain, at block 16, after five transactions of the signer.
support::ScriptedNode quiet_node() {
    support::ScriptedNode node;
    node.say("eth_chainId", {Json("0x1f49")});
    node.say("eth_blockNumber", {Json("0x10")});
    node.say("eth_getTransactionCount", {Json("0x5")});
    node.say("eth_getBalance", {Json("0x1")});
    node.say("eth_gasPrice", {Json("0x7")});
    return node;
}

const Wait no_wait = [](std::chrono::milliseconds) {};

ChainGround look(support::ScriptedNode& node, const config::Settings& settings) {
    ChainAccount account(node, the_signer, no_wait);
    return survey(settings, account, the_signer);
}

template <typename Error>
std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    } catch (const std::exception& error) {
        return std::string("another error: ") + error.what();
    }
    return "no error";
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// A request that waits, as the service would find it.
void add_request(store::Store& store, domain::Kind kind, store::Lane lane) {
    const domain::Request request = kind == domain::Kind::share
                                        ? domain::Request(support::vote_share(1))
                                        : domain::Request(support::input_proof(1));
    const domain::Bytes payload = domain::encode(request);
    store::Store::Transaction transaction(store);
    store::NewRequest row;
    row.row.id = support::request_id(1);
    row.row.kind = kind;
    row.row.status = domain::first_status(kind);
    row.row.schedule.lane = lane;
    if (kind == domain::Kind::share) {
        row.row.round = store.round(support::vote_share(1).round_id, domain::from_unix_ms(9'000));
    }
    row.identity = domain::identify(request);
    row.payload = payload;
    store.insert(row);
    transaction.commit();
}

}  // namespace

TEST_CASE("a drill goes to a real chain, and to none where coins cost money") {
    CHECK_NOTHROW(require_test_chain(on_test_chain()));
    struct Row {
        std::string_view label;
        std::function<void(config::Settings&)> change;
        std::vector<std::string_view> parts;
    };
    const std::vector<Row> rows{
        {"the loopback",
         [](auto& s) { s.gateway = config::GatewayType::loopback; },
         {"gateway.type: ", "--chain"}},
        {"Ethereum",
         [](auto& s) { s.evm.chain_id = 1; },
         {"gateway.blockchain_rpc.chain_id: ", "chain 1 ", "Ethereum"}},
        {"the protocol's own",
         [](auto& s) { s.evm.chain_id = 261'131; },
         {"gateway.blockchain_rpc.chain_id: ", "chain 261131 ", "Zama"}},
        {"Arbitrum", [](auto& s) { s.evm.chain_id = 42'161; }, {"Arbitrum One"}},
        {"a host chain of production",
         [](auto& s) { s.evm.host_chains[0].chain_id = 1; },
         {"host_chains: ", "Ethereum"}},
        {"the second host chain",
         [](auto& s) { s.evm.host_chains.push_back({.chain_id = 137, .urls = {}, .acl = {}}); },
         {"host_chains: ", "Polygon"}},
        {"no host chain", [](auto& s) { s.evm.host_chains.clear(); }, {"host_chains: "}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        config::Settings settings = on_test_chain();
        row.change(settings);
        const std::string text =
            refusal<commands::BadSettings>([&] { require_test_chain(settings); });
        CAPTURE(text);
        for (const std::string_view part : row.parts) CHECK(has(text, part));
    }
}

TEST_CASE("test chains are no main nets") {
    // Sepolia, Holesky, Hoodi, the test gateway, anvil and its like.
    for (const std::uint64_t chain_id : {0U, 8'009U, 10'901U, 17'000U, 31'337U, 560'048U, 654'321U,
                                         11'155'111U, 421'614U, 84'532U}) {
        CAPTURE(chain_id);
        CHECK(main_net(chain_id).empty());
    }
}

TEST_CASE("what a survey finds is where the drill begins") {
    support::ScriptedNode node = quiet_node();
    const ChainGround ground = look(node, on_test_chain());
    CHECK(ground.chain_id == 8'009);
    CHECK(ground.signer == the_signer);
    CHECK(ground.block == 16);
    CHECK(ground.nonce == 5);
    CHECK(ground.lock == nullptr);
    for (const std::string_view part : {"chain 8009", "0x010203", "at most 30 transactions"}) {
        CAPTURE(part);
        CHECK(has(price_of(ground, 30), part));
    }
    CHECK(node.count("eth_sendRawTransaction") == 0);
}

TEST_CASE("a node on another chain is refused, with the key that names it") {
    for (const char* const id : {"0x1f4a", "0x1"}) {
        CAPTURE(id);
        support::ScriptedNode node = quiet_node();
        node.say("eth_chainId", {Json(id)});
        const std::string text =
            refusal<commands::BadSettings>([&] { static_cast<void>(look(node, on_test_chain())); });
        CHECK(has(text, "gateway.blockchain_rpc.http_url: "));
    }
}

TEST_CASE("a signer whose transactions wait is somebody else's") {
    for (const char* const pending : {"0x6", "0xff", "0x4"}) {
        CAPTURE(pending);
        support::ScriptedNode node = quiet_node();
        node.on["eth_getTransactionCount"] = [&](const Json& params) {
            return params.at(1) == "pending" ? Json(pending) : Json("0x5");
        };
        const std::string text =
            refusal<std::runtime_error>([&] { static_cast<void>(look(node, on_test_chain())); });
        CHECK(has(text, "somebody else uses the key"));
    }
}

TEST_CASE("a node that does not answer is asked again, and named in the end") {
    support::ScriptedNode node = quiet_node();
    node.say("eth_blockNumber", {chains::jsonrpc::TransportError{}, Json(), Json("0x11")});
    CHECK(look(node, on_test_chain()).block == 17);
    node.say("eth_blockNumber", {chains::jsonrpc::NodeError{-1, "busy", {}}});
    const std::string text =
        refusal<std::runtime_error>([&] { static_cast<void>(look(node, on_test_chain())); });
    CHECK(has(text, "eth_blockNumber: busy"));
}

TEST_CASE("an account that can not pay for anything is no ground for a drill") {
    support::ScriptedNode node = quiet_node();
    node.say("eth_getBalance", {Json("0x0")});
    const std::string text =
        refusal<std::runtime_error>([&] { static_cast<void>(look(node, on_test_chain())); });
    CHECK(has(text, domain::checksummed(the_signer) + " has no coins on chain 8009"));
    node.say("eth_gasPrice", {Json("0x0")});  // where it needs none
    CHECK(look(node, on_test_chain()).block == 16);
    node.say("eth_getBalance", {Json("none")});
    CHECK(has(refusal<std::runtime_error>([&] { static_cast<void>(look(node, on_test_chain())); }),
              "eth_getBalance makes no sense"));
}

TEST_CASE("while a process has the configured directory there is no drill") {
    const support::TempDirectory home;
    const store::Options options = options_in(home.path());
    CHECK(require_idle(options_in(home.path() / "none")) == nullptr);
    CHECK(std::filesystem::is_empty(home.path()));
    {
        const auto lock = require_idle(options);
        CHECK(lock != nullptr);
        // There is no database yet, and none begins.
        CHECK_THROWS(store::Store{options});
    }
    {
        const store::Store running(options);
        const std::string text =
            refusal<std::runtime_error>([&] { static_cast<void>(require_idle(options)); });
        CHECK(has(text, home.path().string()));
        CHECK(has(text, "stop it first"));
    }
    const auto lock = require_idle(options);
    CHECK(lock != nullptr);
    // And none begins there during the drill.
    CHECK_THROWS(store::Store{options});
}

TEST_CASE("requests of the configured directory that have not ended have the signer's nonces") {
    struct Row {
        domain::Kind kind;
        store::Lane lane;
        bool refused;
    };
    for (const Row& row : {Row{domain::Kind::input_proof, store::Lane::gate, true},
                           Row{domain::Kind::input_proof, store::Lane::timer, true},
                           Row{domain::Kind::share, store::Lane::schedule, false}}) {
        CAPTURE(row.kind);
        const support::TempDirectory home;
        const store::Options options = options_in(home.path());
        {
            store::Store store(options);
            add_request(store, row.kind, row.lane);
        }
        const std::string text =
            refusal<std::runtime_error>([&] { static_cast<void>(require_idle(options)); });
        CAPTURE(text);
        CHECK(has(text, "1 requests in " + home.path().string()) == row.refused);
        CHECK((text == "no error") == !row.refused);
    }
}
