#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.hpp"
#include "chains/jsonrpc/endpoint.hpp"
#include "chains/jsonrpc/node.hpp"

namespace chains::jsonrpc {

struct HttpNodeOptions {
    std::vector<std::string> urls;         // http or https; the first is preferred
    domain::Milliseconds timeout{10'000};  // of one exchange, from look-up to last byte
    std::size_t response_bytes_max = 16U << 20U;
    std::size_t batch_max = 50;  // calls in one HTTP request, at least 1
};

// Several URLs that stand for one node. A call goes to the next URL when this one has trouble,
// unless it sends a transaction that may have been taken. A URL that asked us to wait is left alone
// until then; who calls meanwhile and has no other gets `throttled` at once. Sockets wait in real
// time, everything else goes by `clock`.
class HttpNode : public Node {
public:
    // Throws std::invalid_argument, without the URL, when one is none.
    HttpNode(HttpNodeOptions options, const engine::Clock& clock);

    using Node::call;
    // `timeout`: of each exchange.
    [[nodiscard]] Answer call(const Call& call,
                              std::optional<domain::Milliseconds> timeout) override;
    // In requests of at most `batch_max`; one by one with a node that knows no batches.
    [[nodiscard]] std::vector<Answer> call_all(const std::vector<Call>& calls) override;
    void stop() override;
    [[nodiscard]] std::optional<std::string> trouble() const override;

private:
    using Calls = std::vector<const Call*>;

    [[nodiscard]] std::vector<Answer> settle(const Calls& calls, domain::Milliseconds timeout);
    [[nodiscard]] std::vector<Endpoint*> preferred();
    void conclude(Answer& answer) const;
    void note_outcome(const std::vector<Answer>& answers);

    [[nodiscard]] std::vector<Answer> ask(Endpoint& endpoint, const Calls& calls,
                                          domain::Milliseconds timeout);
    // Nothing when the node refuses batches.
    [[nodiscard]] std::optional<std::vector<Answer>> ask_together(Endpoint& endpoint,
                                                                  const Calls& calls,
                                                                  domain::Milliseconds timeout);
    [[nodiscard]] std::vector<Answer> ask_singly(Endpoint& endpoint, const Calls& calls,
                                                 domain::Milliseconds timeout);
    [[nodiscard]] Answer ask_one(Endpoint& endpoint, const Call& call,
                                 domain::Milliseconds timeout);
    [[nodiscard]] std::string name_of(const Endpoint& endpoint) const;
    [[nodiscard]] Posted post(Endpoint& endpoint, const Calls& calls, std::uint64_t first_id,
                              domain::Milliseconds timeout);

    const HttpNodeOptions options_;
    const engine::Clock& clock_;
    Signal stop_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;  // in the order of the URLs
    std::atomic<std::uint64_t> next_id_{1};

    mutable std::mutex mutex_;
    std::optional<std::string> trouble_;
};

}  // namespace chains::jsonrpc
