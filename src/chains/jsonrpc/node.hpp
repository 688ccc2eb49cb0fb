#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "net/transport_error.hpp"

namespace chains::jsonrpc {

using Json = nlohmann::json;

struct Call {
    std::string method;
    Json params = Json::array();
    // Of Node::call_then: all of it is written, as far as the node can tell. Perhaps several times,
    // perhaps never; must be quick.
    std::function<void()> written{};
};

// The node understood and refused. An answer: other nodes are not asked.
struct NodeError {
    std::int64_t code = 0;
    std::string message;  // without control characters and URLs, at most 500 bytes
    // The first hex string found in the error's `data`, however deep (evm-gateway 4.4).
    std::optional<domain::Bytes> data;
    // The words found there, as clean as the message: some nodes say there what they mean.
    std::string detail{};
    // Which of several URLs that stand for one node said it, from 1; 0: there is one.
    std::size_t url = 0;
};

// No answer. `throttled` are also -32005 and its like, `garbled` is also HTTP without JSON-RPC.
using TransportError = net::TransportError;

using Answer = std::variant<Json, NodeError, TransportError>;

// Port: a JSON-RPC node, or several that stand for one. Any thread; blocks until the answer or the
// timeout. JSON-RPC 2.0 over HTTP.
class Node {
public:
    virtual ~Node() = default;

    // `timeout` absent: the node's own.
    [[nodiscard]] virtual Answer call(const Call& call,
                                      std::optional<domain::Milliseconds> timeout) = 0;
    [[nodiscard]] Answer call(const Call& one) { return call(one, std::nullopt); }

    // The same for who can not spare a thread for it: `done` is called once, by any thread, perhaps
    // before this returns; it must neither block nor throw. A node that has no better way blocks.
    using Done = std::function<void(Answer)>;
    virtual void call_then(const Call& one, std::optional<domain::Milliseconds> timeout,
                           const Done& done) {
        done(call(one, timeout));
    }

    // In one HTTP exchange; one answer for each call, in their order.
    [[nodiscard]] virtual std::vector<Answer> call_all(const std::vector<Call>& calls) = 0;

    // Calls under way end with `stopped`, and so does every later one. No `done` runs afterwards
    // but of those that are called later.
    virtual void stop() = 0;

    // Nothing when the last exchange went well, else one line without secrets.
    [[nodiscard]] virtual std::optional<std::string> problem() const = 0;

    // What is odd about its replies and accepted all the same.
    [[nodiscard]] virtual std::optional<std::string> remark() const { return std::nullopt; }
};

}  // namespace chains::jsonrpc
