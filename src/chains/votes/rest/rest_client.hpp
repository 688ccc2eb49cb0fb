#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "chains/votes/rest/rest_reply.hpp"
#include "domain/time.hpp"
#include "net/client.hpp"
#include "ports/clock.hpp"

namespace chains::votes::rest {

using RestAnswer = std::variant<RestReply, jsonrpc::TransportError>;

inline constexpr std::size_t reply_bytes_max = 1U << 20U;

// A REST interface under one base URL, which may have a path. Sockets wait in real time; `clock` is
// for a Retry-After. Any thread.
class RestClient {
public:
    // `helper_token` goes along as X-Helper-Token; empty: none. Throws std::invalid_argument,
    // without the URL, when it is no http or https URL. `context` null: one of its own.
    RestClient(const std::string& base_url, const ports::Clock& clock,
               std::shared_ptr<net::ClientContext> context, std::string helper_token = {});

    // `target`: `/` first. `timeout`: from look-up to last byte.
    [[nodiscard]] RestAnswer get(const std::string& target, domain::Milliseconds timeout,
                                 std::size_t bytes_max = reply_bytes_max);
    // Of JSON that may be taken twice.
    [[nodiscard]] RestAnswer post(const std::string& target, const std::string& json,
                                  domain::Milliseconds timeout);

    // Exchanges under way end as `stopped`, and so does every later one.
    void stop() { client_.stop(); }

    // One line of about 200 bytes at most, without URLs, parts of ours, the token, and whatever may
    // be a part of a share: a node may say back what it was sent.
    [[nodiscard]] std::string presentable(std::string_view text) const;

    // What the last exchange came to; absent: it went well. Not taken any more once stopped.
    void note_problem(std::optional<std::string> text);
    [[nodiscard]] std::optional<std::string> problem() const;

private:
    [[nodiscard]] RestAnswer exchange(const net::ClientRequest& request,
                                      domain::Milliseconds timeout);

    net::Client client_;
    const ports::Clock& clock_;
    const std::string helper_token_;
    std::vector<std::string> secrets_;

    mutable std::mutex mutex_;
    std::optional<std::string> problem_;
};

}  // namespace chains::votes::rest
