#include "chains/evm/signers/remote.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "chains/evm/http_server_script.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"

using namespace chains::evm;
using chains::evm::signers::Remote;
using chains::jsonrpc::hex;
using chains::jsonrpc::Json;
using support::http_answer;
using namespace std::chrono_literals;

namespace {

const std::string key = std::string(63, '0') + "1";

struct World {
    std::unique_ptr<LocalSigner> held = private_key_signer(key);
    support::ServerScript script;
    std::variant<std::string, SignProblem> token = std::string("token-of-the-day");
    std::optional<Remote> remote;
    Transaction wanted;

    explicit World(bool with_token = false) {
        wanted.chain_id = 654'321;
        wanted.nonce = 7;
        wanted.priority_fee = 3;
        wanted.max_fee = 50;
        wanted.gas_limit = 100'000;
        wanted.to.fill(0x6a);
        wanted.data = {1, 2, 3, 4};
        remote.emplace(
            signers::RemoteOptions{held->address()}, script.server(),
            with_token ? Remote::ReadToken{[this] { return token; }} : Remote::ReadToken{});
    }

    // What a signer says that has the bytes.
    void answers(const std::function<Json(const std::string& raw)>& form) {
        script.on_request = [this, form](const net::OwnedRequest&) {
            return http_answer(
                200, Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", form(hex(sign(wanted, *held)))}}
                         .dump());
        };
    }

    [[nodiscard]] SignResult fetch() {
        std::optional<SignResult> got;
        remote->fetch(wanted, [&](SignResult result) {
            REQUIRE_FALSE(got);
            got = std::move(result);
        });
        return got.value();
    }
    [[nodiscard]] SignProblem problem() { return std::get<SignProblem>(fetch()); }
    [[nodiscard]] bool signs() {
        const auto result = fetch();
        const auto* bytes = std::get_if<domain::Bytes>(&result);
        return bytes != nullptr && *bytes == sign(wanted, *held);
    }
};

}  // namespace

TEST_CASE("eth_signTransaction says everything that is signed; answers of each signer are read") {
    World world;
    CHECK(world.remote->known_address() == world.held->address());
    CHECK(world.remote->local() == nullptr);
    world.answers([](const std::string& raw) { return Json(raw); });  // Web3Signer
    CHECK(world.signs());
    const Json call = Json::parse(world.script.requests.at(0).body);
    CHECK(call["method"] == "eth_signTransaction");
    CHECK(call["params"][0] == Json{{"from", hex(world.held->address())},
                                    {"to", "0x" + domain::to_hex(world.wanted.to)},
                                    {"gas", "0x186a0"},
                                    {"nonce", "0x7"},
                                    {"value", "0x0"},
                                    {"data", "0x01020304"},
                                    {"chainId", "0x9fbf1"},
                                    {"maxFeePerGas", "0x32"},
                                    {"maxPriorityFeePerGas", "0x3"}});
    CHECK(support::header_of(world.script.requests[0], "Authorization").empty());
    world.answers([](const std::string& raw) { return Json{{"raw", raw}, {"tx", Json{}}}; });
    CHECK(world.signs());
    world.answers([](const std::string& raw) { return Json{{"signed_transaction", raw}}; });
    CHECK(world.signs());
    world.wanted.legacy = true;
    world.wanted.priority_fee = 0;
    CHECK(world.signs());
    const Json legacy = Json::parse(world.script.requests.back().body)["params"][0];
    CHECK(legacy["gasPrice"] == "0x32");
    CHECK_FALSE(legacy.contains("maxFeePerGas"));
}

TEST_CASE("what a remote signer is shown is said, and nothing of it") {
    support::ServerScript script;
    const auto read = [] { return std::string("secret-token"); };
    for (const auto& [certificate, token, text] :
         {std::tuple{false, false, ""},
          {true, false, "a client certificate"},
          {false, true, "a bearer token"},
          {true, true, "a client certificate and a bearer token"}}) {
        Remote remote({{}, 5s, certificate}, script.server(),
                      token ? Remote::ReadToken{read} : Remote::ReadToken{});
        CHECK(remote.examine_credential().value().text == text);
    }
}

TEST_CASE("Clef has another name for it, which is found out once") {
    World world;
    world.script.on_request = [&](const net::OwnedRequest& request) {
        const Json call = Json::parse(request.body);
        if (call["method"] != "account_signTransaction") {
            return http_answer(
                200, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no method"}})");
        }
        return http_answer(
            200, Json{{"id", 1},
                      {"result",
                       {{"raw", hex(sign(world.wanted, *world.held))}, {"tx", Json::object()}}}}
                     .dump());
    };
    CHECK(world.signs());
    CHECK(world.script.requests.size() == 2);
    CHECK(world.signs());
    CHECK(world.script.requests.size() == 3);
    // Neither: an answer, and no third question.
    world.script.on_request = [&](const net::OwnedRequest&) {
        return http_answer(200, R"({"error":{"code":-32601,"message":"no method"}})");
    };
    CHECK(world.problem().text == "it refuses: no method");
}

TEST_CASE("a remote signer that lies in every field once: nothing of it is taken") {
    World world;
    struct Row {
        const char* label;
        std::function<void(Transaction&)> change;
        const char* text;
    };
    for (const Row& row : std::vector<Row>{
             {"nonce", [](Transaction& t) { ++t.nonce; }, "the nonce is another"},
             {"to", [](Transaction& t) { t.to.fill(1); }, "the receiver is another"},
             {"data", [](Transaction& t) { t.data.clear(); }, "the data is another"},
             {"fee", [](Transaction& t) { t.max_fee = 1'000; }, "the max fee is another"},
             {"tip", [](Transaction& t) { t.priority_fee = 4; }, "the priority fee is another"},
             {"gas", [](Transaction& t) { t.gas_limit *= 2; }, "the gas limit is another"},
             {"chain id", [](Transaction& t) { t.chain_id = 1; }, "the chain id is another"},
         }) {
        CAPTURE(row.label);
        Transaction other = world.wanted;
        row.change(other);
        world.answers([&](const std::string&) { return Json(hex(sign(other, *world.held))); });
        const SignProblem problem = world.problem();
        CHECK(problem.text == std::string("it did not sign what it was asked to: ") + row.text);
        CHECK_FALSE(problem.unreached);
    }
    const auto stranger = private_key_signer(std::string(63, '0') + "2");
    world.answers([&](const std::string&) { return Json(hex(sign(world.wanted, *stranger))); });
    CHECK(world.problem().text ==
          "it did not sign what it was asked to: it is signed with another key");
    // A value: bytes that this program could not make.
    world.answers([&](const std::string& raw) {
        std::string changed = raw;
        // The empty item of the value stands before that of the data.
        const std::size_t place = changed.find("808401020304");
        REQUIRE(place != std::string::npos);
        changed[place] = '0';
        changed[place + 1] = '1';
        return Json(changed);
    });
    CHECK(world.problem().text == "it did not sign what it was asked to: the value is another");
}

TEST_CASE("garbage, refusals and silence of a remote signer") {
    World world;
    struct Row {
        const char* label;
        net::ClientResult answer;
        std::string text;
        bool unreached;
    };
    const auto lost = [](net::TransportError::Kind kind, const char* text) {
        return net::ClientResult{net::transport_error(kind, text)};
    };
    using Kind = net::TransportError::Kind;
    for (const Row& row : std::vector<Row>{
             {"no JSON", http_answer(200, "<html>"), "its answer holds no signed transaction",
              false},
             {"nothing", http_answer(200, ""), "its answer holds no signed transaction", false},
             {"a list", http_answer(200, "[]"), "its answer holds no signed transaction", false},
             {"null", http_answer(200, R"({"result":null})"),
              "its answer holds no signed transaction", false},
             {"no hex", http_answer(200, R"({"result":"0xzz"})"),
              "its answer holds no signed transaction", false},
             {"a hash", http_answer(200, R"({"result":"0x0102"})"),
              "it did not sign what it was asked to: it is no signed transaction of the type that "
              "was asked for",
              false},
             {"refusal",
              http_answer(400, R"({"error":{"code":-32000,"message":"signing denied"}})"),
              "it refuses: signing denied", false},
             {"401", http_answer(401, ""),
              "it does not let us in (HTTP 401); look at token_file and client_certificate_file",
              false},
             {"404", http_answer(404, "not found"), "it answers HTTP 404", false},
             {"502", http_answer(502, "bad gateway"), "it answers HTTP 502", true},
             {"429", http_answer(429, ""), "it answers HTTP 429", true},
             {"away", lost(Kind::unsent, "connection refused"), "connection refused", true},
             {"silent", lost(Kind::timed_out, "no answer in 5 s"), "no answer in 5 s", true},
             {"cut", lost(Kind::lost, "connection broken"), "connection broken", true},
         }) {
        CAPTURE(row.label);
        world.script.on_request = [&](const net::OwnedRequest&) { return row.answer; };
        const SignProblem problem = world.problem();
        CHECK(problem.text == row.text);
        CHECK(problem.unreached == row.unreached);
        CHECK_FALSE(problem.is_stopped);
    }
    world.script.on_request = [&](const net::OwnedRequest&) {
        return net::ClientResult{net::stopped()};
    };
    CHECK(world.problem().is_stopped);
}

TEST_CASE("a refusal that repeats what is secret of the URL, or the token, is told without it") {
    World world;
    signers::HttpServer server = world.script.server();
    server.secrets = {"swordfish"};
    Remote remote({world.held->address()}, server, [] { return std::string("marmalade"); });
    CHECK_FALSE(remote.keep_up().problem);
    world.script.on_request = [](const net::OwnedRequest&) {
        return http_answer(
            200, R"({"error":{"code":-32000,"message":"not for swordfish with marmalade"}})");
    };
    std::optional<SignResult> got;
    remote.fetch(world.wanted, [&](SignResult result) { got = std::move(result); });
    const std::string text = std::get<SignProblem>(got.value()).text;
    CHECK(text.starts_with("it refuses: not for "));
    CHECK(text.find("swordfish") == std::string::npos);
    CHECK(text.find("marmalade") == std::string::npos);
}

TEST_CASE("the bearer token of a remote signer is read again, and an old one does until then") {
    World world(true);
    world.answers([](const std::string& raw) { return Json(raw); });
    world.token = SignProblem{"token_file can not be read"};
    CHECK(world.remote->keep_up().problem.value().text == "token_file can not be read");
    world.token = std::string("first");
    CHECK_FALSE(world.remote->keep_up().problem);
    CHECK(world.remote->keep_up().again.value() == domain::Milliseconds{30'000});
    CHECK(world.signs());
    CHECK(support::header_of(world.script.requests.back(), "Authorization") == "Bearer first");
    world.token = SignProblem{"gone"};
    CHECK_FALSE(world.remote->keep_up().problem);
    CHECK(world.signs());
    world.token = std::string("second");
    CHECK_FALSE(world.remote->keep_up().problem);
    CHECK(world.signs());
    CHECK(support::header_of(world.script.requests.back(), "Authorization") == "Bearer second");
}
