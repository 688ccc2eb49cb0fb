#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "chains/votes/options.hpp"
#include "chains/votes/rest/rest_client.hpp"
#include "chains/votes/rest/rest_round.hpp"
#include "chains/votes/rest/rest_tree.hpp"
#include "chains/votes/reveal.hpp"
#include "chains/votes/tree/tree_source.hpp"
#include "domain/bytes.hpp"
#include "engine/gateway.hpp"
#include "engine/vote_chain.hpp"
#include "ports/clock.hpp"

namespace chains::votes::rest {

// A vote chain over its REST interface (share-helper 1.2, 5.3). Any thread; calls block until the
// answer or their timeout. Reasons and texts never hold its URL.
class RestChain : public engine::RoundDirectory, public tree::TreeSource {
public:
    // Uses chain_url, chain_codespace and both timeouts. `observer` may be null and hears of
    // reveals. Throws std::invalid_argument, without the URL, when that is no http or https URL.
    RestChain(const Options& options, const ports::Clock& clock, engine::VoteObserver* observer);

    [[nodiscard]] engine::RoundAnswer find(const domain::Bytes32& round_id) override;
    [[nodiscard]] RoundStatusAnswer round_status(const domain::Bytes32& round_id);
    // The id of the round that is active now; UnknownRound when none is.
    [[nodiscard]] ActiveRoundAnswer active_round();

    // A chain answers for a round that it does not know as for an empty tree.
    [[nodiscard]] std::variant<tree::LatestTree, engine::UnknownRound, engine::Unreachable> latest(
        const domain::Bytes32& round_id) override;
    // In as many exchanges as a chain wants it; blocks before the round began are not asked for.
    // What comes beyond leaves_enough is at most one exchange's.
    [[nodiscard]] std::variant<tree::LeavesRead, engine::Unreachable> leaves(
        const domain::Bytes32& round_id, const tree::LeavesQuery& query) override;

    // `json` is what to_json() made. One try, which a connection that died while idle does not use
    // up. Unreachable: the chain may have taken it.
    [[nodiscard]] RevealOutcome reveal(const std::string& json);

    // Calls under way end with Unreachable as soon as they can, and so does every later one.
    void stop() { client_.stop(); }
    // Nothing when the last exchange went well, else one line without secrets. That the chain
    // refuses a share is none.
    [[nodiscard]] std::optional<std::string> problem() const { return client_.problem(); }

private:
    [[nodiscard]] RestAnswer get_round(const domain::Bytes32& round_id,
                                       domain::Milliseconds timeout);
    // The first height worth a question.
    [[nodiscard]] std::variant<std::uint64_t, engine::Unreachable> first_height(
        const domain::Bytes32& round_id, const tree::LeavesQuery& query);
    [[nodiscard]] std::variant<LeavesPage, engine::Unreachable> leaves_page(
        const domain::Bytes32& round_id, std::uint64_t from_height, std::uint64_t to_height,
        domain::Monotonic deadline);
    // Of an exchange that is to end by then; none is left when it is not positive.
    [[nodiscard]] domain::Milliseconds timeout_until(domain::Monotonic deadline) const;

    const domain::Milliseconds reveal_timeout_;
    const domain::Milliseconds read_timeout_;
    const std::string codespace_;
    const ports::Clock& clock_;
    engine::VoteObserver* const observer_;
    RestClient client_;
};

}  // namespace chains::votes::rest
