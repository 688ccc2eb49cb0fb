#include "api/relayer_routes.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/content_type.hpp"
#include "api/decode.hpp"
#include "api/envelope.hpp"
#include "api/match.hpp"
#include "api/poll_answer.hpp"
#include "api/router.hpp"
#include "api/user_signature.hpp"
#include "domain/request_id.hpp"

namespace api {

namespace {

constexpr std::string_view unread_body = "Failed to read request body";

Decoded decode(domain::Kind kind, std::string_view body, std::uint64_t now_seconds) {
    switch (kind) {
        case domain::Kind::input_proof:
            return decode_input_proof(body, now_seconds);
        case domain::Kind::public_decrypt:
            return decode_public_decrypt(body, now_seconds);
        case domain::Kind::user_decrypt:
            return decode_user_decrypt(body, now_seconds);
        case domain::Kind::delegated_user_decrypt:
            return decode_delegated_user_decrypt(body, now_seconds);
        case domain::Kind::unified_user_decrypt:
            return decode_unified_user_decrypt(body, now_seconds);
        case domain::Kind::share:
            break;
    }
    return internal_error();
}

struct HandlesOf {
    using Handles = std::vector<domain::Bytes32>;

    template <typename Pairs>
    static Handles collect(const Pairs& pairs) {
        Handles handles;
        handles.reserve(pairs.size());
        for (const auto& pair : pairs) handles.push_back(pair.handle);
        return handles;
    }

    Handles operator()(const domain::InputProof&) const { return {}; }
    Handles operator()(const domain::PublicDecrypt& request) const { return request.handles; }
    Handles operator()(const domain::UserDecrypt& request) const { return collect(request.pairs); }
    Handles operator()(const domain::DelegatedUserDecrypt& request) const {
        return collect(request.pairs);
    }
    Handles operator()(const domain::UnifiedUserDecrypt& request) const {
        return collect(request.handles);
    }
    Handles operator()(const domain::VoteShare&) const { return {}; }
};

std::uint64_t unix_seconds(domain::Timestamp time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(domain::unix_ms(time), 0)) / 1'000;
}

// What a client gets wrong is his to see; at a higher level he could fill our disk with it.
engine::Level level_of(int status) {
    return status >= 500 ? engine::Level::error : engine::Level::debug;
}

template <typename Outcome>
bool is_of(domain::Family family, const Outcome& outcome) {
    return domain::family_of(outcome.kind) == family;
}

}  // namespace

RelayerRoutes::RelayerRoutes(const Options& options, engine::Intake& intake,
                             engine::Inquiry& inquiry, ContractSignatures& contracts,
                             const engine::Clock& clock, engine::Journal& journal)
    : options_(options),
      intake_(intake),
      inquiry_(inquiry),
      contracts_(contracts),
      clock_(clock),
      journal_(journal) {}

std::optional<Refusal> RelayerRoutes::before_body(const HttpRequest& head) const {
    if (content_kind_of(head) == ContentKind::json) return {};
    return request_error(std::string("the body must be JSON: ").append(content_type_hint));
}

void RelayerRoutes::submit(domain::Kind kind, std::string_view body, const std::string& call_id,
                           Respond respond) {
    if (body.size() > options_.relayer_body_bytes_max) {
        respond(refuse(request_error(unread_body), call_id));
        return;
    }
    const Decoded decoded = decode(kind, body, unix_seconds(clock_.wall()));
    const auto* refused = std::get_if<Refusal>(&decoded);
    std::optional<Refusal> refusal = refused != nullptr ? std::optional(*refused) : std::nullopt;
    const auto* request = std::get_if<domain::Request>(&decoded);
    if (!refusal) refusal = check_host_chains(*request);
    if (!refusal) refusal = check_signature(*request, call_id);
    if (refusal) {
        respond(refuse(*refusal, call_id));
        return;
    }
    intake_.submit(
        *request, {},
        [this, kind, call_id, respond = std::move(respond)](const engine::AcceptOutcome& outcome) {
            respond(answer(kind, outcome, call_id));
        });
}

HttpResponse RelayerRoutes::answer(domain::Kind kind, const engine::AcceptOutcome& outcome,
                                   std::string_view call_id) {
    return std::visit(
        Match{[&](const engine::Accepted& accepted) {
                  const std::string job_id = domain::to_string(accepted.id);
                  if (journal_.wants(engine::Level::debug)) {
                      journal_.write(engine::Level::debug,
                                     std::string("accepted job_id=")
                                         .append(job_id)
                                         .append(" call=")
                                         .append(call_id)
                                         .append(" kind=")
                                         .append(domain::to_string(kind))
                                         .append(accepted.duplicate ? " duplicate=true" : ""));
                  }
                  return accepted_answer(call_id, job_id, accepted.retry_after_seconds);
              },
              [&](const engine::Conflict&) { return refuse(internal_error(), call_id); },
              [&](const engine::Bounced&) {
                  return refuse(rate_limited(), call_id, options_.api_retry_after_seconds);
              },
              [&](const engine::Unavailable& unavailable) {
                  intake_trouble_.write(call_id, unavailable.reason);
                  return failed_answer(call_id, can_not_store(),
                                       std::max(unavailable.retry_after_seconds, 1U));
              }},
        outcome);
}

HttpResponse RelayerRoutes::poll(domain::Kind kind, std::string_view job_id,
                                 std::string_view call_id) {
    const domain::ParsedId id = domain::parse_request_id(percent_decoded(job_id));
    if (id.form == domain::UuidForm::invalid) {
        return refuse(request_error("Invalid URL: Cannot parse `job_id` as a UUID: send the jobId "
                                    "of the 202 answer"),
                      call_id);
    }
    if (id.form == domain::UuidForm::foreign) return refuse(not_found(), call_id);

    const domain::Family family = domain::family_of(kind);
    const auto missing = [&] { return refuse(not_found(), call_id); };
    return std::visit(Match{[&](const engine::NotFound&) { return missing(); },
                            [&](const engine::Pending& pending) {
                                if (!is_of(family, pending)) return missing();
                                return pending_answer(call_id, pending.status,
                                                      pending.retry_after_seconds,
                                                      pending.elapsed_seconds);
                            },
                            [&](const engine::Completed& completed) {
                                if (!is_of(family, completed)) return missing();
                                if (const auto problem = problem_of(completed))
                                    return refuse(*problem, call_id);
                                return succeeded_answer(call_id, *completed.result);
                            },
                            [&](const engine::Ended& ended) {
                                if (!is_of(family, ended)) return missing();
                                if (is_rejected_proof(ended)) return proof_rejected_answer(call_id);
                                return failed_answer(call_id, refusal_of(ended));
                            },
                            [&](const engine::Unreadable& unreadable) {
                                inquiry_trouble_.write(call_id, unreadable.reason);
                                return failed_answer(call_id, internal_error("Database error"));
                            }},
                      inquiry_.find(id.id));
}

HttpResponse RelayerRoutes::unreadable(HttpProblem problem, std::string_view call_id) const {
    switch (problem) {
        case HttpProblem::body_too_large:
            return failed_answer(call_id, request_error(unread_body));
        case HttpProblem::overloaded:
            return failed_answer(call_id, can_not_store(), options_.api_retry_after_seconds);
        case HttpProblem::connections_too_many:
            return failed_answer(call_id, can_not_connect(), 1);
        case HttpProblem::transfer_encoding:
        case HttpProblem::content_encoding:
        case HttpProblem::truncated:
        case HttpProblem::deadline:
            return failed_answer(
                call_id,
                request_error(std::string(unread_body).append(": ").append(text_of(problem))));
        default:
            break;
    }
    Refusal refusal = request_error(text_of(problem));
    refusal.status = status_of(problem);
    return failed_answer(call_id, refusal);
}

std::optional<Refusal> RelayerRoutes::check_host_chains(const domain::Request& request) const {
    for (const domain::Bytes32& handle : std::visit(HandlesOf{}, request)) {
        const std::uint64_t chain_id = host_chain_of(handle);
        const auto& known = options_.host_chain_ids;
        if (std::find(known.begin(), known.end(), chain_id) == known.end()) {
            return host_chain_not_supported(chain_id);
        }
    }
    return {};
}

std::optional<Refusal> RelayerRoutes::check_signature(const domain::Request& request,
                                                      std::string_view call_id) {
    const auto* unified = std::get_if<domain::UnifiedUserDecrypt>(&request);
    if (unified == nullptr) return {};
    const SignatureAnswer answer =
        check_user_signature(*unified, options_.decryption_address, contracts_);
    if (std::holds_alternative<SignatureInvalid>(answer)) return invalid_signature();
    if (const auto* unreachable = std::get_if<engine::Unreachable>(&answer)) {
        signature_trouble_.write(call_id, unreachable->reason);
        return internal_error();
    }
    return {};
}

HttpResponse RelayerRoutes::refuse(const Refusal& refusal, std::string_view call_id,
                                   std::uint32_t retry_after_seconds) const {
    if (!journal_.wants(level_of(refusal.status))) {
        return failed_answer(call_id, refusal, retry_after_seconds);
    }
    std::string line = "refused call=";
    line.append(call_id).append(" status=").append(std::to_string(refusal.status));
    line.append(" label=").append(refusal.label);
    journal_.write(level_of(refusal.status), line);
    return failed_answer(call_id, refusal, retry_after_seconds);
}

}  // namespace api
