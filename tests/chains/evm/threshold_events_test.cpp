#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chains/evm/abi.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/relay.hpp"
#include "chains/evm/topics.hpp"
#include "chains/jsonrpc/decode.hpp"

using chains::evm::Getter;
using chains::jsonrpc::Answer;
using chains::jsonrpc::Call;
using chains::jsonrpc::Json;
using chains::jsonrpc::NodeError;
using domain::Bytes;
using domain::Bytes32;
using domain::Status;
using support::Relay;
using namespace std::chrono_literals;

namespace {

Bytes32 kms_context() {
    Bytes32 id{};
    id.front() = 7;
    id.back() = 1;
    return id;
}

Bytes of_context() {
    Bytes bytes{1};
    const Bytes32 id = kms_context();
    bytes.insert(bytes.end(), id.begin(), id.end());
    return bytes;
}

// A relayer in front of the published contract, whose protocol contract knows a threshold; 0: the
// context was destroyed.
struct Published : Relay {
    explicit Published(std::uint32_t setting = 9, Bytes extra = {0})
        : extra_data(std::move(extra)) {
        engine.options.user_decrypt_shares_threshold = setting;
        chain.version = "Decryption v0.7.0";
        chain.before = [this](const Call& call) { return before(call); };
        restart();
        run_for(1s);
        id = submit(support::user_decrypt(1));
        run_for(5s);
        REQUIRE(status() == Status::receipt_received);
        reference = *chain.included().back().reference;
    }

    std::optional<Answer> before(const Call& call) {
        if (call.method != "eth_call") return std::nullopt;
        const auto data = chains::jsonrpc::bytes(call.params[0].at("input"));
        if (*data !=
            chains::evm::getter(Getter::user_decryption_threshold_for_context, kms_context())) {
            return std::nullopt;
        }
        ++look_ups;
        if (threshold == 0) return NodeError{3, "execution reverted", Bytes{}};
        Bytes32 word{};
        word.back() = static_cast<std::uint8_t>(threshold);
        return Json(chains::jsonrpc::hex(word));
    }

    [[nodiscard]] Status status() { return engine.status(id); }

    // Share `index` comes; the contract says so when it is the last one it needs.
    void share(std::uint32_t index) {
        chain.share(reference, index, extra_data, index + 1 == threshold);
        run_for(2s);
    }

    [[nodiscard]] std::vector<std::uint32_t> served() {
        std::vector<std::uint32_t> indices;
        const auto result = std::get<domain::UserDecrypted>(
            domain::decode_result(engine.view(id).value().result.value()).value());
        for (const auto& one : result.shares) indices.push_back(one.index);
        return indices;
    }

    Bytes extra_data;
    std::uint32_t threshold = 3;
    std::size_t look_ups = 0;
    domain::RequestId id;
    Bytes32 reference{};
};

using Indices = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a threshold that is lowered on chain: the answer comes with its last share") {
    Published relay{9, of_context()};
    relay.threshold = 4;
    relay.share(0);
    relay.share(1);
    relay.threshold = 3;
    relay.share(2);
    CHECK(relay.status() == Status::completed);
    CHECK(relay.served() == Indices{0, 1, 2});
    CHECK(relay.look_ups == 0);
}

TEST_CASE("a threshold that is raised on chain: never answered with fewer") {
    Published relay{9, of_context()};
    // What was looked up before the change would say 3.
    static_cast<void>(relay.gateway.share_threshold(kms_context(), 9));
    relay.run_for(1s);
    REQUIRE(relay.gateway.share_threshold(kms_context(), 9) == 3);
    relay.threshold = 4;
    for (std::uint32_t index = 0; index < 3; ++index) relay.share(index);
    relay.run_for(10min);
    CHECK(relay.status() == Status::receipt_received);
    relay.share(3);
    CHECK(relay.status() == Status::completed);
    CHECK(relay.served() == Indices{0, 1, 2, 3});
}

TEST_CASE("a setting that is not the chain's threshold decides nothing") {
    for (const std::uint32_t setting : {5U, 3U, 1U}) {
        for (const std::uint32_t threshold : {3U, 4U, 1U}) {
            CAPTURE(setting);
            CAPTURE(threshold);
            Published relay{setting};
            relay.threshold = threshold;
            for (std::uint32_t index = 0; index < threshold; ++index) {
                CHECK(relay.status() == Status::receipt_received);
                relay.share(index);
            }
            CHECK(relay.status() == Status::completed);
            CHECK(relay.served().size() == threshold);
        }
    }
}

TEST_CASE("a context that is destroyed while a request is in flight, then a restart") {
    Published relay{9, of_context()};
    relay.share(0);
    relay.share(1);
    relay.restart();
    relay.run_for(5s);
    // Nobody knows the threshold any more; the contract counted on.
    relay.chain.share(relay.reference, 2, relay.extra_data, true);
    relay.threshold = 0;
    relay.run_for(5s);
    CHECK(relay.status() == Status::completed);
    CHECK(relay.served() == Indices{0, 1, 2});
}

TEST_CASE("the event waits beside the shares until the receipt is there, also over a restart") {
    for (const bool restarts : {false, true}) {
        CAPTURE(restarts);
        Published relay;
        const domain::Monotonic silent_until = relay.clock.monotonic() + 30s;
        relay.chain.after = [&](const Call& call, const Answer&) -> std::optional<Answer> {
            if (!support::sends(call)) return std::nullopt;
            return chains::jsonrpc::TransportError{
                chains::jsonrpc::TransportError::Kind::timed_out, "no answer", {}};
        };
        relay.chain.before = [&](const Call& call) -> std::optional<Answer> {
            if (call.method != "eth_getTransactionReceipt" ||
                relay.clock.monotonic() > silent_until) {
                return relay.before(call);
            }
            return Json(nullptr);
        };
        relay.id = relay.submit(support::user_decrypt(2));
        relay.run_for(5s);
        relay.reference = *relay.chain.included().back().reference;
        for (std::uint32_t index = 0; index < 3; ++index) relay.share(index);
        REQUIRE(relay.status() == Status::tx_in_flight);
        if (restarts) relay.restart();
        relay.run_for(3min);
        CHECK(relay.status() == Status::completed);
        CHECK(relay.served() == Indices{0, 1, 2});
    }
}

TEST_CASE("shares beyond the threshold are not served, in whatever exchange they come") {
    Published relay;
    for (std::uint32_t index = 0; index < 5; ++index) {
        relay.chain.share(relay.reference, index, {0}, index == 2);
    }
    relay.run_for(2s);
    CHECK(relay.status() == Status::completed);
    CHECK(relay.served() == Indices{0, 1, 2});
}

TEST_CASE("a share that a node left out is read for again, and nothing is completed without it") {
    for (const std::uint32_t hidden : {0U, 1U}) {
        CAPTURE(hidden);
        Published relay;
        bool hides = true;
        relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
            if (call.method != "eth_getLogs" || !hides) return std::nullopt;
            Json logs = std::get<Json>(answer);
            for (std::size_t at = 0; at < logs.size(); ++at) {
                const auto data = chains::jsonrpc::bytes(logs[at]["data"]);
                const bool share =
                    logs[at]["topics"][0] ==
                    chains::jsonrpc::hex(chains::evm::topic::user_decryption_response);
                if (share && (*data)[31] == hidden) return logs.erase(at), Answer{logs};
            }
            return std::nullopt;
        };
        for (std::uint32_t index = 0; index < 3; ++index) relay.share(index);
        relay.run_for(1min);
        CHECK(relay.status() == Status::receipt_received);
        hides = false;
        relay.run_for(31s);
        CHECK(relay.status() == Status::completed);
        CHECK(relay.served() == Indices{0, 1, 2});
    }
}

TEST_CASE("an event whose own share is missing is not believed at first") {
    Published relay;
    const domain::Monotonic hides_until = relay.clock.monotonic() + 7s;
    relay.chain.after = [&](const Call& call, const Answer& answer) -> std::optional<Answer> {
        if (call.method != "eth_getLogs" || relay.clock.monotonic() > hides_until) {
            return std::nullopt;
        }
        Json logs = std::get<Json>(answer);
        const std::string reached = chains::jsonrpc::hex(chains::evm::topic::threshold_reached);
        for (std::size_t at = 1; at < logs.size(); ++at) {
            if (logs[at]["topics"][0] == reached) return logs.erase(at - 1), Answer{logs};
        }
        return std::nullopt;
    };
    for (std::uint32_t index = 0; index < 3; ++index) relay.share(index);
    CHECK(relay.status() == Status::receipt_received);
    relay.run_for(10s);
    CHECK(relay.status() == Status::completed);
}

TEST_CASE("without the event nothing is completed, and the deadline stays") {
    Published relay{1};
    relay.threshold = 200;
    for (std::uint32_t index = 0; index < 9; ++index) relay.share(index);
    relay.run_for(29min);
    CHECK(relay.status() == Status::receipt_received);
    relay.run_for(2min);
    CHECK(relay.status() == Status::timed_out);
}

TEST_CASE("a contract that does not say what it is: numbers that are known decide, as before") {
    Published relay{3};
    relay.chain.version.clear();
    relay.restart();
    relay.run_for(5s);
    relay.threshold = 200;
    for (std::uint32_t index = 0; index < 3; ++index) relay.share(index);
    CHECK(relay.status() == Status::completed);
}
