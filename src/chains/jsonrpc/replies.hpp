#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "net/client.hpp"

namespace chains::jsonrpc {

// JSON-RPC 2.0 requests with the ids `first_id`, `first_id` + 1, …; an array when there are
// several.
[[nodiscard]] std::string write_request(std::span<const Call* const> calls, std::uint64_t first_id);

// What a reader of answers has to know besides them.
struct Reading {
    std::uint64_t first_id = 0;
    std::span<const std::string> secrets;  // see sanitised()
    domain::Timestamp now{};               // for Retry-After
    // Becomes true when replies carry their ids as text, which is accepted.
    std::atomic<bool>* has_text_ids = nullptr;
};

// To one call. An error that is understood (reply_class.hpp) counts whatever the HTTP status says
// (evm-gateway 4.3), unless it asks us to wait or comes from the door before the node. One that is
// not understood is judged by the status.
[[nodiscard]] Answer read_reply(net::ClientResponse response, const Reading& reading);

// To several calls in one request, in any order. Nothing when the node refused them as a whole, as
// one does that knows no batches or none of this size.
[[nodiscard]] std::optional<std::vector<Answer>> read_replies(net::ClientResponse response,
                                                              std::size_t count,
                                                              const Reading& reading);

}  // namespace chains::jsonrpc
