#include "api/share_submitter.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include "api/envelope.hpp"
#include "api/overloaded.hpp"
#include "api/vote_share.hpp"
#include "domain/bytes.hpp"
#include "domain/request_id.hpp"

namespace api {

namespace {

std::uint64_t whole_seconds(domain::Timestamp time) {
    return static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
}

std::string round_field(const domain::VoteShare& share) {
    return " round_id=" + domain::to_hex(share.round_id);
}

std::string share_fields(const domain::VoteShare& share) {
    return round_field(share) + " share_index=" + std::to_string(share.share_index) +
           " proposal_id=" + std::to_string(share.proposal_id);
}

std::string submit_at_field(const domain::VoteShare& share) {
    return " submit_at=" + std::to_string(share.submit_at);
}

}  // namespace

ShareSubmitter::ShareSubmitter(const Options& options, const Ports& ports, ShareAnswers& answers,
                               Lookups& lookups)
    : options_(options),
      submitter_(ports.submitter),
      rounds_(ports.votes.rounds),
      logger_(ports.logger),
      answers_(answers),
      lookups_(lookups),
      commitments_(ports.votes, ports.logger, ports.clock),
      known_rounds_(options.share_rounds_max),
      submit_errors_("intake_unavailable", ports.logger, ports.clock),
      rounds_errors_("round_lookup_failed", ports.logger, ports.clock) {}

void ShareSubmitter::submit(std::string_view body, const ShareCall& call, net::Respond respond) {
    auto decoded = decode_vote_share(body);
    if (const auto* problem = std::get_if<ShareProblem>(&decoded)) {
        respond(answers_.refused(400, problem->text, call.id));
        return;
    }
    auto& share = std::get<domain::VoteShare>(decoded);
    if (!commitments_.is_on()) {
        note_received(share, call.id);
        if (const auto vote_end = known_rounds_.find(share.round_id)) {
            enter(share, *vote_end, call, std::move(respond));
            return;
        }
    }
    const bool taken = lookups_.start(
        [this, share, call, respond] {
            try {
                check_and_enter(share, call, respond);
            } catch (...) {
                respond(answers_.failed(call));
            }
        },
        [this, call, respond] { respond(answers_.too_late(call)); });
    if (!taken) respond(answers_.overloaded(call));
}

void ShareSubmitter::check_and_enter(const domain::VoteShare& share, const ShareCall& call,
                                     const net::Respond& respond) {
    if (commitments_.is_on()) {
        if (const auto problem = commitments_.problem_of(share, call.id)) {
            respond(answers_.refused(400, *problem, call.id));
            return;
        }
        note_received(share, call.id);
    }
    VoteEnd found = find_vote_end(share, call);
    if (auto* response = std::get_if<net::HttpResponse>(&found)) {
        respond(std::move(*response));
        return;
    }
    enter(share, std::get<domain::Timestamp>(found), call, respond);
}

ShareSubmitter::VoteEnd ShareSubmitter::find_vote_end(const domain::VoteShare& share,
                                                      const ShareCall& call) {
    if (const auto known = known_rounds_.find(share.round_id)) return *known;
    return ask_vote_end(share, call);
}

ShareSubmitter::VoteEnd ShareSubmitter::ask_vote_end(const domain::VoteShare& share,
                                                     const ShareCall& call) {
    const auto lookup_failed = [&](std::string_view reason) -> VoteEnd {
        rounds_errors_.note(fields_of(call) + round_field(share), reason);
        return ShareAnswers::internal_error();
    };
    return std::visit(
        Overloaded{[&](const engine::Round& round) -> VoteEnd {
                       // An end of 0 would make a row that never expires.
                       if (domain::unix_ms(round.vote_end) < 1'000) {
                           return lookup_failed("the chain gives no vote_end_time for the round");
                       }
                       return known_rounds_.remember(share.round_id, round.vote_end);
                   },
                   [&](const engine::UnknownRound&) -> VoteEnd {
                       return answers_.refused(400, "unknown voting round: check vote_round_id",
                                               call.id);
                   },
                   [&](const engine::Unreachable& unreachable) -> VoteEnd {
                       return lookup_failed(unreachable.reason);
                   }},
        rounds_.find(share.round_id));
}

void ShareSubmitter::enter(const domain::VoteShare& share, domain::Timestamp vote_end,
                           const ShareCall& call, net::Respond respond) {
    const std::uint64_t end_seconds = whole_seconds(vote_end);
    if (share.submit_at > end_seconds) {
        respond(answers_.refused(400,
                                 "invalid submit_at: submit_at (" +
                                     std::to_string(share.submit_at) + ") > vote_end_time (" +
                                     std::to_string(end_seconds) + ")",
                                 call.id));
        return;
    }
    submitter_.submit(
        domain::Request(share), engine::SubmitOptions{.vote_end = vote_end},
        [this, call_id = call.id, fields = scheduled_fields(share), respond = std::move(respond)](
            const engine::AcceptOutcome& outcome) { respond(answer(outcome, call_id, fields)); });
}

net::HttpResponse ShareSubmitter::answer(const engine::AcceptOutcome& outcome,
                                         std::string_view call_id, const std::string& fields) {
    const auto conflict = [&] {
        return answers_.refused(409, "conflicting share payload for round_id/share_index", call_id);
    };
    return std::visit(
        Overloaded{[&](const engine::Accepted& accepted) {
                       if (accepted.duplicate) return share_answer("duplicate");
                       if (!fields.empty()) {
                           logger_.write(
                               level(), "share_scheduled job_id=" + domain::to_string(accepted.id) +
                                            " call=" + std::string(call_id) + fields);
                       }
                       return share_answer("queued");
                   },
                   [&](const engine::Conflict&) { return conflict(); },
                   [&](const engine::KeyReused&) { return conflict(); },
                   [&](const engine::TooLarge& refused) {
                       return answers_.refused(400, too_large(refused.bytes_max), call_id);
                   },
                   [&](const engine::QueueFull& bounced) {
                       return answers_.unavailable(bounced.retry_after_seconds);
                   },
                   [&](const engine::Unavailable& refused) {
                       submit_errors_.write(call_id, refused.reason, refused.label);
                       return answers_.unavailable(refused.retry_after_seconds);
                   }},
        outcome);
}

void ShareSubmitter::note_received(const domain::VoteShare& share, std::string_view call_id) const {
    if (!logger_.wants(level())) return;
    logger_.write(level(), "share_received call=" + std::string(call_id) + share_fields(share) +
                               " tree_position=" + std::to_string(share.tree_position) +
                               (options_.share_expose_timing ? submit_at_field(share) : ""));
}

// When a share leaves is the voter's secret.
ports::LogLevel ShareSubmitter::level() const {
    return options_.share_expose_timing ? ports::LogLevel::info : ports::LogLevel::debug;
}

std::string ShareSubmitter::scheduled_fields(const domain::VoteShare& share) const {
    if (!logger_.wants(level())) return {};
    return share_fields(share) + (options_.share_expose_timing ? submit_at_field(share) : "");
}

}  // namespace api
