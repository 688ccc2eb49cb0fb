#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chains/jsonrpc/endpoint.hpp"
#include "chains/jsonrpc/node.hpp"
#include "net/client.hpp"
#include "ports/clock.hpp"

namespace chains::jsonrpc {

struct HttpNodeOptions {
    std::vector<std::string> urls;         // http or https; the first is preferred
    domain::Milliseconds timeout{10'000};  // of one exchange, from look-up to last byte
    std::size_t response_bytes_max = 16U << 20U;
    std::size_t batch_max = 50;                     // calls in one HTTP request, at least 1
    std::shared_ptr<net::ClientContext> context{};  // null: one of its own
};

// Several URLs that stand for one node. A call goes to the next URL when this one has trouble,
// unless it sends a transaction that may have been taken: only the next call that sends begins with
// the next URL then, since the same bytes do no harm twice. A URL that asked us to wait is left
// alone until then; who calls meanwhile and has no other gets `throttled` at once. Sockets wait in
// real time, everything else goes by `clock`.
class HttpNode : public Node {
public:
    // Throws std::invalid_argument, without the URL, when one is none.
    HttpNode(HttpNodeOptions options, const ports::Clock& clock);
    HttpNode(const HttpNode&) = delete;
    HttpNode& operator=(const HttpNode&) = delete;
    ~HttpNode() override { stop(); }

    using Node::call;
    // `timeout`: of each exchange.
    [[nodiscard]] Answer call(const Call& call,
                              std::optional<domain::Milliseconds> timeout) override;
    // Holds no thread.
    void call_then(const Call& call, std::optional<domain::Milliseconds> timeout,
                   const Done& done) override;
    // In requests of at most `batch_max`, smaller ones where a node refuses that.
    [[nodiscard]] std::vector<Answer> call_all(const std::vector<Call>& calls) override;
    void stop() final;
    [[nodiscard]] std::optional<std::string> problem() const override;
    [[nodiscard]] std::optional<std::string> remark() const override;

private:
    using Calls = std::vector<const Call*>;

    struct Question;

    void ask_next(const std::shared_ptr<Question>& question);
    [[nodiscard]] Answer read_posted(Endpoint& endpoint, net::ClientResult posted,
                                     std::uint64_t id);
    void name_endpoint(const Endpoint& endpoint, std::vector<Answer>& answers) const;

    [[nodiscard]] std::vector<Answer> settle(const Calls& calls, domain::Milliseconds timeout);
    [[nodiscard]] Answer unasked() const;
    [[nodiscard]] std::vector<Endpoint*> preferred(bool with_sends);
    void note_send(const Endpoint& endpoint, const Answer& answer);
    void conclude(Answer& answer) const;
    void note_outcome(const std::vector<Answer>& answers);

    [[nodiscard]] std::vector<Answer> ask(Endpoint& endpoint, const Calls& calls,
                                          domain::Milliseconds timeout);
    // In one request. Nothing when the node refuses so many at once.
    [[nodiscard]] std::optional<std::vector<Answer>> ask_together(Endpoint& endpoint,
                                                                  const Calls& calls,
                                                                  domain::Milliseconds timeout);
    [[nodiscard]] Answer ask_one(Endpoint& endpoint, const Call& call,
                                 domain::Milliseconds timeout);
    [[nodiscard]] std::size_t place_of(const Endpoint& endpoint) const;
    [[nodiscard]] net::ClientResult post(Endpoint& endpoint, const Calls& calls,
                                         std::uint64_t first_id, domain::Milliseconds timeout);

    const HttpNodeOptions options_;
    const ports::Clock& clock_;
    std::atomic<bool> stopped_{false};
    std::vector<std::unique_ptr<Endpoint>> endpoints_;  // in the order of the URLs
    std::atomic<std::uint64_t> next_id_{1};
    std::atomic<bool> has_text_ids_{false};

    mutable std::mutex mutex_;  // for what follows
    std::optional<std::string> problem_;
    // Where sends begin, and until when that is not the first.
    std::size_t send_first_ = 0;
    domain::Monotonic send_first_until_{};
};

}  // namespace chains::jsonrpc
