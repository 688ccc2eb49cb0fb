#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/readiness_world.hpp"
#include "domain/keccak.hpp"

// What the key servers refuse after the fee was paid, found out before (relayer-api 4.3).

namespace {

using namespace readiness_world;
using chains::jsonrpc::Answer;
using chains::jsonrpc::NodeError;
using chains::jsonrpc::TransportError;
using domain::Bytes32;
using domain::Reason;
using support::handle;

constexpr std::uint64_t start = 1'780'272'000;

domain::UnifiedUserDecrypt request_of(std::vector<domain::Address> allowed,
                                      std::vector<Bytes32> handles = {handle(1)}) {
    domain::UnifiedUserDecrypt request = owned_by_user(1);
    const domain::OwnedHandle owned = request.handles[0];
    request.handles.clear();
    for (const Bytes32& one : handles) {
        request.handles.push_back(owned);
        request.handles.back().handle = one;
    }
    request.allowed_contracts = std::move(allowed);
    return request;
}

// An access list where a contract may use a handle or not, and a user invalidated signatures.
struct AccessList {
    std::vector<std::pair<Bytes32, domain::Address>> denied;
    std::optional<Answer> invalidation = replies::number_reply(0);
    std::optional<Answer> allowances;  // instead of what is known
    std::size_t asked_invalidation = 0;

    Answer operator()(const Json& params) {
        if (!is_multicall(params)) {
            ++asked_invalidation;
            CHECK(selector(replies::input_of(params)) == "0dff1525");
            CHECK(contains(replies::input_of(params), address(0xbb)));
            return *invalidation;
        }
        bool of_contracts = false;
        std::vector<Bytes> items;
        for (const Bytes& call : inner_calls(params)) {
            of_contracts = of_contracts || !contains(call, address(0xbb));
            const bool no = std::ranges::any_of(denied, [&](const auto& pair) {
                return contains(call, pair.first) && contains(call, pair.second);
            });
            items.push_back(replies::word(no ? 0 : 1));
        }
        if (of_contracts && allowances) return *allowances;
        return replies::bytes_array(items);
    }
};

struct World : ReadinessHarness {
    World() {
        host().on["eth_call"] = [this](const Json& params) { return list(params); };
    }
    AccessList list;
};

const std::string refused = "Not allowed on host ACL: ";
const std::string user = domain::checksummed(address(0xbb));

TEST_CASE("a start before the user invalidated signatures is refused, one at that time is not") {
    for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{1}, start - 1, start}) {
        CAPTURE(before);
        World world;
        world.list.invalidation = replies::number_reply(before);
        CHECK(is<engine::Ready>(world.outcome(request_of({}))));
    }
    World world;
    world.list.invalidation = replies::number_reply(start + 1);
    const domain::Failure failure = world.rejection(request_of({}));
    CHECK(failure.reason == Reason::host_acl_refused);
    CHECK(failure.text == refused + "user " + user + " has invalidated signatures before " +
                              std::to_string(start + 1) + ", the request starts at " +
                              std::to_string(start));
    CHECK(world.read.calls.empty());
}

TEST_CASE("signatures that are invalidated for ever are refused") {
    World world;
    world.list.invalidation = Json("0x" + std::string(64, 'f'));
    CHECK(world.rejection(request_of({})).text.starts_with(refused + "user " + user));
}

TEST_CASE("a user among the allowed contracts is refused without asking anybody") {
    for (const auto& allowed : std::vector<std::vector<domain::Address>>{
             {address(0xbb)}, {address(0xaa), address(0xbb)}, {address(0xbb), address(0xaa)}}) {
        World world;
        const domain::Failure failure = world.rejection(request_of(allowed));
        CHECK(failure.reason == Reason::host_acl_refused);
        CHECK(failure.text == refused + "user " + user + " is among allowedContracts");
        CHECK(world.host().calls.empty());
        CHECK(world.read.calls.empty());
    }
}

TEST_CASE("one allowed contract that may use the handle is enough, none is too few") {
    const domain::Address a = address(0xaa);
    const domain::Address b = address(0xab);
    const Bytes32 one = handle(1);
    const Bytes32 two = handle(2);
    struct Row {
        std::string label;
        std::vector<std::pair<Bytes32, domain::Address>> denied;
        std::vector<Bytes32> refused;
    };
    const std::vector<Row> rows{
        {"nothing denied", {}, {}},
        {"the first contract", {{one, a}, {two, a}}, {}},
        {"the second contract", {{one, b}, {two, b}}, {}},
        {"crosswise", {{one, a}, {two, b}}, {}},
        {"both for the first handle", {{one, a}, {one, b}}, {one}},
        {"both for the second handle", {{two, a}, {two, b}}, {two}},
        {"all", {{one, a}, {one, b}, {two, a}, {two, b}}, {one, two}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        World world;
        world.list.denied = row.denied;
        const auto request = request_of({a, b}, {one, two});
        if (row.refused.empty()) {
            CHECK(is<engine::Ready>(world.outcome(request)));
            continue;
        }
        std::string text =
            refused + "ACL check failed for " + std::to_string(row.refused.size()) + " handle(s):";
        for (const Bytes32& no : row.refused) {
            text += (no == row.refused.front() ? " " : ", ") + ("handle=0x" + domain::to_hex(no)) +
                    " check=isAllowed(any of allowedContracts)";
        }
        const domain::Failure failure = world.rejection(request);
        CHECK(failure.reason == Reason::host_acl_refused);
        CHECK(failure.text == text);
    }
}

TEST_CASE("any contract is allowed by an empty list, and none is asked for") {
    World world;
    CHECK(is<engine::Ready>(world.outcome(request_of({}))));
    CHECK(world.host().calls.size() == 2);
}

TEST_CASE("several reasons make one text") {
    World world;
    world.list.denied = {{handle(1), address(0xbb)}, {handle(1), address(0xaa)}};
    world.list.invalidation = replies::number_reply(start + 1);
    const std::string text = world.rejection(request_of({address(0xaa)})).text;
    CHECK(text.starts_with(refused + "ACL check failed for 2 handle(s): handle=0x"));
    CHECK(text.find("check=isAllowed(user " + user + "), ") != std::string::npos);
    CHECK(text.find("check=isAllowed(any of allowedContracts); user ") != std::string::npos);
}

TEST_CASE("a look-up that fails never refuses") {
    const Answer failures[]{
        NodeError{3, "execution reverted", Bytes{0xde, 0xad, 0xbe, 0xef}},
        NodeError{-32'000, "header not found", {}},
        NodeError{-32'005, "too many requests", {}},
        TransportError{TransportError::Kind::timed_out, "no answer", {}},
        Json("0x"),
        Json("0x01"),
        Json("nonsense"),
        Json(nullptr),
        Json(17),
    };
    for (std::size_t at = 0; at < std::size(failures); ++at) {
        CAPTURE(at);
        World world;
        world.list.invalidation = failures[at];
        world.list.allowances = failures[at];
        for (int time = 0; time < 3; ++time) {
            CHECK(is<engine::Ready>(world.outcome(request_of({address(0xaa)}))));
        }
        CHECK(world.list.asked_invalidation == 3);  // it may answer the next time
    }
}

TEST_CASE("an access list without the getter is skipped, and asked once") {
    World world;
    world.list.invalidation = missing_function();
    for (int time = 0; time < 3; ++time) {
        CHECK(is<engine::Ready>(world.outcome(request_of({address(0xaa)}))));
    }
    CHECK(world.list.asked_invalidation == 1);
}

TEST_CASE("requests of other kinds are asked nothing more") {
    for (const domain::Kind kind : {domain::Kind::public_decrypt, domain::Kind::user_decrypt,
                                    domain::Kind::delegated_user_decrypt}) {
        World world;
        CHECK(is<engine::Ready>(world.outcome(support::request_of(kind, 1))));
        CHECK(world.host().calls.size() == 1);
    }
}

TEST_CASE("a list that is asked again for trouble refuses once") {
    World world;
    bool first = true;
    world.list.invalidation = replies::number_reply(start + 1);
    world.host().on["eth_call"] = [&](const Json& params) -> Answer {
        if (is_multicall(params) && std::exchange(first, false)) {
            return NodeError{-32'000, "header not found", {}};
        }
        return world.list(params);
    };
    const std::string text = world.rejection(request_of({})).text;
    CHECK(text.find("invalidated") == text.rfind("invalidated"));
}

}  // namespace
