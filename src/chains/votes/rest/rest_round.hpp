#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "chains/jsonrpc/node.hpp"
#include "chains/votes/rest/rest_reply.hpp"
#include "chains/votes/reveal.hpp"
#include "domain/bytes.hpp"
#include "engine/gateway.hpp"

// What the chain says of a round (share-helper 1.2).
namespace chains::votes::rest {

using RoundReply = std::variant<jsonrpc::Json, engine::UnknownRound, engine::Unreachable>;

// The round of a reply. A chain reports one that it does not know as 404 in its own JSON, or as 500
// and in words.
[[nodiscard]] RoundReply read_round(RestReply reply, const domain::Bytes32& round_id);

[[nodiscard]] engine::RoundAnswer read_vote_end(const jsonrpc::Json& round);
[[nodiscard]] RoundStatusAnswer read_status(const jsonrpc::Json& round);

using ActiveRoundAnswer = std::variant<domain::Bytes32, engine::UnknownRound, engine::Unreachable>;

// UnknownRound: none is active, which a chain reports as null, as 404 in its own JSON, or as 500
// and in words.
[[nodiscard]] ActiveRoundAnswer read_active_round(const RestReply& reply);

}  // namespace chains::votes::rest
