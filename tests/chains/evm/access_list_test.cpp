#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "chains/evm/readiness_world.hpp"
#include "domain/keccak.hpp"
#include "support/requests.hpp"

// The host chains' part of a readiness check (evm-gateway 7.2).

namespace {

using namespace readiness_world;
using namespace std::chrono_literals;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Bytes;
using domain::Reason;
using support::address;
using support::handle;

TEST_CASE("each kind asks its questions of the access list, then whether it is ready") {
    struct Row {
        std::string label;
        domain::Request request;
        std::vector<std::string> questions;
        std::string readiness;
    };
    const std::vector<Row> rows{
        {"public",
         domain::PublicDecrypt{{handle(1), handle(2)}, {0}},
         {"c0d02943", "c0d02943"},
         "4014c4cd"},
        {"user", support::user_decrypt(1), {"82027b6d", "82027b6d"}, "e22d1b26"},
        {"delegated", support::delegated_user_decrypt(1), {"d09c0dee"}, "e22d1b26"},
        {"unified, own", owned_by_user(1), {"82027b6d"}, "e22d1b26"},
        {"unified, of another", support::unified_user_decrypt(1), {"d09c0dee"}, "e22d1b26"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ReadinessHarness world;
        CHECK(is<engine::Ready>(world.outcome(row.request)));

        // What the key servers ask of unified requests has tests of its own.
        const bool unified = domain::kind_of(row.request) == domain::Kind::unified_user_decrypt;
        REQUIRE(world.host().calls.size() == (unified ? 2 : 1));
        const Json& asked = world.host().calls[0].params;
        CHECK(world.host().calls[0].method == "eth_call");
        CHECK(asked.at(0).at("to") == "0x" + domain::to_hex(address(0xa1)));
        CHECK(asked.at(0).size() == 3);
        CHECK(asked.at(0).at("data") == asked.at(0).at("input"));
        CHECK(asked.at(1) == "latest");
        CHECK(selector(replies::input_of(asked)) == "ac9650d8");
        std::vector<std::string> questions;
        for (const Bytes& call : inner_calls(asked)) questions.push_back(selector(call));
        CHECK(questions == row.questions);

        REQUIRE(world.read.calls.size() == 1);
        const Json& gateway_asked = world.read.calls[0].params;
        CHECK(gateway_asked.at(0).at("to") == "0x" + domain::to_hex(address(0xd0)));
        CHECK(gateway_asked.at(1) == "latest");
        CHECK(selector(replies::input_of(gateway_asked)) == row.readiness);
        CHECK(world.host(second_chain).calls.empty());
    }
}

TEST_CASE("T-053, T-074: what the access list refuses fails with every refused question") {
    const std::string user = domain::checksummed(address(0xbb));
    const std::string contract = domain::checksummed(address(0xaa));
    const std::string owner = domain::checksummed(address(0xee));
    const std::string one = "handle=0x" + domain::to_hex(handle(1)) + " check=";
    struct Row {
        std::string label;
        domain::Request request;
        std::string text;
    };
    const std::vector<Row> rows{
        {"public", public_of({handle(1)}), "1 handle(s): " + one + "isAllowedForDecryption"},
        {"user", support::user_decrypt(1),
         "2 handle(s): " + one + "isAllowed(user " + user + "), " + one + "isAllowed(contract " +
             contract + ")"},
        {"delegated", support::delegated_user_decrypt(1),
         "1 handle(s): " + one + "isHandleDelegatedForUserDecryption"},
        {"unified, own", owned_by_user(1), "1 handle(s): " + one + "isAllowed(user " + user + ")"},
        {"unified, of another", support::unified_user_decrypt(1),
         "1 handle(s): " + one + "isHandleDelegatedForUserDecryption(owner " + owner + ", user " +
             user + ")"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        ReadinessHarness world;
        world.host().on["eth_call"] = access_list({handle(1)});
        const domain::Failure failure = world.rejection(row.request);
        CHECK(failure.reason == Reason::host_acl_refused);
        CHECK(failure.text == "Not allowed on host ACL: ACL check failed for " + row.text);
        CHECK(!failure.selector);
        const bool unified = domain::kind_of(row.request) == domain::Kind::unified_user_decrypt;
        CHECK(world.host().calls.size() == (unified ? 2 : 1));
        CHECK(world.read.calls.empty());
    }
}

TEST_CASE("T-055, T-075: of several handles the refused ones are named") {
    const domain::Request request = public_of({handle(1), handle(2), handle(3)});
    {
        ReadinessHarness world;
        CHECK(is<engine::Ready>(world.outcome(request)));
    }
    for (const auto& refused : std::vector<std::vector<domain::Bytes32>>{
             {handle(1), handle(3)}, {handle(1), handle(2), handle(3)}, {handle(2)}}) {
        CAPTURE(refused.size());
        ReadinessHarness world;
        world.host().on["eth_call"] = access_list(refused);
        std::string text = "Not allowed on host ACL: ACL check failed for " +
                           std::to_string(refused.size()) + " handle(s):";
        for (const auto& one : refused) {
            text += (one == refused.front() ? " handle=0x" : ", handle=0x") + domain::to_hex(one) +
                    " check=isAllowedForDecryption";
        }
        CHECK(world.rejection(request).text == text);
    }
}

TEST_CASE("T-056, T-076: every host chain is asked once, refusals of all make one text") {
    const domain::Request request =
        public_of({handle(1, second_chain), handle(2, first_chain), handle(3, second_chain)});
    {
        ReadinessHarness world;
        CHECK(is<engine::Ready>(world.outcome(request)));
        CHECK(world.host(first_chain).calls.size() == 1);
        CHECK(world.host(second_chain).calls.size() == 1);
        CHECK(inner_calls(world.host(second_chain).calls[0].params).size() == 2);
    }
    ReadinessHarness world;
    world.host(first_chain).on["eth_call"] = access_list({handle(2, first_chain)});
    world.host(second_chain).on["eth_call"] =
        access_list({handle(1, second_chain), handle(3, second_chain)});
    const std::string text = world.rejection(request).text;
    CHECK(text ==
          "Not allowed on host ACL: ACL check failed for 3 handle(s): handle=0x" +
              domain::to_hex(handle(1, second_chain)) + " check=isAllowedForDecryption, handle=0x" +
              domain::to_hex(handle(2, first_chain)) + " check=isAllowedForDecryption, handle=0x" +
              domain::to_hex(handle(3, second_chain)) + " check=isAllowedForDecryption");
}

TEST_CASE("T-054: an access list that answers with errors is asked three times, a second apart") {
    for (const NodeError& error :
         {NodeError{-32000, "out of gas", {}}, NodeError{3, "execution reverted", Bytes{}},
          NodeError{-32601, "the method eth_call does not exist", {}}}) {
        CAPTURE(error.message);
        ReadinessHarness world;
        std::vector<domain::Monotonic> times;
        world.host().on["eth_call"] = [&](const Json&) -> chains::jsonrpc::Answer {
            times.push_back(world.clock.monotonic());
            return error;
        };
        const domain::Monotonic start = world.clock.monotonic();
        const domain::Failure failure = world.rejection(support::user_decrypt(1));
        CHECK(failure.reason == Reason::host_acl_failed);
        CHECK(failure.text.starts_with("Host ACL check failed: Host chain 8009 call failed: "));
        CHECK(failure.text.size() >
              std::string("Host ACL check failed: Host chain 8009 call failed: ").size());
        CHECK(!failure.selector);
        CHECK(times == std::vector{start, start + 1s, start + 2s});
        CHECK(world.read.calls.empty());
    }
}

TEST_CASE("an access list that answers in the end is enough") {
    ReadinessHarness world;
    world.host().on["eth_call"] = [tries =
                                       0](const Json& params) mutable -> chains::jsonrpc::Answer {
        if (++tries < 3) return NodeError{-32000, "out of gas", {}};
        return access_list()(params);
    };
    CHECK(is<engine::Ready>(world.outcome(support::user_decrypt(1))));
    CHECK(world.host().calls.size() == 3);
}

TEST_CASE("each chain of a request has tries of its own, and settled chains are not asked again") {
    ReadinessHarness world;
    for (const std::uint64_t chain : {first_chain, second_chain}) {
        world.host(chain).on["eth_call"] =
            [tries = 0](const Json& params) mutable -> chains::jsonrpc::Answer {
            if (++tries < 3) return NodeError{-32000, "out of gas", {}};
            return access_list()(params);
        };
    }
    CHECK(is<engine::Ready>(
        world.outcome(public_of({handle(1, first_chain), handle(2, second_chain)}))));
    CHECK(world.host(first_chain).calls.size() == 3);
    CHECK(world.host(second_chain).calls.size() == 3);
}

TEST_CASE("who waits for another try holds nobody up") {
    ReadinessHarness world;
    world.host().on["eth_call"] = [](const Json& params) -> chains::jsonrpc::Answer {
        if (contains(replies::input_of(params), handle(1))) return NodeError{-1, "no", {}};
        return access_list()(params);
    };
    world.check(1, public_of({handle(1)}));
    world.check(2, public_of({handle(2)}));
    world.executor.run_due();
    REQUIRE(world.events.checks.size() == 1);
    CHECK(world.events.checks[0].id == support::request_id(2));
    world.check(3, public_of({handle(3)}));
    world.executor.run_due();
    CHECK(world.events.checks.size() == 2);
    world.executor.run_for(10s);
    REQUIRE(world.events.checks.size() == 3);
    CHECK(world.events.checks[2].id == support::request_id(1));
}

TEST_CASE("a malformed answer of an access list fails at once") {
    const Bytes yes = replies::word(1);
    Bytes huge_count = replies::word(32);
    huge_count = replies::operator+(std::move(huge_count), Bytes(32, 0xff));
    const std::vector<std::pair<std::string, Json>> rows{
        {"nothing", "0x"},
        {"one too few", replies::bytes_array({yes})},
        {"one too many", replies::bytes_array({yes, yes, yes})},
        {"an item of 31 bytes", replies::bytes_array({yes, Bytes(31, 1)})},
        {"an empty item", replies::bytes_array({Bytes{}, yes})},
        {"a count beyond all bounds", replies::hex(huge_count)},
        {"an offset beyond the end", replies::hex(Bytes(64, 0x7f))},
        {"cut off", replies::hex(replies::word(32))},
        {"odd digits", "0x123"},
        {"no digits", "0xzz"},
        {"a number", 1},
        {"null", nullptr},
        {"an object", Json::object()},
    };
    for (const auto& [label, reply] : rows) {
        CAPTURE(label);
        ReadinessHarness world;
        world.host().say("eth_call", {reply});
        const domain::Failure failure = world.rejection(support::user_decrypt(1));
        CHECK(failure.reason == Reason::host_acl_failed);
        CHECK(failure.text == "Host ACL check failed: Host chain 8009 call failed: " +
                                  std::string(label == "nothing" ? "no contract at its address"
                                                                 : "malformed answer"));
        CHECK(world.host().calls.size() == 1);
        CHECK(world.read.calls.empty());
    }
}

TEST_CASE("an item is true when its byte 31 is not zero, whatever else it holds") {
    Bytes odd_true(64, 0);
    odd_true[31] = 0x80;
    Bytes odd_false(40, 0xff);
    odd_false[31] = 0;
    ReadinessHarness world;
    world.host().say("eth_call", {replies::bytes_array({odd_true, odd_false})});
    const domain::Failure failure = world.rejection(support::user_decrypt(1));
    CHECK(failure.reason == Reason::host_acl_refused);
    CHECK(failure.text.find("for 1 handle(s)") != std::string::npos);
    CHECK(failure.text.find("isAllowed(contract") != std::string::npos);
}

TEST_CASE("a host chain that is not configured fails without a question to anyone") {
    ReadinessHarness world;
    const domain::Failure failure =
        world.rejection(public_of({handle(1, first_chain), handle(2, 77)}));
    CHECK(failure.reason == Reason::host_acl_failed);
    CHECK(failure.text == "Host ACL check failed: No ACL binding configured for host chain 77");
    CHECK(world.host().calls.empty());
    CHECK(world.read.calls.empty());
}

TEST_CASE("a host chain with options and without a node is not configured") {
    ReadinessHarness world;
    world.hosts.erase(second_chain);
    CHECK(world.rejection(public_of({handle(1, second_chain)})).text ==
          "Host ACL check failed: No ACL binding configured for host chain 8010");
}

TEST_CASE("no answer of a host chain is trouble: the engine asks again") {
    struct Row {
        TransportError problem;
        domain::Milliseconds hold;
    };
    const std::vector<Row> rows{
        {{TransportError::Kind::unsent, "connection refused", {}}, 0ms},
        {{TransportError::Kind::throttled, "429 Too Many Requests", 7s}, 7s},
        {{TransportError::Kind::lost, "connection reset", {}}, 0ms},
        {{TransportError::Kind::timed_out, "no answer in time", {}}, 0ms},
        {{TransportError::Kind::garbled, "no JSON", {}}, 0ms},
        {{TransportError::Kind::stopped, "stopped", {}}, 0ms},
    };
    for (const Row& row : rows) {
        CAPTURE(row.problem.text);
        ReadinessHarness world;
        world.host().say("eth_call", {row.problem});
        const engine::CheckOutcome said = world.outcome(support::user_decrypt(1));
        REQUIRE(is<engine::Unreachable>(said));
        const auto& unreachable = std::get<engine::Unreachable>(said);
        CHECK(unreachable.reason == "host chain 8009: " + row.problem.text);
        CHECK(unreachable.hold == row.hold);
        CHECK(unreachable.tries_max == 0);
        REQUIRE(unreachable.verdict);
        CHECK(unreachable.verdict->reason == Reason::host_acl_failed);
        CHECK(unreachable.verdict->text ==
              "Host ACL check failed: Host chain 8009 call failed: " + row.problem.text);
        CHECK(world.host().calls.size() == 1);
        CHECK(world.read.calls.empty());
    }
}

TEST_CASE("a host chain whose node has failed itself is trouble after three tries") {
    ReadinessHarness world;
    const NodeError failed{-32603, "Internal server error", {}};
    world.host().on["eth_call"] = [&](const Json&) -> chains::jsonrpc::Answer { return failed; };
    const engine::CheckOutcome said = world.outcome(support::user_decrypt(1));
    CHECK(world.host().calls.size() == 3);
    REQUIRE(is<engine::Unreachable>(said));
    const auto& unreachable = std::get<engine::Unreachable>(said);
    CHECK(unreachable.unreached);
    CHECK(unreachable.tries_max == 0);
    REQUIRE(unreachable.verdict);
    CHECK(unreachable.verdict->reason == Reason::host_acl_failed);
}

TEST_CASE("of two waits for silent chains the longer one counts") {
    for (const bool swapped : {false, true}) {
        CAPTURE(swapped);
        ReadinessHarness world;
        const auto wait = [](domain::Milliseconds time) {
            return TransportError{TransportError::Kind::throttled, "429 Too Many Requests", time};
        };
        world.host(first_chain).say("eth_call", {wait(swapped ? 7s : 20s)});
        world.host(second_chain).say("eth_call", {wait(swapped ? 20s : 7s)});
        const engine::CheckOutcome said =
            world.outcome(public_of({handle(1, first_chain), handle(2, second_chain)}));
        REQUIRE(is<engine::Unreachable>(said));
        CHECK(std::get<engine::Unreachable>(said).hold == 20s);
    }
}

TEST_CASE("a refusal outweighs a failed chain, and a failed chain a silent one") {
    const domain::Request request = public_of({handle(1, first_chain), handle(2, second_chain)});
    const TransportError silent{TransportError::Kind::timed_out, "no answer in time", {}};
    const NodeError broken{-32000, "broken", {}};
    const auto say = [](chains::jsonrpc::Answer answer) -> support::ScriptedNode::Script {
        return [answer = std::move(answer)](const Json&) { return answer; };
    };
    for (const bool swapped : {false, true}) {
        CAPTURE(swapped);
        const std::uint64_t one = swapped ? second_chain : first_chain;
        const std::uint64_t other = swapped ? first_chain : second_chain;
        const domain::Bytes32 refused = swapped ? handle(2, second_chain) : handle(1, first_chain);
        {
            ReadinessHarness world;
            world.host(one).on["eth_call"] = access_list({refused});
            world.host(other).on["eth_call"] = say(silent);
            CHECK(world.rejection(request).reason == Reason::host_acl_refused);
        }
        {
            ReadinessHarness world;
            world.host(one).on["eth_call"] = access_list({refused});
            world.host(other).on["eth_call"] = say(broken);
            CHECK(world.rejection(request).reason == Reason::host_acl_refused);
        }
        ReadinessHarness world;
        world.host(one).on["eth_call"] = say(broken);
        world.host(other).on["eth_call"] = say(silent);
        CHECK(world.rejection(request).reason == Reason::host_acl_failed);
    }
}

}  // namespace
