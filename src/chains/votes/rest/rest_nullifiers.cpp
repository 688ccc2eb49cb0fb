#include "chains/votes/rest/rest_nullifiers.hpp"

#include "chains/jsonrpc/decode.hpp"

namespace chains::votes::rest {
namespace {

using engine::Unreachable;

engine::NullifierAnswer read_share_status(const RestAnswer& answer) {
    if (const auto* const problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        return Unreachable{problem->text};
    }
    const auto& reply = std::get<RestReply>(answer);
    if (!is_success(reply)) return unreachable(reply);
    if (!reply.json) return Unreachable{"share status: no JSON"};
    const jsonrpc::Json& status = jsonrpc::member(*reply.json, "status");
    if (status == "confirmed") return engine::Revealed{};
    if (status == "pending") return engine::NotRevealed{};
    return Unreachable{"share status: neither confirmed nor pending"};
}

}  // namespace

RestNullifiers::RestNullifiers(const Options& options, const ports::Clock& clock)
    : read_timeout_(options.read_timeout),
      client_(options.nullifier_url, clock, options.client_context, options.nullifier_token) {}

engine::NullifierAnswer RestNullifiers::find(const domain::Bytes32& round_id,
                                             const domain::Bytes32& nullifier) {
    const std::string target = "/shielded-vote/v1/share-status/" + domain::to_hex(round_id) + "/" +
                               domain::to_hex(nullifier);
    engine::NullifierAnswer answer = read_share_status(client_.get(target, read_timeout_));
    const auto* const failed = std::get_if<Unreachable>(&answer);
    client_.note_problem(failed == nullptr ? std::nullopt : std::optional(failed->reason));
    return answer;
}

}  // namespace chains::votes::rest
