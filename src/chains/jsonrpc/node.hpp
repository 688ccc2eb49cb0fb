#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "domain/bytes.hpp"
#include "domain/time.hpp"

namespace chains::jsonrpc {

using Json = nlohmann::json;

struct Call {
    std::string method;
    Json params = Json::array();
};

// The node understood and refused. An answer: other nodes are not asked.
struct NodeError {
    std::int64_t code = 0;
    std::string message;  // without control characters and URLs, at most 500 bytes
    // The first hex string found in the error's `data`, however deep (evm-gateway 4.4).
    std::optional<domain::Bytes> data;
};

// No answer.
struct Trouble {
    enum class Kind {
        unsent,     // nothing reached the node: refused, no route, TLS failed
        throttled,  // it asked us to wait: HTTP 429, 503 with Retry-After, -32005 and its like
        lost,       // the connection broke after the request was on its way: it may have been taken
        timed_out,  // no answer in time: it may have been taken
        garbled,    // an HTTP answer that is no JSON-RPC, or too large: it may have been taken
        stopped,    // stop() was called
    };
    Kind kind = Kind::unsent;
    std::string text;              // one line without secrets, such as `connection refused`
    domain::Milliseconds wait{0};  // throttled: nobody should ask earlier
};

using Answer = std::variant<Json, NodeError, Trouble>;

// Port: a JSON-RPC node, or several that stand for one. Any thread; blocks until the answer or the
// timeout. JSON-RPC 2.0 over HTTP.
class Node {
public:
    virtual ~Node() = default;

    // `timeout` absent: the node's own.
    [[nodiscard]] virtual Answer call(const Call& call,
                                      std::optional<domain::Milliseconds> timeout) = 0;
    [[nodiscard]] Answer call(const Call& one) { return call(one, std::nullopt); }

    // In one HTTP exchange; one answer for each call, in their order.
    [[nodiscard]] virtual std::vector<Answer> call_all(const std::vector<Call>& calls) = 0;

    // Calls under way end with `stopped`, and so does every later one.
    virtual void stop() = 0;

    // Nothing when the last exchange went well, else one line without secrets.
    [[nodiscard]] virtual std::optional<std::string> trouble() const = 0;
};

}  // namespace chains::jsonrpc
