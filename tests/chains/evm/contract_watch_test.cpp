#include "chains/evm/contract_watch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/replies.hpp"
#include "chains/evm/scripted_node.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "support/requests.hpp"
#include "support/virtual_time.hpp"

using chains::evm::ContractWatch;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using support::address;
using namespace std::chrono_literals;

namespace {

const TransportError silence{TransportError::Kind::unsent, "connection refused", {}};
const NodeError missing{3, "execution reverted", domain::Bytes{}};

// Every contract where it belongs.
struct Deployment {
    Deployment() {
        options.decryption = address(0xdd);
        options.input_verification = address(0xee);
        options.protocol_payment = address(0xfe);
        options.host_chains = {{8009, {}, address(0xac)}, {9000, {}, address(0xad)}};
        options.key_urls.kms_generation = address(0x61);
        options.protocol_config.address = address(0x62);
        read = &add(nodes.read, "0x9fbf1");
        add(nodes.protocol, "0x1");
        host = &add(nodes.hosts[8009], "0x1f49");
        add(nodes.hosts[9000], "0x2328");
        say(0xdd, "Decryption v0.7.0");
        say(0xee, "InputVerification v0.6.0");
        say(0xfe, "ProtocolPayment v0.1.0");
        say(0xac, "ACL v0.5.0");
        say(0xad, "ACL v0.4.0");
        say(0x61, "KMSGeneration v0.5.0");
        say(0x62, "ProtocolConfig v0.2.0");
    }

    support::ScriptedNode& add(std::unique_ptr<chains::jsonrpc::Node>& place, const char* chain) {
        auto node = std::make_unique<support::ScriptedNode>();
        node->say("eth_chainId", {Json(chain)});
        node->on["eth_call"] = [this](const Json& params) -> Answer {
            const auto found = says.find(params[0]["to"]);
            return found == says.end() ? Answer{missing} : found->second;
        };
        place = std::move(node);
        return static_cast<support::ScriptedNode&>(*place);
    }

    void say(std::uint8_t contract, std::string_view version) {
        set(contract, Json(chains::jsonrpc::hex(replies::tuple({replies::text(version)}))));
    }
    void set(std::uint8_t contract, Answer answer) {
        says[chains::jsonrpc::hex(address(contract))] = std::move(answer);
    }

    void start() {
        watch.emplace(options, nodes, executor, logger);
        watch->start();
        run_for(1s);
    }
    void run_for(domain::Nanoseconds time) { executor.run_for(time); }

    [[nodiscard]] std::vector<std::string> failing() const {
        std::vector<std::string> names;
        for (const engine::Dependency& one : watch->dependencies()) {
            CHECK_FALSE(one.ok);
            names.push_back(one.name);
        }
        return names;
    }

    std::map<std::string, Answer> says;  // by contract
    chains::evm::Options options;
    chains::evm::Nodes nodes;
    support::ScriptedNode* read = nullptr;
    support::ScriptedNode* host = nullptr;
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::RecordingLogger logger;
    std::optional<ContractWatch> watch;
};

using Names = std::vector<std::string>;

TEST_CASE("contracts in their places are nothing to speak of") {
    Deployment deployment;
    deployment.start();
    CHECK(deployment.failing().empty());
    CHECK(deployment.watch->has_published_decryption() == true);
    CHECK(deployment.logger.lines().empty());
}

TEST_CASE("what stands in the wrong place is said, in the log and in health") {
    struct Row {
        const char* label;
        std::uint8_t contract;
        const char* says;
        const char* dependency;
        const char* line;
    };
    const Row rows[]{
        {"input as decryption", 0xdd, "InputVerification v0.6.0", "gateway_contracts",
         "expected=\"Decryption\" found=\"InputVerification v0.6.0\""},
        {"decryption as input", 0xee, "Decryption v0.7.0", "gateway_contracts",
         "expected=\"InputVerification\" found=\"Decryption v0.7.0\""},
        {"payment", 0xfe, "ACL v0.5.0", "gateway_contracts", "expected=\"ProtocolPayment\""},
        {"protocol config as access list", 0xac, "ProtocolConfig v0.2.0", "host_chain_8009",
         "expected=\"ACL of host_chain_8009\" found=\"ProtocolConfig v0.2.0\""},
        {"a replica", 0x62, "ProtocolConfigReplica v0.1.0", "protocol_contracts",
         "found=\"ProtocolConfigReplica v0.1.0\""},
        {"kms", 0x61, "ProtocolConfig v0.2.0", "protocol_contracts", "expected=\"KMSGeneration\""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Deployment deployment;
        deployment.say(row.contract, row.says);
        deployment.start();
        CHECK(deployment.failing() == Names{row.dependency});
        CHECK(deployment.logger.count(row.line) == 1);
        deployment.run_for(11min);
        CHECK(deployment.logger.count("misplaced_contract") == 1);
    }
}

TEST_CASE("a host node on another chain, until it is on the right one") {
    Deployment deployment;
    deployment.host->say("eth_chainId", {Json("0x1"), Json("0x1f49")});
    deployment.start();
    CHECK(deployment.failing() == Names{"host_chain_8009"});
    CHECK(deployment.logger.count("found=\"chain 1\"") == 1);
    deployment.run_for(6min);
    CHECK(deployment.failing().empty());
    CHECK(deployment.logger.count("misplaced_contract_recovered") == 1);
}

TEST_CASE("one dependency is named once, whatever is wrong with it") {
    Deployment deployment;
    deployment.say(0xdd, "InputVerification v0.6.0");
    deployment.say(0xee, "Decryption v0.7.0");
    deployment.start();
    CHECK(deployment.failing() == Names{"gateway_contracts"});
    CHECK(deployment.watch->has_published_decryption() == false);
}

TEST_CASE("a contract that does not say what it is may be a stand-in") {
    for (const Answer& says :
         {Answer{missing}, Answer{Json("0x")}, Answer{Json("0x01")},
          Answer{NodeError{-32'000, "execution reverted", domain::Bytes{1, 2, 3, 4}}}}) {
        Deployment deployment;
        deployment.set(0xdd, says);
        deployment.start();
        CHECK(deployment.failing().empty());
        CHECK(deployment.watch->has_published_decryption() == false);
    }
}

TEST_CASE("who does not answer is asked again soon, and nothing is said of it") {
    for (const Answer& trouble :
         {Answer{silence}, Answer{Json(1)}, Answer{NodeError{-32'005, "too many requests", {}}},
          Answer{NodeError{-32'000, "header not found", {}}}}) {
        Deployment deployment;
        const Answer well = deployment.says.at(chains::jsonrpc::hex(address(0xdd)));
        deployment.set(0xdd, trouble);
        deployment.start();
        CHECK_FALSE(deployment.watch->has_published_decryption());
        CHECK(deployment.failing().empty());
        deployment.set(0xdd, well);
        deployment.run_for(16s);
        CHECK(deployment.watch->has_published_decryption() == true);
        const std::size_t calls = deployment.read->calls.size();
        deployment.run_for(4min);
        CHECK(deployment.read->calls.size() == calls);
    }
}

TEST_CASE("nothing is asked once stopped") {
    Deployment deployment;
    deployment.start();
    deployment.watch->stop();
    const std::size_t calls = deployment.read->calls.size();
    deployment.run_for(1h);
    CHECK(deployment.read->calls.size() == calls);
}

}  // namespace
