#include "chains/evm/doctor.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chains/evm/calls.hpp"
#include "chains/evm/plan.hpp"
#include "chains/evm/replies.hpp"
#include "chains/evm/scripted_node.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

using chains::diagnosis::Finding;
using chains::evm::Getter;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using support::ScriptedNode;
using Verdict = chains::diagnosis::Finding::Verdict;

namespace {

const std::string empty = "0x";

std::string hex_word(std::uint64_t number) {
    std::string digits = chains::jsonrpc::hex_quantity(number).substr(2);
    return "0x" + std::string(64 - digits.size(), '0') + digits;
}

std::string hex_address(std::uint8_t fill) {
    return chains::jsonrpc::hex(support::address(fill));
}

std::string selector_of(const domain::Bytes& call) {
    return chains::jsonrpc::hex(domain::ByteView{call}.first(4));
}

// Signs what no chain would include, and nothing else.
class TestSigner : public chains::evm::Signer {
public:
    std::optional<domain::Address> account = support::address(0x51);
    chains::evm::SignResult result = domain::Bytes{1};
    Upkeep upkeep;
    std::optional<Credential> credential;

    [[nodiscard]] std::optional<domain::Address> known_address() const override { return account; }
    [[nodiscard]] Upkeep keep_up() override { return upkeep; }
    [[nodiscard]] std::optional<Credential> examine_credential() override { return credential; }
    void fetch(const chains::evm::Transaction& transaction, Done done) override {
        CHECK(transaction == chains::evm::probe_transaction(654321, *account));
        CHECK(transaction.nonce == std::uint64_t{1} << 62U);
        done(result);
    }
};

// A deployment in which everything is well.
struct Clinic {
    Clinic() {
        options.chain_id = 654321;
        options.write_urls = {"http://u:k3y@node/v2/SECRET?x=TOKEN"};
        options.decryption = support::address(0xdd);
        options.input_verification = support::address(0xee);
        options.protocol_payment = support::address(0xfe);
        options.fee_token = support::address(0xf0);
        options.signer.low_balance = 1'000'000;
        options.host_chains = {{8009, {}, support::address(0xac)},
                               {9000, {}, support::address(0xad)}};
        options.key_urls.kms_generation = support::address(0x61);
        options.protocol_config.address = support::address(0x62);
        write = &add(nodes.write, "0x9fbf1");
        read = &add(nodes.read, "0x9fbf1");
        host = &add(nodes.hosts[8009], "0x1f49");
        add(nodes.hosts[9000], "0x2328");
        protocol = &add(nodes.protocol, "0x1");
        auto type = chains::evm::Options::Listener::Type::polling;
        for (int i = 0; i < 2; ++i) {
            nodes.listeners.emplace_back();
            listener = &add(nodes.listeners.back(), "0x9fbf1");
            options.listening.listeners.push_back({type, "ws://u:k3y@node/v2/SECRET"});
            type = chains::evm::Options::Listener::Type::subscription;
        }
        returns[selector_of(getter(Getter::input_verification_price))] = hex_word(10);
        returns[selector_of(getter(Getter::public_decryption_price))] = hex_word(30);
        returns[selector_of(getter(Getter::user_decryption_price))] = hex_word(20);
        returns["0x70a08231"] = hex_word(30);                 // balanceOf
        returns["0xdd62ed3e"] = "0x" + std::string(64, 'f');  // allowance
        returns[selector_of(getter(Getter::active_key_id))] = hex_word(4);
        returns[selector_of(getter(Getter::active_crs_id))] = hex_word(5);
        returns[selector_of(getter(Getter::current_kms_context_and_epoch))] =
            hex_word(7) + hex_word(8).substr(2);
        returns["0x281e8bfe"] = hex_word(9);
        returns[selector_of(getter(Getter::paused))] = hex_word(0);
        options.shares_threshold = 9;
        say_version(0xdd, "Decryption v0.7.0");
        say_version(0xee, "InputVerification v0.6.0");
        say_version(0xfe, "ProtocolPayment v0.1.0");
        say_version(0xac, "ACL v0.5.0");
        say_version(0xad, "ACL v0.4.0");
        say_version(0x61, "KMSGeneration v0.5.0");
        say_version(0x62, "ProtocolConfig v0.2.0");
    }

    void say_version(std::uint8_t contract, std::string_view text) {
        versions[hex_address(contract)] =
            Json(chains::jsonrpc::hex(replies::tuple({replies::text(text)})));
    }

    ScriptedNode& add(std::unique_ptr<chains::jsonrpc::Node>& place, const char* chain_id) {
        auto node = std::make_unique<ScriptedNode>();
        node->say("eth_chainId", {Json(chain_id)});
        node->say("eth_getCode", {Json("0x6001")});
        node->say("eth_getBalance", {Json("0xde0b6b3a7640000")});
        node->say("eth_getTransactionCount", {Json("0x5")});
        node->say("eth_sendRawTransactionSync", {NodeError{-32602, "cannot decode", {}}});
        node->say("eth_blockNumber", {Json("0x64")});
        node->say("eth_getLogs", {Json::array()});
        node->on["eth_getBlockByNumber"] = [this](const Json& params) -> Answer {
            const auto number =
                params[0] == "latest" ? head : *chains::jsonrpc::quantity(params[0]);
            const auto now = static_cast<std::uint64_t>(domain::unix_ms(clock.wall()) / 1000);
            return Json{
                {"number", chains::jsonrpc::hex_quantity(number)},
                {"timestamp", chains::jsonrpc::hex_quantity(now - static_cast<std::uint64_t>(age) -
                                                            (head - number) * pace)}};
        };
        node->on["eth_call"] = [this](const Json& params) -> Answer {
            const std::string data = params[0]["input"];
            if (data == selector_of(getter(Getter::version))) {
                const auto said = versions.find(params[0]["to"]);
                if (said != versions.end()) return said->second;
            }
            if (data == selector_of(getter(Getter::paused)) && paused == params[0]["to"]) {
                return Json(hex_word(1));
            }
            const auto found = returns.find(data.substr(0, 10));
            if (found == returns.end()) return NodeError{3, "execution reverted", {}};
            return found->second;
        };
        place = std::move(node);
        return static_cast<ScriptedNode&>(*place);
    }

    TestSigner signer;
    std::vector<chains::evm::Signer*> signers{&signer};

    std::vector<chains::diagnosis::Finding> look() {
        const chains::evm::Probes probes{
            [this](const std::string& url) { return node_at(url); },
            [this](const std::string&) { return subscription_trouble; }};
        return chains::evm::diagnose(options, nodes, probes, signers, clock);
    }

    // Says the chain id it has for a name; no others are asked.
    std::unique_ptr<chains::jsonrpc::Node> node_at(const std::string& url) {
        auto node = std::make_unique<ScriptedNode>();
        node->say("eth_chainId", {at_url.at(url)});
        return node;
    }

    std::int64_t age = 3;
    std::uint64_t pace = 1;
    std::uint64_t head = 100;
    std::map<std::string, Answer> returns;   // by selector
    std::map<std::string, Answer> versions;  // by contract
    std::string paused;                      // this contract
    std::map<std::string, Answer> at_url;    // eth_chainId
    std::optional<std::string> subscription_trouble;
    chains::evm::Options options;
    support::VirtualClock clock;
    chains::evm::Nodes nodes;
    ScriptedNode* write = nullptr;
    ScriptedNode* read = nullptr;
    ScriptedNode* host = nullptr;
    ScriptedNode* protocol = nullptr;
    ScriptedNode* listener = nullptr;  // the last
};

const chains::diagnosis::Finding* find(const std::vector<chains::diagnosis::Finding>& findings,
                                       const std::string& subject) {
    for (const chains::diagnosis::Finding& finding : findings) {
        if (finding.subject == subject) return &finding;
    }
    return nullptr;
}

const TransportError refused{TransportError::Kind::unsent, "connection refused", {}};

}  // namespace

TEST_CASE("of several keys each is looked at, and what is found says whose it is") {
    Clinic clinic;
    TestSigner second;
    second.account = support::address(0x52);
    TestSigner third;
    third.account.reset();
    third.upkeep.problem = chains::evm::SignProblem{"no route", true};
    clinic.signers = {&clinic.signer, &second, &third};
    clinic.options.signers.assign(3, clinic.options.signer);
    clinic.options.signers[1].low_balance = ~chains::jsonrpc::Wei{0};
    const auto findings = clinic.look();
    for (const auto& [subject, verdict] :
         {std::pair{"signing of signers[0]", Verdict::ok},
          std::pair{"signer of signers[0]", Verdict::ok},
          std::pair{"signer nonce of signers[0]", Verdict::ok},
          std::pair{"fee token allowance of signers[0]", Verdict::ok},
          std::pair{"signer of signers[1]", Verdict::warning},
          std::pair{"fee token balance of signers[1]", Verdict::ok},
          std::pair{"signing of signers[2]", Verdict::failed},
          std::pair{"signer of signers[2]", Verdict::warning}}) {
        CAPTURE(subject);
        const auto* finding = find(findings, subject);
        REQUIRE(finding != nullptr);
        CHECK(finding->verdict == verdict);
    }
    CHECK(find(findings, "signing") == nullptr);
    CHECK(find(findings, "signer of signers[1]")->text.find(hex_address(0x52)) == 0);
}

TEST_CASE("of a deployment that is well everything is said to be well") {
    Clinic clinic;
    const auto findings = clinic.look();
    for (const chains::diagnosis::Finding& finding : findings) {
        CAPTURE(finding.subject);
        CAPTURE(finding.text);
        CHECK(finding.verdict == Verdict::ok);
        CHECK(finding.text.find('\n') == std::string::npos);
    }
    for (const char* subject : {"gateway write node",
                                "gateway read node",
                                "listener 0",
                                "listener 1",
                                "listener 0 logs",
                                "listener 1 logs",
                                "listener 1 subscription",
                                "host chain 8009 node",
                                "host chain 9000 node",
                                "host chain 8009 access list",
                                "protocol node",
                                "eth_sendRawTransactionSync",
                                "decryption contract",
                                "input verification contract",
                                "protocol config contract",
                                "kms generation contract",
                                "signing",
                                "signer",
                                "signer nonce",
                                "clock",
                                "fee token balance",
                                "fee token allowance",
                                "key material",
                                "threshold"}) {
        CAPTURE(subject);
        CHECK(find(findings, subject) != nullptr);
    }
    CHECK(find(findings, "threshold")->text == "9 shares complete a user decryption");
    CHECK(find(findings, "signer")->text ==
          chains::jsonrpc::hex(support::address(0x51)) + " has 1 for gas");
    CHECK(find(findings, "signing")->text == chains::jsonrpc::hex(support::address(0x51)) +
                                                 " signed a probe in 0 ms; it was not sent");
}

TEST_CASE("a signer that does not sign is said, and what hangs on its address is left out") {
    Clinic clinic;
    clinic.signer.result = chains::evm::SignProblem{
        "kms:Sign: AccessDeniedException, the credential may not do it with this key"};
    auto findings = clinic.look();
    CHECK(find(findings, "signing")->verdict == Verdict::failed);
    CHECK(find(findings, "signing")->text ==
          chains::jsonrpc::hex(support::address(0x51)) +
              " signs nothing: kms:Sign: AccessDeniedException, the credential may not do it with "
              "this key");
    CHECK(find(findings, "signer")->verdict == Verdict::ok);
    clinic.signer.account.reset();
    clinic.signer.upkeep.problem = chains::evm::SignProblem{"kms:GetPublicKey: no route", true};
    findings = clinic.look();
    CHECK(find(findings, "signing")->text == "kms:GetPublicKey: no route");
    CHECK(find(findings, "signer")->text == "not checked: see signing");
    CHECK(find(findings, "fees")->text == "not checked: see signing");
    CHECK(find(findings, "clock")->verdict == Verdict::ok);
}

TEST_CASE("what lets us in to a signer is said, and what it may do") {
    using chains::evm::SignProblem;
    struct Row {
        std::optional<chains::evm::Signer::Credential> credential;
        std::optional<Verdict> verdict;
        const char* text;
    };
    for (const Row& row : std::vector<Row>{
             {std::nullopt, std::nullopt, ""},
             {{{"", {}}},
              Verdict::warning,
              "none: whoever reaches the signer can have transactions signed; see token_file and "
              "client_certificate_file"},
             {{{"a bearer token", {}}}, Verdict::ok, "a bearer token"},
             {{{"that of the profile", {{"kms:GetPublicKey", {}}, {"kms:Sign", {}}}}},
              Verdict::ok,
              "that of the profile; it may kms:GetPublicKey, kms:Sign"},
             {{{"that of the profile",
                {{"kms:GetPublicKey", SignProblem{"kms:GetPublicKey: denied"}}, {"kms:Sign", {}}}}},
              Verdict::failed,
              "that of the profile; it may kms:Sign; kms:GetPublicKey: denied"},
             {{{"that of the profile",
                {{"kms:GetPublicKey", SignProblem{"kms:GetPublicKey: denied"}},
                 {"kms:Sign", SignProblem{"kms:Sign: denied"}}}}},
              Verdict::failed,
              "that of the profile; kms:GetPublicKey: denied; kms:Sign: denied"},
         }) {
        CAPTURE(row.text);
        Clinic clinic;
        clinic.signer.credential = row.credential;
        const auto findings = clinic.look();
        const auto* finding = find(findings, "signer's credential");
        REQUIRE((finding != nullptr) == row.verdict.has_value());
        if (finding == nullptr) continue;
        CHECK(finding->verdict == row.verdict);
        CHECK(finding->text == row.text);
    }
}

TEST_CASE("what is not well is said, with what to do") {
    struct Row {
        const char* label;
        std::function<void(Clinic&)> spoil;
        const char* subject;
        Verdict verdict;
        const char* part;
    };
    const auto says = [](ScriptedNode* Clinic::*node, const char* method, Answer answer) {
        return [=](Clinic& clinic) { (clinic.*node)->say(method, {answer}); };
    };
    const auto returning = [](const domain::Bytes& call, Answer answer) {
        return [=](Clinic& clinic) { clinic.returns[selector_of(call)] = answer; };
    };
    const auto aged = [](std::int64_t age, std::uint64_t pace) {
        return [=](Clinic& clinic) {
            clinic.age = age;
            clinic.pace = pace;
        };
    };
    const Row rows[] = {
        {"write node down", says(&Clinic::write, "eth_chainId", refused), "gateway write node",
         Verdict::failed, "no answer (connection refused): check its URL and that it runs"},
        {"write node down: the rest", says(&Clinic::write, "eth_chainId", refused),
         "gateway contracts, signer and clock", Verdict::warning, "not checked"},
        {"no node at all", says(&Clinic::write, "eth_chainId", NodeError{-32601, "what", {}}),
         "gateway write node", Verdict::failed, "is it an Ethereum JSON-RPC node?"},
        {"garbled chain id", says(&Clinic::read, "eth_chainId", Json(1)), "gateway read node",
         Verdict::failed, "malformed"},
        {"wrong chain", says(&Clinic::read, "eth_chainId", Json("0x1")), "gateway read node",
         Verdict::failed, "chain id is 1, the configuration says 654321"},
        {"wrong chain: fees", says(&Clinic::read, "eth_chainId", Json("0x1")), "fees",
         Verdict::warning, "not checked"},
        {"wrong host chain", says(&Clinic::host, "eth_chainId", Json("0x2")),
         "host chain 8009 node", Verdict::failed, "chain id is 2, the configuration says 8009"},
        {"host without a node", [](Clinic& clinic) { clinic.nodes.hosts.erase(9000); },
         "host chain 9000", Verdict::failed, "no node"},
        {"second listener down", says(&Clinic::listener, "eth_chainId", refused), "listener 1",
         Verdict::failed, "connection refused"},
        {"listener on another chain", says(&Clinic::listener, "eth_chainId", Json("0x5")),
         "listener 1", Verdict::failed, "the configuration says 654321"},
        {"no listeners", [](Clinic& clinic) { clinic.nodes.listeners.clear(); }, "listeners",
         Verdict::failed, "none is configured"},
        {"logs forbidden",
         says(&Clinic::listener, "eth_getLogs", NodeError{-32601, "not allowed", {}}),
         "listener 1 logs", Verdict::failed, "allow it"},
        {"logs are null", says(&Clinic::listener, "eth_getLogs", Json(nullptr)), "listener 1 logs",
         Verdict::failed, "malformed"},
        {"no subscription",
         [](Clinic& clinic) { clinic.subscription_trouble = "connection closed"; },
         "listener 1 subscription", Verdict::warning,
         "none (connection closed): answers are found by polling only"},
        {"no head", says(&Clinic::listener, "eth_blockNumber", refused), "listener 1 logs",
         Verdict::failed, "no answer"},
        {"protocol node down", says(&Clinic::protocol, "eth_chainId", refused), "protocol node",
         Verdict::failed, "no answer"},
        {"protocol node down: the rest", says(&Clinic::protocol, "eth_chainId", refused),
         "protocol contracts, key material and threshold", Verdict::warning, "not checked"},

        {"no sync send",
         says(&Clinic::write, "eth_sendRawTransactionSync", NodeError{-32601, "?", {}}),
         "eth_sendRawTransactionSync", Verdict::warning, "receipts will be polled"},
        {"no sync send, in words",
         says(&Clinic::write, "eth_sendRawTransactionSync",
              NodeError{-32000, "the method x is not available", {}}),
         "eth_sendRawTransactionSync", Verdict::warning, "receipts will be polled"},
        {"sync send: another refusal",
         says(&Clinic::write, "eth_sendRawTransactionSync",
              NodeError{-32000, "transaction type not supported", {}}),
         "eth_sendRawTransactionSync", Verdict::ok, "supported"},
        {"sync send: no answer", says(&Clinic::write, "eth_sendRawTransactionSync", refused),
         "eth_sendRawTransactionSync", Verdict::warning, "not checked"},

        {"no decryption contract", says(&Clinic::write, "eth_getCode", Json(empty)),
         "decryption contract", Verdict::failed,
         "no contract at 0xdddddddddddddddddddddddddddddddddddddddd"},
        {"zero address", [](Clinic& clinic) { clinic.options.input_verification = {}; },
         "input verification contract", Verdict::failed, "its address is zero"},
        {"zero access list", [](Clinic& clinic) { clinic.options.host_chains[1].acl = {}; },
         "host chain 9000 access list", Verdict::failed, "its address is zero"},
        {"no access list", says(&Clinic::host, "eth_getCode", Json(empty)),
         "host chain 8009 access list", Verdict::failed, "check the address and the chain"},
        {"zero protocol config",
         [](Clinic& clinic) { clinic.options.protocol_config.address = {}; },
         "protocol config contract", Verdict::failed, "its address is zero"},
        {"zero kms generation", [](Clinic& clinic) { clinic.options.key_urls.kms_generation = {}; },
         "kms generation contract", Verdict::failed, "its address is zero"},
        {"decryption and input swapped",
         [](Clinic& clinic) {
             std::swap(clinic.options.decryption, clinic.options.input_verification);
         },
         "decryption contract", Verdict::failed,
         "stands InputVerification v0.6.0, not Decryption: correct the address"},
        {"input and decryption swapped",
         [](Clinic& clinic) {
             std::swap(clinic.options.decryption, clinic.options.input_verification);
         },
         "input verification contract", Verdict::failed,
         "stands Decryption v0.7.0, not InputVerification"},
        {"the protocol config as access list",
         [](Clinic& clinic) { clinic.options.host_chains[0].acl = support::address(0x62); },
         "host chain 8009 access list", Verdict::failed, "stands ProtocolConfig v0.2.0, not ACL"},
        {"a replica of the protocol config",
         [](Clinic& clinic) { clinic.say_version(0x62, "ProtocolConfigReplica v0.1.0"); },
         "protocol config contract", Verdict::failed,
         "stands ProtocolConfigReplica v0.1.0, not ProtocolConfig"},
        {"another kms generation",
         [](Clinic& clinic) { clinic.say_version(0x61, "ACL v0.5.0"); }, "kms generation contract",
         Verdict::failed, "not KMSGeneration"},
        {"another payment contract",
         [](Clinic& clinic) { clinic.say_version(0xfe, "Decryption v0.7.0"); },
         "ProtocolPayment contract", Verdict::failed, "not ProtocolPayment"},
        {"a contract that does not say what it is",
         [](Clinic& clinic) { clinic.versions.erase(hex_address(0xdd)); }, "decryption contract",
         Verdict::warning, "does not say what it is (getVersion): make sure that it is Decryption"},
        {"a version that is none", [](Clinic& clinic) { clinic.say_version(0xdd, "Decryption"); },
         "decryption contract", Verdict::warning, "does not say what it is"},
        {"a version of control characters",
         [](Clinic& clinic) { clinic.say_version(0xdd, "Decryption v\n\x1b[2J"); },
         "decryption contract", Verdict::warning, "does not say what it is"},
        {"a version without end",
         [](Clinic& clinic) { clinic.say_version(0xdd, std::string(5'000, 'x') + " v1"); },
         "decryption contract", Verdict::warning, "does not say what it is"},
        {"a version nobody answers",
         [](Clinic& clinic) { clinic.versions[hex_address(0xdd)] = refused; },
         "decryption contract", Verdict::failed, "which contract is not known"},
        {"not paused", [](Clinic&) {}, "decryption contract", Verdict::ok,
         "0xdddddddddddddddddddddddddddddddddddddddd, Decryption v0.7.0, not paused"},
        {"decryption is paused", [](Clinic& clinic) { clinic.paused = hex_address(0xdd); },
         "decryption contract", Verdict::failed, "paused: requests fail"},
        {"input verification is paused", [](Clinic& clinic) { clinic.paused = hex_address(0xee); },
         "input verification contract", Verdict::failed, "paused: requests fail"},
        {"an access list is paused", [](Clinic& clinic) { clinic.paused = hex_address(0xac); },
         "host chain 8009 access list", Verdict::warning, "nobody is given access"},
        {"a contract that can not be paused",
         [](Clinic& clinic) { clinic.returns.erase(selector_of(getter(Getter::paused))); },
         "decryption contract", Verdict::ok, "Decryption v0.7.0"},
        {"another threshold is configured",
         [](Clinic& clinic) { clinic.options.shares_threshold = 5; }, "threshold",
         Verdict::warning,
         "9 shares complete a user decryption, the configuration says 5: set "
         "gateway.contracts.user_decrypt_shares_threshold to 9"},

        {"garbled code", says(&Clinic::write, "eth_getCode", Json(nullptr)), "decryption contract",
         Verdict::failed, "malformed"},

        {"empty account", says(&Clinic::write, "eth_getBalance", Json("0x0")), "signer",
         Verdict::failed, "has no coins for gas"},
        {"little", says(&Clinic::write, "eth_getBalance", Json("0xf423f")), "signer",
         Verdict::warning, "has 0.000000000000999999 for gas, less than 0.000000000001"},
        {"just enough", says(&Clinic::write, "eth_getBalance", Json("0xf4240")), "signer",
         Verdict::ok, "has 0.000000000001 for gas"},
        {"garbled balance", says(&Clinic::write, "eth_getBalance", Json("much")), "signer",
         Verdict::failed, "malformed"},
        {"transactions wait",
         [](Clinic& clinic) {
             clinic.write->say("eth_getTransactionCount", {Json("0x5"), Json("0x8")});
         },
         "signer nonce", Verdict::warning, "3 of its transactions wait behind 5"},
        {"a node that lags",
         [](Clinic& clinic) {
             clinic.write->say("eth_getTransactionCount", {Json("0x5"), Json("0x4")});
         },
         "signer nonce", Verdict::ok, "nothing waits"},
        {"no nonce", says(&Clinic::write, "eth_getTransactionCount", refused), "signer nonce",
         Verdict::failed, "no answer"},

        {"no address of the payment contract",
         [](Clinic& clinic) { clinic.options.protocol_payment.reset(); }, "fee token",
         Verdict::warning, "not checked"},
        {"no address of the token", [](Clinic& clinic) { clinic.options.fee_token.reset(); },
         "fee token", Verdict::warning, "not checked"},
        {"no payment contract", says(&Clinic::read, "eth_getCode", Json(empty)),
         "ProtocolPayment contract", Verdict::failed, "no contract"},
        {"prices refused",
         [](Clinic& clinic) {
             clinic.returns.erase(selector_of(getter(Getter::user_decryption_price)));
         },
         "prices", Verdict::failed, "check the address of ProtocolPayment"},
        {"too few tokens", [](Clinic& clinic) { clinic.returns["0x70a08231"] = hex_word(29); },
         "fee token balance", Verdict::failed,
         "the dearest request costs 0.00000000000000003: send"},
        {"no allowance", [](Clinic& clinic) { clinic.returns["0xdd62ed3e"] = hex_word(0); },
         "fee token allowance", Verdict::failed,
         "0, the dearest request costs 0.00000000000000003: approve "
         "0xfefefefefefefefefefefefefefefefefefefefe as a spender of token "
         "0xf0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0"},
        {"unending allowance", [](Clinic&) {}, "fee token allowance", Verdict::ok,
         "more than 10^20, the dearest request costs 0.00000000000000003; token "
         "0xf0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0, spender "
         "0xfefefefefefefefefefefefefefefefefefefefe"},
        {"a token that is none", [](Clinic& clinic) { clinic.returns["0x70a08231"] = empty; },
         "fee token balance", Verdict::failed, "check the address of the fee token"},

        {"30 s old", aged(30, 1), "clock", Verdict::ok, "30 s old"},
        {"31 s old", aged(31, 1), "clock", Verdict::warning, "this clock is fast"},
        {"300 s old", aged(300, 1), "clock", Verdict::warning, "this clock is fast"},
        {"301 s old", aged(301, 1), "clock", Verdict::failed, "this clock is fast"},
        {"301 s old, rare blocks", aged(301, 60), "clock", Verdict::warning, "mines rarely"},
        {"genesis only",
         [](Clinic& clinic) {
             clinic.age = 4'000;
             clinic.head = 0;
         },
         "clock", Verdict::warning, "mines rarely"},
        {"30 s ahead", aged(-30, 1), "clock", Verdict::ok, "old"},
        {"31 s ahead", aged(-31, 1), "clock", Verdict::warning, "31 s in the future"},
        {"301 s ahead", aged(-301, 60), "clock", Verdict::failed, "this clock is slow"},
        {"no block", says(&Clinic::write, "eth_getBlockByNumber", Json(nullptr)), "clock",
         Verdict::failed, "malformed"},

        {"no key", returning(getter(Getter::active_key_id), Json(hex_word(0))), "key material",
         Verdict::failed, "no key is active"},
        {"no CRS", returning(getter(Getter::active_crs_id), Json(hex_word(0))), "key material",
         Verdict::failed, "no CRS is active"},
        {"not finalized", returning(getter(Getter::active_key_id), Json(empty)), "key material",
         Verdict::failed, "not in a finalized block yet"},
        {"short answer", returning(getter(Getter::active_key_id), Json("0x01")), "key material",
         Verdict::failed, "check the address"},
        {"key reverts", returning(getter(Getter::active_key_id), NodeError{3, "reverted", {}}),
         "key material", Verdict::failed, "eth_call is refused"},
        {"no context", returning(getter(Getter::current_kms_context_and_epoch), Json(empty)),
         "threshold", Verdict::failed, "not in a finalized block yet"},
        {"threshold reverts", [](Clinic& clinic) { clinic.returns.erase("0x281e8bfe"); },
         "threshold", Verdict::failed, "eth_call is refused"},
        {"threshold 0", [](Clinic& clinic) { clinic.returns["0x281e8bfe"] = hex_word(0); },
         "threshold", Verdict::failed, "none that is usable"},
        {"threshold 2^32",
         [](Clinic& clinic) { clinic.returns["0x281e8bfe"] = hex_word(std::uint64_t{1} << 32U); },
         "threshold", Verdict::failed, "none that is usable"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Clinic clinic;
        row.spoil(clinic);
        const auto findings = clinic.look();
        const chains::diagnosis::Finding* finding = find(findings, row.subject);
        REQUIRE(finding != nullptr);
        CAPTURE(finding->text);
        CHECK(finding->verdict == row.verdict);
        CHECK(finding->text.find(row.part) != std::string::npos);
        for (const chains::diagnosis::Finding& each : findings) {
            for (const char* secret : {"k3y", "SECRET", "TOKEN", "http"}) {
                CHECK(each.text.find(secret) == std::string::npos);
            }
        }
    }
}

TEST_CASE("nothing is asked of a node that does not answer, and nothing is sent") {
    Clinic clinic;
    clinic.write->say("eth_chainId", {refused});
    clinic.protocol->say("eth_chainId", {refused});
    static_cast<void>(clinic.look());
    CHECK(clinic.write->calls.size() == 1);
    CHECK(clinic.protocol->calls.size() == 1);
    CHECK(clinic.read->calls.size() > 5);

    Clinic well;
    static_cast<void>(well.look());
    for (const auto& call : well.write->calls) {
        if (call.method.starts_with("eth_send")) CHECK(call.params == Json::array({empty}));
    }
}

TEST_CASE("key material is looked for in finalized blocks, the threshold in the latest") {
    Clinic clinic;
    static_cast<void>(clinic.look());
    std::map<std::string, std::string> blocks;
    for (const auto& call : clinic.protocol->calls) {
        if (call.method != "eth_call") continue;
        blocks[call.params[0]["input"].get<std::string>().substr(0, 10)] = call.params[1];
    }
    CHECK(blocks[selector_of(getter(Getter::active_key_id))] == "finalized");
    CHECK(blocks[selector_of(getter(Getter::active_crs_id))] == "finalized");
    CHECK(blocks["0x281e8bfe"] == "latest");
}

TEST_CASE("of several URLs of one role each is looked at, and none is printed") {
    Clinic clinic;
    const std::string good = "http://u:k3y@one/SECRET";
    const std::string down = "http://u:k3y@two/SECRET";
    const std::string wrong = "http://u:k3y@three/SECRET";
    clinic.at_url = {{good, Json("0x9fbf1")}, {down, refused}, {wrong, Json("0x1")}};
    clinic.options.write_urls = {good, down, wrong};
    clinic.options.read_urls = clinic.options.write_urls;  // as it is when none is configured
    clinic.options.host_chains[0].urls = {wrong, down};
    clinic.options.protocol_config.urls = {down, wrong};
    const auto findings = clinic.look();
    const auto verdict = [&](const char* subject) {
        CAPTURE(subject);
        const chains::diagnosis::Finding* finding = find(findings, subject);
        REQUIRE(finding != nullptr);
        return finding->verdict;
    };
    CHECK(verdict("gateway write node") == Verdict::ok);
    CHECK(verdict("gateway write node, URL 1") == Verdict::ok);
    CHECK(verdict("gateway write node, URL 2") == Verdict::failed);
    CHECK(verdict("gateway write node, URL 3") == Verdict::failed);
    CHECK(verdict("host chain 8009 node, URL 1") == Verdict::failed);
    CHECK(verdict("host chain 8009 node, URL 2") == Verdict::failed);
    CHECK(verdict("protocol node, URL 1") == Verdict::failed);
    CHECK(verdict("protocol node, URL 2") == Verdict::ok);  // any chain will do
    CHECK(find(findings, "gateway read node, URL 1") == nullptr);
    for (const chains::diagnosis::Finding& finding : findings) {
        for (const char* secret : {"k3y", "SECRET", "http", "three"}) {
            CHECK((finding.subject + finding.text).find(secret) == std::string::npos);
        }
    }
}
