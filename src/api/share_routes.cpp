#include "api/share_routes.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "api/content_type.hpp"
#include "api/envelope.hpp"
#include "api/match.hpp"
#include "api/vote_share.hpp"
#include "domain/bytes.hpp"
#include "domain/request_id.hpp"

namespace api {

namespace {

constexpr std::string_view unavailable = "helper unavailable";

bool announces_more_than(std::size_t bytes_max, const HttpRequest& head) {
    const auto value = head.header("Content-Length");
    if (!value) return false;
    std::uint64_t bytes = 0;
    const auto read = std::from_chars(value->data(), value->data() + value->size(), bytes);
    return read.ec == std::errc::result_out_of_range || bytes > bytes_max;
}

std::string too_large(std::size_t bytes_max) {
    return "invalid JSON: the body is larger than " + std::to_string(bytes_max) + " bytes";
}

HttpResponse unavailable_answer(std::uint32_t retry_after_seconds) {
    HttpResponse response = share_error(503, unavailable);
    response.headers.emplace_back("Retry-After", std::to_string(std::max(retry_after_seconds, 1U)));
    return response;
}

std::uint64_t whole_seconds(domain::Timestamp time) {
    return static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count());
}

std::string fields_of(const domain::VoteShare& share) {
    return " round_id=" + domain::to_hex(share.round_id) +
           " share_index=" + std::to_string(share.share_index) +
           " proposal_id=" + std::to_string(share.proposal_id);
}

}  // namespace

ShareRoutes::ShareRoutes(const Options& options, const Ports& ports)
    : options_(options),
      gatekeeper_(ports.gatekeeper),
      intake_(ports.intake),
      rounds_(ports.rounds),
      clock_(ports.clock),
      journal_(ports.journal),
      known_rounds_(options.share_rounds_max) {}

std::optional<HttpResponse> ShareRoutes::before_body(const HttpRequest& head) const {
    if (options_.share_disable) return unavailable_answer(options_.api_retry_after_seconds);
    if (!gatekeeper_.may_enter(head)) return share_error(401, "unauthorized");
    if (announces_more_than(options_.share_body_bytes_max, head)) {
        return share_error(400, too_large(options_.share_body_bytes_max));
    }
    if (content_kind_of(head) == ContentKind::form) {
        return share_error(415, std::string("the body must be JSON: ").append(content_type_hint));
    }
    return {};
}

HttpResponse ShareRoutes::limited_answer(std::string_view call_id,
                                         std::uint32_t retry_after_seconds) const {
    HttpResponse response = refuse(429, "too many requests with this token", call_id);
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds));
    return response;
}

void ShareRoutes::submit(std::string_view body, const std::string& call_id, Respond respond) {
    if (body.size() > options_.share_body_bytes_max) {
        respond(refuse(400, too_large(options_.share_body_bytes_max), call_id));
        return;
    }
    const auto decoded = decode_vote_share(body);
    if (const auto* problem = std::get_if<ShareProblem>(&decoded)) {
        respond(refuse(400, problem->text, call_id));
        return;
    }
    const auto& share = std::get<domain::VoteShare>(decoded);
    VoteEnd found = find_vote_end(share.round_id, call_id);
    if (auto* response = std::get_if<HttpResponse>(&found)) {
        respond(std::move(*response));
        return;
    }
    if (journal_.wants(engine::Level::debug)) {
        journal_.write(
            engine::Level::debug,
            std::string("share_received call=").append(call_id).append(fields_of(share)));
    }
    const auto vote_end = std::get<domain::Timestamp>(found);
    if (auto refusal = check_submit_at(share, vote_end, call_id)) {
        respond(std::move(*refusal));
        return;
    }
    intake_.submit(
        domain::Request(share), engine::Terms{.vote_end = vote_end},
        [this, call_id, respond = std::move(respond)](const engine::AcceptOutcome& outcome) {
            respond(answer(outcome, call_id));
        });
}

std::optional<HttpResponse> ShareRoutes::check_submit_at(const domain::VoteShare& share,
                                                         domain::Timestamp vote_end,
                                                         std::string_view call_id) const {
    const std::uint64_t end_seconds = whole_seconds(vote_end);
    if (share.submit_at <= end_seconds) return {};
    return refuse(400,
                  "invalid submit_at: submit_at (" + std::to_string(share.submit_at) +
                      ") > vote_end_time (" + std::to_string(end_seconds) + ")",
                  call_id);
}

HttpResponse ShareRoutes::unreadable(HttpProblem problem) const {
    switch (problem) {
        case HttpProblem::body_too_large:
            return share_error(400, too_large(options_.share_body_bytes_max));
        case HttpProblem::truncated:
            return share_error(400, std::string("invalid JSON: ").append(text_of(problem)));
        case HttpProblem::overloaded:
            return unavailable_answer(options_.api_retry_after_seconds);
        default:
            return share_error(status_of(problem), text_of(problem));
    }
}

ShareRoutes::VoteEnd ShareRoutes::find_vote_end(const domain::Bytes32& round_id,
                                                std::string_view call_id) {
    if (const auto known = known_rounds_.find(round_id)) return *known;
    const auto lookup_failed = [&](std::string_view reason) -> VoteEnd {
        rounds_trouble_.write(call_id, reason);
        return share_error(500, "internal error");
    };
    return std::visit(
        Match{[&](const engine::Round& round) -> VoteEnd {
                  // An end of 0 would make a row that never expires.
                  if (domain::unix_ms(round.vote_end) < 1'000) {
                      return lookup_failed("the chain gives no vote_end_time for the round");
                  }
                  return known_rounds_.remember(round_id, round.vote_end);
              },
              [&](const engine::UnknownRound&) -> VoteEnd {
                  return refuse(400, "unknown voting round: check vote_round_id", call_id);
              },
              [&](const engine::Unreachable& unreachable) -> VoteEnd {
                  return lookup_failed(unreachable.reason);
              }},
        rounds_.find(round_id));
}

HttpResponse ShareRoutes::answer(const engine::AcceptOutcome& outcome, std::string_view call_id) {
    return std::visit(
        Match{[&](const engine::Accepted& accepted) {
                  if (accepted.duplicate) return share_answer("duplicate");
                  note_scheduled(accepted, call_id);
                  return share_answer("queued");
              },
              [&](const engine::Conflict&) {
                  return refuse(409, "conflicting share payload for round_id/share_index", call_id);
              },
              [&](const engine::KeyReused&) {
                  return refuse(409, "conflicting share payload for round_id/share_index", call_id);
              },
              [&](const engine::Bounced& bounced) {
                  return unavailable_answer(bounced.retry_after_seconds);
              },
              [&](const engine::Unavailable& refused) {
                  intake_trouble_.write(call_id, refused.reason);
                  return unavailable_answer(refused.retry_after_seconds);
              }},
        outcome);
}

// Without its time: when a share leaves is the voter's secret.
void ShareRoutes::note_scheduled(const engine::Accepted& accepted, std::string_view call_id) {
    if (!journal_.wants(engine::Level::debug)) return;
    journal_.write(engine::Level::debug, std::string("share_scheduled job_id=")
                                             .append(domain::to_string(accepted.id))
                                             .append(" call=")
                                             .append(call_id));
}

HttpResponse ShareRoutes::refuse(int status, std::string_view text,
                                 std::string_view call_id) const {
    journal_.write(engine::Level::debug, std::string("share_refused call=")
                                             .append(call_id)
                                             .append(" status=")
                                             .append(std::to_string(status)));
    return share_error(status, text);
}

}  // namespace api
