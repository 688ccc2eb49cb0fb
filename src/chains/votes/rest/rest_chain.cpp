#include "chains/votes/rest/rest_chain.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "chains/votes/rest/rest_reveal.hpp"

namespace chains::votes::rest {
namespace {

using engine::Unreachable;

constexpr std::size_t leaves_bytes_max = 16U << 20U;
// As many heights as a chain answers for at once, both ends included.
constexpr std::uint64_t heights_max = 1'001;

constexpr const char* no_time = "leaves: no time left";

constexpr const char* root = "/shielded-vote/v1";

std::string tree_target(const domain::Bytes32& round_id, const std::string& rest) {
    return std::string(root) + "/commitment-tree/" + domain::to_hex(round_id) + rest;
}

// Reads the reply, and notes what became of the exchange.
template <typename Outcome, typename Read>
Outcome conclude(RestClient& client, RestAnswer answer, Read read) {
    Outcome outcome = std::holds_alternative<jsonrpc::TransportError>(answer)
                          ? Outcome(Unreachable{std::get<jsonrpc::TransportError>(answer).text})
                          : Outcome(read(std::get<RestReply>(std::move(answer))));
    const auto* const failed = std::get_if<Unreachable>(&outcome);
    client.note_problem(failed == nullptr ? std::nullopt : std::optional(failed->reason));
    return outcome;
}

template <typename Outcome, typename Read>
Outcome when_known(RoundReply reply, Read read) {
    if (auto* const failed = std::get_if<Unreachable>(&reply)) return std::move(*failed);
    if (std::holds_alternative<engine::UnknownRound>(reply)) return engine::UnknownRound{};
    return read(std::get<jsonrpc::Json>(reply));
}

// The chain itself is well when it says no to a share.
bool is_problem(const RestReply& reply, const RevealOutcome& outcome) {
    if (std::holds_alternative<domain::ShareRevealed>(outcome)) return false;
    if (reply.status == 200 || reply.status == 422) return !code_of(reply);
    return reply.status >= 500 || std::holds_alternative<Unreachable>(outcome);
}

std::string text_of(const RevealOutcome& outcome) {
    if (const auto* const refused = std::get_if<NotRevealedNow>(&outcome)) return refused->text;
    const auto* const failed = std::get_if<Unreachable>(&outcome);
    return failed == nullptr ? std::string() : failed->reason;
}

RevealOutcome without_reply(const jsonrpc::TransportError& problem) {
    // Something came, and it was no answer of a chain.
    if (problem.kind == jsonrpc::TransportError::Kind::garbled) return NotRevealedNow{problem.text};
    return Unreachable{problem.text};
}

}  // namespace

RestChain::RestChain(const Options& options, const ports::Clock& clock,
                     engine::VoteObserver* observer)
    : reveal_timeout_(options.reveal_timeout),
      read_timeout_(options.read_timeout),
      codespace_(options.chain_codespace),
      clock_(clock),
      observer_(observer),
      client_(options.chain_url, clock, options.client_context) {}

engine::RoundAnswer RestChain::find(const domain::Bytes32& round_id) {
    return conclude<engine::RoundAnswer>(
        client_, get_round(round_id, read_timeout_), [&](RestReply reply) {
            return when_known<engine::RoundAnswer>(read_round(std::move(reply), round_id),
                                                   read_vote_end);
        });
}

RoundStatusAnswer RestChain::round_status(const domain::Bytes32& round_id) {
    return conclude<RoundStatusAnswer>(client_, get_round(round_id, read_timeout_),
                                       [&](RestReply reply) {
                                           return when_known<RoundStatusAnswer>(
                                               read_round(std::move(reply), round_id), read_status);
                                       });
}

ActiveRoundAnswer RestChain::active_round() {
    return conclude<ActiveRoundAnswer>(
        client_, client_.get(std::string(root) + "/rounds/active", read_timeout_),
        [](const RestReply& reply) { return read_active_round(reply); });
}

RestAnswer RestChain::get_round(const domain::Bytes32& round_id, domain::Milliseconds timeout) {
    return client_.get(std::string(root) + "/round/" + domain::to_hex(round_id), timeout);
}

std::variant<tree::LatestTree, engine::UnknownRound, Unreachable> RestChain::latest(
    const domain::Bytes32& round_id) {
    using Outcome = std::variant<tree::LatestTree, engine::UnknownRound, Unreachable>;
    return conclude<Outcome>(client_, client_.get(tree_target(round_id, "/latest"), read_timeout_),
                             [](const RestReply& reply) { return read_latest_tree(reply); });
}

domain::Milliseconds RestChain::timeout_until(domain::Monotonic deadline) const {
    const auto left =
        std::chrono::duration_cast<domain::Milliseconds>(deadline - clock_.monotonic());
    return std::min(left, read_timeout_);
}

std::variant<tree::LeavesRead, Unreachable> RestChain::leaves(const domain::Bytes32& round_id,
                                                              const tree::LeavesQuery& query) {
    const auto first = first_height(round_id, query);
    if (const auto* const failed = std::get_if<Unreachable>(&first)) return *failed;
    const std::uint64_t began = std::get<std::uint64_t>(first);
    tree::LeavesRead read{{}, query.to_height};
    std::uint64_t leaves = 0;
    for (std::uint64_t from = began; from <= query.to_height;) {
        const std::uint64_t to = from + std::min(heights_max - 1, query.to_height - from);
        auto outcome = leaves_page(round_id, from, to, query.deadline);
        if (auto* const failed = std::get_if<Unreachable>(&outcome)) {
            if (from == began) return std::move(*failed);
            break;
        }
        auto& page = std::get<LeavesPage>(outcome);
        for (const tree::BlockLeaves& block : page.blocks) leaves += block.leaves.size();
        std::ranges::move(page.blocks, std::back_inserter(read.blocks));
        read.to_height = page.next_from_height == 0 ? to : page.next_from_height - 1;
        if (read.to_height == query.to_height || leaves > query.leaves_enough) break;
        from = read.to_height + 1;
    }
    return read;
}

std::variant<std::uint64_t, Unreachable> RestChain::first_height(const domain::Bytes32& round_id,
                                                                 const tree::LeavesQuery& query) {
    const std::uint64_t from = std::max<std::uint64_t>(query.from_height, 1);
    if (query.to_height < from || query.to_height - from < heights_max) return from;
    const domain::Milliseconds timeout = timeout_until(query.deadline);
    if (timeout <= domain::Milliseconds{0}) return Unreachable{no_time};
    RoundReply reply =
        conclude<RoundReply>(client_, get_round(round_id, timeout),
                             [&](RestReply got) { return read_round(std::move(got), round_id); });
    if (auto* const failed = std::get_if<Unreachable>(&reply)) return std::move(*failed);
    const auto* const round = std::get_if<jsonrpc::Json>(&reply);
    if (round == nullptr) return Unreachable{"leaves: round not found"};
    return std::max(from, number_of(*round, "created_at_height").value_or(0));
}

std::variant<LeavesPage, Unreachable> RestChain::leaves_page(const domain::Bytes32& round_id,
                                                             std::uint64_t from_height,
                                                             std::uint64_t to_height,
                                                             domain::Monotonic deadline) {
    using Outcome = std::variant<LeavesPage, Unreachable>;
    const domain::Milliseconds timeout = timeout_until(deadline);
    if (timeout <= domain::Milliseconds{0}) return Unreachable{no_time};
    const std::string target =
        tree_target(round_id, "/leaves?from_height=" + std::to_string(from_height) +
                                  "&to_height=" + std::to_string(to_height));
    return conclude<Outcome>(
        client_, client_.get(target, timeout, leaves_bytes_max),
        [&](const RestReply& reply) { return read_leaves(reply, from_height, to_height); });
}

// The chain knows a share by its nullifier: one that comes twice is answered with code 0 or 2 and
// counts once, so it may be sent again when a connection died while it was idle.
RevealOutcome RestChain::reveal(const std::string& json) {
    const RestAnswer answer =
        client_.post(std::string(root) + "/reveal-share", json, reveal_timeout_);
    if (const auto* const problem = std::get_if<jsonrpc::TransportError>(&answer)) {
        if (problem->kind == jsonrpc::TransportError::Kind::stopped)
            return Unreachable{problem->text};
        if (observer_ != nullptr) observer_->replied(0, std::nullopt);
        client_.note_problem(problem->text);
        return without_reply(*problem);
    }
    const auto& reply = std::get<RestReply>(answer);
    if (observer_ != nullptr) observer_->replied(reply.status, code_of(reply));
    RevealOutcome outcome = read_reveal(reply, client_, codespace_);
    client_.note_problem(is_problem(reply, outcome) ? std::optional(text_of(outcome))
                                                    : std::nullopt);
    return outcome;
}

}  // namespace chains::votes::rest
