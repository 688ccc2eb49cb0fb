#include "gateway/votes/rest/rest_chain.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gateway/votes/rest/rest_reveal.hpp"
#include "gateway/votes/rest/rest_tree.hpp"

namespace gateway::votes {
namespace {

using engine::Unreachable;

constexpr std::size_t leaves_bytes_max = 16U << 20U;
// As many heights as a chain answers for at once, both ends included.
constexpr std::uint64_t heights_max = 1'001;

constexpr const char* root = "/shielded-vote/v1";

std::string tree_target(const domain::Bytes32& round_id, const std::string& rest) {
    return std::string(root) + "/commitment-tree/" + domain::to_hex(round_id) + rest;
}

// Reads the reply, and notes what became of the exchange.
template <typename Outcome, typename Read>
Outcome conclude(RestClient& client, RestAnswer answer, Read read) {
    Outcome outcome = std::holds_alternative<rpc::Trouble>(answer)
                          ? Outcome(Unreachable{std::get<rpc::Trouble>(answer).text})
                          : Outcome(read(std::get<RestReply>(std::move(answer))));
    const auto* const failed = std::get_if<Unreachable>(&outcome);
    client.note_trouble(failed == nullptr ? std::nullopt : std::optional(failed->reason));
    return outcome;
}

template <typename Outcome, typename Read>
Outcome when_known(RoundReply reply, Read read) {
    if (auto* const failed = std::get_if<Unreachable>(&reply)) return std::move(*failed);
    if (std::holds_alternative<engine::UnknownRound>(reply)) return engine::UnknownRound{};
    return read(std::get<rpc::Json>(reply));
}

// The chain itself is well when it says no to a share.
bool is_trouble(const RestReply& reply, const RevealOutcome& outcome) {
    if (std::holds_alternative<domain::ShareRevealed>(outcome)) return false;
    if (reply.status == 200 || reply.status == 422) return !code_of(reply);
    return reply.status >= 500 || std::holds_alternative<Unreachable>(outcome);
}

std::string text_of(const RevealOutcome& outcome) {
    if (const auto* const refused = std::get_if<NotRevealedNow>(&outcome)) return refused->text;
    const auto* const failed = std::get_if<Unreachable>(&outcome);
    return failed == nullptr ? std::string() : failed->reason;
}

RevealOutcome without_reply(const rpc::Trouble& trouble) {
    // Something came, and it was no answer of a chain.
    if (trouble.kind == rpc::Trouble::Kind::garbled) return NotRevealedNow{trouble.text};
    return Unreachable{trouble.text};
}

}  // namespace

RestChain::RestChain(const VoteOptions& options, const engine::Clock& clock,
                     engine::VoteObserver* observer)
    : reveal_timeout_(options.reveal_timeout),
      read_timeout_(options.read_timeout),
      observer_(observer),
      client_(options.chain_url, clock) {}

engine::RoundAnswer RestChain::find(const domain::Bytes32& round_id) {
    return conclude<engine::RoundAnswer>(client_, get_round(round_id), [&](RestReply reply) {
        return when_known<engine::RoundAnswer>(read_round(std::move(reply), round_id),
                                               read_vote_end);
    });
}

RoundStatusAnswer RestChain::round_status(const domain::Bytes32& round_id) {
    return conclude<RoundStatusAnswer>(client_, get_round(round_id), [&](RestReply reply) {
        return when_known<RoundStatusAnswer>(read_round(std::move(reply), round_id), read_status);
    });
}

ActiveRoundAnswer RestChain::active_round() {
    return conclude<ActiveRoundAnswer>(
        client_, client_.get(std::string(root) + "/rounds/active", read_timeout_),
        [](const RestReply& reply) { return read_active_round(reply); });
}

RestAnswer RestChain::get_round(const domain::Bytes32& round_id) {
    return client_.get(std::string(root) + "/round/" + domain::to_hex(round_id), read_timeout_);
}

std::variant<LatestTree, engine::UnknownRound, Unreachable> RestChain::latest(
    const domain::Bytes32& round_id) {
    using Outcome = std::variant<LatestTree, engine::UnknownRound, Unreachable>;
    return conclude<Outcome>(client_, client_.get(tree_target(round_id, "/latest"), read_timeout_),
                             [](const RestReply& reply) { return read_latest_tree(reply); });
}

RestChain::LeavesAnswer RestChain::leaves(const domain::Bytes32& round_id,
                                          std::uint64_t from_height, std::uint64_t to_height) {
    std::uint64_t from = std::max<std::uint64_t>(from_height, 1);
    if (to_height >= from && to_height - from >= heights_max) {
        RoundReply reply = conclude<RoundReply>(client_, get_round(round_id), [&](RestReply got) {
            return read_round(std::move(got), round_id);
        });
        if (auto* const failed = std::get_if<Unreachable>(&reply)) return std::move(*failed);
        const auto* const round = std::get_if<rpc::Json>(&reply);
        if (round == nullptr) return Unreachable{"leaves: round not found"};
        from = std::max(from, number_of(*round, "created_at_height").value_or(0));
    }
    std::vector<BlockLeaves> blocks;
    while (from <= to_height) {
        const std::uint64_t to = from + std::min(heights_max - 1, to_height - from);
        if (auto failed = append_leaves(blocks, round_id, from, to)) return std::move(*failed);
        if (to == to_height) break;
        from = to + 1;
    }
    return blocks;
}

std::optional<Unreachable> RestChain::append_leaves(std::vector<BlockLeaves>& blocks,
                                                    const domain::Bytes32& round_id,
                                                    std::uint64_t from_height,
                                                    std::uint64_t to_height) {
    using Outcome = std::variant<LeavesPage, Unreachable>;
    for (std::uint64_t from = from_height; from != 0;) {
        const std::string target =
            tree_target(round_id, "/leaves?from_height=" + std::to_string(from) +
                                      "&to_height=" + std::to_string(to_height));
        auto outcome = conclude<Outcome>(
            client_, client_.get(target, read_timeout_, leaves_bytes_max),
            [&](const RestReply& reply) { return read_leaves(reply, from, to_height); });
        if (auto* const failed = std::get_if<Unreachable>(&outcome)) return std::move(*failed);
        auto& page = std::get<LeavesPage>(outcome);
        std::ranges::move(page.blocks, std::back_inserter(blocks));
        from = page.next_from_height;
    }
    return std::nullopt;
}

// The chain knows a share by its nullifier: one that comes twice is answered with code 0 or 2 and
// counts once, so it may be sent again when a connection died while it was idle.
RevealOutcome RestChain::reveal(const std::string& json) {
    const RestAnswer answer =
        client_.post(std::string(root) + "/reveal-share", json, reveal_timeout_);
    if (const auto* const trouble = std::get_if<rpc::Trouble>(&answer)) {
        if (trouble->kind == rpc::Trouble::Kind::stopped) return Unreachable{trouble->text};
        if (observer_ != nullptr) observer_->replied(0, std::nullopt);
        client_.note_trouble(trouble->text);
        return without_reply(*trouble);
    }
    const auto& reply = std::get<RestReply>(answer);
    if (observer_ != nullptr) observer_->replied(reply.status, code_of(reply));
    RevealOutcome outcome = read_reveal(reply, client_);
    client_.note_trouble(is_trouble(reply, outcome) ? std::optional(text_of(outcome))
                                                    : std::nullopt);
    return outcome;
}

}  // namespace gateway::votes
