#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "chains/votes/options.hpp"
#include "chains/votes/rest/rest_chain.hpp"
#include "engine/vote_chain.hpp"
#include "support/http_stub.hpp"
#include "support/virtual_time.hpp"

namespace support {

inline domain::Bytes32 filled(std::uint8_t value) {
    domain::Bytes32 bytes{};
    bytes.fill(value);
    return bytes;
}

inline const domain::Bytes32 round_id = filled(0xab);

inline std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t time = 0; time < times; ++time) all.append(text);
    return all;
}

inline const std::string round_hex = repeated("ab", 32);

// For answers that come, and for those that do not.
inline constexpr domain::Milliseconds ample{10'000};
inline constexpr domain::Milliseconds brief{200};

inline chains::votes::Options vote_options(const std::string& url,
                                           domain::Milliseconds timeout = ample) {
    chains::votes::Options options;
    options.chain_url = url;
    options.nullifier_url = url;
    options.reveal_timeout = timeout;
    options.read_timeout = timeout;
    return options;
}

// Hears of the replies to reveals.
class HeardReplies : public engine::VoteObserver {
public:
    using Heard = std::pair<int, std::optional<std::int64_t>>;
    void replied(int http_status, std::optional<std::int64_t> code) override {
        heard.emplace_back(http_status, code);
    }
    std::vector<Heard> heard;
};

// The whole answer goes out, then the connection ends.
inline HttpStub::Script wire(std::string bytes) {
    return [bytes = std::move(bytes)](StubPeer& peer, const StubRequest&) {
        peer.send(bytes);
        return false;
    };
}

// A chain whose interface does to every request what the script says.
struct RestHarness {
    explicit RestHarness(HttpStub::Script script, domain::Milliseconds timeout = ample,
                         std::string_view base = "/")
        : stub(std::move(script)),
          chain(vote_options(stub.url("127.0.0.1", base), timeout), clock, &replies) {}
    explicit RestHarness(int status, const std::string& body)
        : RestHarness(HttpStub::answering(
              [status, body](const StubRequest&) { return http(status, body); })) {}

    // With all the time a test needs.
    auto leaves(std::uint64_t from_height, std::uint64_t to_height) {
        return chain.leaves(round_id, {.from_height = from_height,
                                       .to_height = to_height,
                                       .leaves_enough = 1'000'000,
                                       .deadline = clock.monotonic() + 2 * ample});
    }

    VirtualClock clock;
    HeardReplies replies;
    HttpStub stub;
    chains::votes::rest::RestChain chain;
};

// `unknown`, `unreachable: reason`, or what the test says of the other alternatives.
template <typename... Alternatives>
std::string missing(const std::variant<Alternatives...>& answer) {
    return std::visit(
        []<typename Alternative>(const Alternative& alternative) -> std::string {
            if constexpr (std::is_same_v<Alternative, engine::Unreachable>) {
                return "unreachable: " + alternative.reason;
            }
            return std::is_same_v<Alternative, engine::UnknownRound> ? "unknown" : "there";
        },
        answer);
}

}  // namespace support
