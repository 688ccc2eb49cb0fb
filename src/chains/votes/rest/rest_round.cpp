#include "chains/votes/rest/rest_round.hpp"

#include <chrono>
#include <string_view>
#include <utility>

#include "chains/jsonrpc/decode.hpp"

namespace chains::votes::rest {
namespace {

using engine::UnknownRound;
using engine::Unreachable;

constexpr std::uint64_t status_active = 1;
constexpr std::uint64_t vote_end_max = 253'402'300'799;  // the end of the year 9999

bool says(const RestReply& reply, std::string_view words) {
    return is_not_found(reply) || reply.error.find(words) != std::string::npos;
}

}  // namespace

RoundReply read_round(RestReply reply, const domain::Bytes32& round_id) {
    if (!is_success(reply)) {
        if (says(reply, "vote round not found")) return UnknownRound{};
        return unreachable(reply);
    }
    if (!reply.json) return Unreachable{"round: no JSON"};
    if (!jsonrpc::member(*reply.json, "round").is_object())
        return Unreachable{"round: none in answer"};
    jsonrpc::Json round = std::move((*reply.json)["round"]);
    const auto named = round_id_of(jsonrpc::member(round, "vote_round_id"));
    if (named && *named != round_id) return Unreachable{"round: answer is about another one"};
    return round;
}

engine::RoundAnswer read_vote_end(const jsonrpc::Json& round) {
    const auto seconds = number_of(round, "vote_end_time");
    if (!seconds) return Unreachable{"round: vote_end_time is no whole number"};
    if (*seconds == 0) return Unreachable{"round: no vote_end_time"};
    if (*seconds > vote_end_max) return Unreachable{"round: vote_end_time out of range"};
    return engine::Round{
        domain::Timestamp{std::chrono::seconds{static_cast<std::int64_t>(*seconds)}}};
}

RoundStatusAnswer read_status(const jsonrpc::Json& round) {
    const auto status = number_of(round, "status");
    if (!status) return Unreachable{"round: status is no number"};
    if (*status == status_active) return RoundActive{};
    return RoundNotActive{};
}

ActiveRoundAnswer read_active_round(const RestReply& reply) {
    if (!is_success(reply)) {
        if (says(reply, "no active voting round")) return UnknownRound{};
        return unreachable(reply);
    }
    if (!reply.json || !reply.json->is_object()) return Unreachable{"active round: no JSON"};
    const jsonrpc::Json& round = jsonrpc::member(*reply.json, "round");
    if (round.is_null()) return UnknownRound{};
    const auto round_id = round_id_of(jsonrpc::member(round, "vote_round_id"));
    if (!round_id) return Unreachable{"active round: no vote_round_id"};
    return *round_id;
}

}  // namespace chains::votes::rest
