#include "api/share_queries.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/envelope.hpp"
#include "api/overloaded.hpp"
#include "api/router.hpp"
#include "base/text.hpp"
#include "domain/bytes.hpp"

namespace api {

namespace {

constexpr std::string_view spaces = " \t\n\v\f\r";

struct ShareName {
    domain::Bytes32 round_id{};
    domain::Bytes32 nullifier{};
};

std::string id_in(std::string_view segment) {
    return std::string(base::trimmed(percent_decoded(segment), spaces));
}

// Or the text of the 400.
std::variant<ShareName, std::string_view> read_name(std::string_view ids) {
    const std::size_t slash = std::min(ids.find('/'), ids.size());
    const std::string round_id = id_in(ids.substr(0, slash));
    const std::string nullifier = id_in(ids.substr(std::min(slash + 1, ids.size())));
    ShareName name;
    constexpr std::size_t digits = 2 * std::tuple_size_v<domain::Bytes32>;
    if (round_id.size() != digits) return "roundId must be 64 hex characters";
    if (nullifier.size() != digits) return "nullifier must be 64 hex characters";
    if (!domain::from_hex(round_id, name.round_id)) return "invalid roundId hex";
    if (!domain::from_hex(nullifier, name.nullifier)) return "invalid nullifier hex";
    return name;
}

}  // namespace

ShareQueries::ShareQueries(const Ports& ports, ShareAnswers& answers, Lookups& lookups,
                           Lookups& tree_lookups)
    : nullifiers_(ports.votes.nullifiers),
      queue_(ports.queue),
      answers_(answers),
      lookups_(lookups),
      tree_(ports.votes.trees, tree_lookups, ports.logger, ports.clock),
      nullifier_errors_("nullifier_check_failed", ports.logger, ports.clock),
      queue_errors_("queue_status_failed", ports.logger, ports.clock) {}

void ShareQueries::share_status(std::string_view ids, const ShareCall& call,
                                const net::Respond& respond) {
    const auto read = read_name(ids);
    if (const auto* problem = std::get_if<std::string_view>(&read)) {
        respond(answers_.refused(400, *problem, call.id));
        return;
    }
    if (nullifiers_ == nullptr) {
        respond(share_answer("pending"));
        return;
    }
    const bool taken = lookups_.start(
        [this, name = std::get<ShareName>(read), call, respond] {
            net::HttpResponse response;
            try {
                response = find_nullifier(name.round_id, name.nullifier, call);
            } catch (...) {
                response = answers_.failed(call);
            }
            respond(std::move(response));
        },
        [this, call, respond] { respond(answers_.too_late(call)); });
    if (!taken) respond(answers_.overloaded(call));
}

net::HttpResponse ShareQueries::find_nullifier(const domain::Bytes32& round_id,
                                               const domain::Bytes32& nullifier,
                                               const ShareCall& call) {
    return std::visit(Overloaded{[](const engine::Revealed&) { return share_answer("confirmed"); },
                                 [](const engine::NotRevealed&) { return share_answer("pending"); },
                                 [&](const engine::Unreachable& unreachable) {
                                     nullifier_errors_.note(
                                         fields_of(call) + " round_id=" + domain::to_hex(round_id),
                                         unreachable.reason);
                                     return ShareAnswers::internal_error();
                                 }},
                      nullifiers_->find(round_id, nullifier));
}

void ShareQueries::helper_status(const net::Respond& respond) {
    tree_.latest(
        [respond](const ActiveTree::Reading& tree) { respond(helper_status_answer(tree)); });
}

net::HttpResponse ShareQueries::queue_status(const ShareCall& call) {
    if (queue_ == nullptr) return answers_.unavailable();
    return std::visit(Overloaded{[](const std::vector<store::RoundCounts>& rounds) {
                                     return queue_status_answer(rounds);
                                 },
                                 [&](const engine::Unreadable& unreadable) {
                                     queue_errors_.note(fields_of(call), unreadable.reason);
                                     return ShareAnswers::internal_error();
                                 }},
                      queue_->rounds());
}

}  // namespace api
