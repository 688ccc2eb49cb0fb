#include "api/relayer_routes.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "api/content_type.hpp"
#include "api/decode.hpp"
#include "api/envelope.hpp"
#include "api/idempotency_key.hpp"
#include "api/overloaded.hpp"
#include "api/poll_answer.hpp"
#include "api/router.hpp"
#include "api/wait.hpp"
#include "domain/handle.hpp"

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
ports::LogLevel level_of(int status) {
    return status >= 500 ? ports::LogLevel::error : ports::LogLevel::debug;
}

template <typename Outcome>
bool is_of(domain::Family family, const Outcome& outcome) {
    return domain::family_of(outcome.kind) == family;
}

}  // namespace

RelayerRoutes::RelayerRoutes(const Options& options, const Ports& ports)
    : options_(options),
      submitter_(ports.submitter),
      request_reader_(ports.request_reader),
      clock_(ports.clock),
      logger_(ports.logger),
      long_polls_(ports.long_polls),
      observer_(ports.observer),
      signatures_(options.decryption_address, ports.contracts, ports.contract_lookups,
                  ports.clock) {}

std::optional<ApiError> RelayerRoutes::before_body(const net::HttpRequest& head,
                                                   const access::Pass& pass) const {
    const bool from_browser = pass.key_in_cookie || head.header("Origin");
    if (!from_browser || announces_json(head)) return {};
    return request_error(std::string("the body must be JSON: ").append(content_type_hint));
}

net::HttpResponse RelayerRoutes::unauthorized_answer(std::string_view call_id) const {
    net::HttpResponse response = refuse(unauthorized(), call_id);
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"posthouse\"");
    return response;
}

net::HttpResponse RelayerRoutes::limited_answer(std::string_view call_id,
                                                std::uint32_t retry_after_seconds) const {
    return refuse(key_limited(), call_id, retry_after_seconds);
}

void RelayerRoutes::submit(const Call& call, const net::HttpRequest& request,
                           net::Respond respond) {
    if (request.body.size() > options_.relayer_body_bytes_max) {
        respond(refuse(request_error(unread_body), call.id));
        return;
    }
    const Decoded decoded = decode(call.kind, request.body, unix_seconds(clock_.wall()));
    const auto* refused = std::get_if<ApiError>(&decoded);
    std::optional<ApiError> api_error = refused != nullptr ? std::optional(*refused) : std::nullopt;
    const auto* content = std::get_if<domain::Request>(&decoded);
    const IdempotencyKey key = read_idempotency_key(request, call.client);
    if (!api_error) {
        if (const auto* bad_key = std::get_if<ApiError>(&key)) api_error = *bad_key;
    }
    if (!api_error) api_error = check_host_chains(*content);
    if (api_error) {
        respond(refuse(*api_error, call.id));
        return;
    }
    engine::SubmitOptions submit_options{.client = call.client};
    if (const auto* given = std::get_if<domain::Bytes32>(&key))
        submit_options.idempotency_key = *given;
    const auto* unified = std::get_if<domain::UnifiedUserDecrypt>(content);
    if (unified == nullptr) {
        enter(call, *content, submit_options, std::move(respond));
    } else if (const auto signature = signatures_.recover(*unified)) {
        enter_signed(call, *content, submit_options, *signature, std::move(respond));
    } else {
        signatures_.ask_contract(
            *unified, [this, call, posted = *content, submit_options,
                       respond = std::move(respond)](const engine::SignatureAnswer& said) {
                try {
                    enter_signed(call, posted, submit_options, said, respond);
                } catch (...) {
                    submit_errors_.write(call.id, reason_of_current_exception());
                    respond(failed_answer(call.id, internal_error()));
                }
            });
    }
}

void RelayerRoutes::enter_signed(const Call& call, const domain::Request& request,
                                 const engine::SubmitOptions& submit_options,
                                 const engine::SignatureAnswer& signature, net::Respond respond) {
    if (const auto api_error = signature_problem(signature, call.id)) {
        respond(refuse(*api_error, call.id));
    } else {
        enter(call, request, submit_options, std::move(respond));
    }
}

void RelayerRoutes::enter(const Call& call, const domain::Request& request,
                          const engine::SubmitOptions& submit_options, net::Respond respond) {
    submitter_.submit(
        request, submit_options,
        [this, call, respond = std::move(respond)](const engine::AcceptOutcome& outcome) {
            respond(answer(call, outcome));
        });
}

net::HttpResponse RelayerRoutes::answer(const Call& call, const engine::AcceptOutcome& outcome) {
    return std::visit(
        Overloaded{
            [&](const engine::Accepted& found) { return accepted(call, found); },
            [&](const engine::Conflict&) { return refuse(internal_error(), call.id); },
            [&](const engine::KeyReused&) { return refuse(idempotency_key_reused(), call.id); },
            [&](const engine::TooLarge& refused) {
                return refuse(
                    request_error("The request is larger than the " +
                                  std::to_string(refused.bytes_max) + " bytes that can be stored"),
                    call.id);
            },
            [&](const engine::QueueFull&) {
                return refuse(rate_limited(), call.id, options_.api_retry_after_seconds);
            },
            [&](const engine::Unavailable& unavailable) {
                submit_errors_.write(call.id, unavailable.reason, unavailable.label);
                return failed_answer(call.id, can_not_store(),
                                     std::max(unavailable.retry_after_seconds, 1U));
            }},
        outcome);
}

net::HttpResponse RelayerRoutes::accepted(const Call& call, const engine::Accepted& accepted) {
    if (accepted.raw_eta_ms) {
        observer_.estimated(domain::family_of(call.kind), *accepted.raw_eta_ms);
    }
    std::string job_id = domain::to_string(accepted.id);
    if (logger_.wants(ports::LogLevel::debug)) {
        logger_.write(ports::LogLevel::debug,
                      std::string("accepted job_id=")
                          .append(job_id)
                          .append(" call=")
                          .append(call.id)
                          .append(" kind=")
                          .append(domain::to_string(call.kind))
                          .append(accepted.duplicate ? " duplicate=true" : ""));
    }
    return accepted_answer(call.id, job_id, accepted.retry_after_seconds);
}

void RelayerRoutes::poll(const Call& call, const net::HttpRequest& request, std::string_view job_id,
                         const net::Respond& respond, const net::WhenGone& when_gone) {
    const domain::ParsedId id = domain::parse_request_id(percent_decoded(job_id));
    if (id.form == domain::UuidForm::invalid) {
        respond(refuse(request_error("Invalid URL: Cannot parse `job_id` as a UUID: send the "
                                     "jobId of the 202 answer"),
                       call.id));
        return;
    }
    const Wait wait = read_wait(request, options_.long_poll_wait_max);
    if (const auto* api_error = std::get_if<ApiError>(&wait)) {
        respond(refuse(*api_error, call.id));
        return;
    }
    if (id.form == domain::UuidForm::foreign) {
        respond(refuse(not_found(), call.id));
        return;
    }
    engine::FindOutcome outcome = look_up(call.kind, id.id);
    const auto seconds = std::get<std::optional<std::chrono::seconds>>(wait);
    const auto* pending = std::get_if<engine::Pending>(&outcome);
    if (seconds && pending != nullptr && is_of(domain::family_of(call.kind), *pending)) {
        wait_for_end(call, id.id, *seconds, respond, when_gone);
    } else {
        respond(answer(call, outcome));
    }
}

void RelayerRoutes::wait_for_end(const Call& call, const domain::RequestId& id,
                                 std::chrono::seconds wait, const net::Respond& respond,
                                 const net::WhenGone& when_gone) {
    const auto waiting = std::make_shared<WaitingPoll>();
    const auto answer_now = [this, call, id, wait, respond, waiting] {
        net::HttpResponse response = answer(call, look_up(call.kind, id));
        if (!waiting->gone) {
            response.headers.emplace_back("Preference-Applied",
                                          "wait=" + std::to_string(wait.count()));
        }
        respond(std::move(response));
    };
    // Asked before the wait begins: the answer may come from then on, and nobody may touch the
    // exchange beside it.
    if (when_gone) when_gone([this, waiting] { stop_waiting(*waiting); });
    const auto ticket = long_polls_.wait(id.sequence, wait, answer_now);
    if (!ticket) {  // no place: the answer of a plain poll
        respond(answer(call, look_up(call.kind, id)));
        return;
    }
    waiting->ticket = *ticket;
    if (waiting->gone) long_polls_.finish_early(*ticket);
    // It may have ended before the place was taken.
    const engine::FindOutcome outcome = look_up(call.kind, id);
    if (!std::holds_alternative<engine::Pending>(outcome) && long_polls_.withdraw(*ticket)) {
        answer_now();
    }
}

void RelayerRoutes::stop_waiting(WaitingPoll& waiting) {
    waiting.gone = true;
    if (const LongPolls::Ticket ticket = waiting.ticket; ticket != 0)
        long_polls_.finish_early(ticket);
}

engine::FindOutcome RelayerRoutes::look_up(domain::Kind kind, const domain::RequestId& id) {
    const domain::Monotonic begin = clock_.monotonic();
    engine::FindOutcome outcome = request_reader_.find(id);
    observer_.looked_up(domain::family_of(kind), clock_.monotonic() - begin,
                        std::holds_alternative<engine::Unreadable>(outcome));
    return outcome;
}

net::HttpResponse RelayerRoutes::answer(const Call& call, const engine::FindOutcome& outcome) {
    const domain::Family family = domain::family_of(call.kind);
    const auto missing = [&] { return refuse(not_found(), call.id); };
    return std::visit(
        Overloaded{[&](const engine::NotFound&) { return missing(); },
                   [&](const engine::Pending& pending) {
                       if (!is_of(family, pending)) return missing();
                       return pending_answer(call.id, pending.status, pending.retry_after_seconds,
                                             pending.elapsed_seconds);
                   },
                   [&](const engine::Completed& completed) {
                       if (!is_of(family, completed)) return missing();
                       if (const auto problem = problem_of(completed))
                           return refuse(*problem, call.id);
                       return succeeded_answer(call.id, *completed.result);
                   },
                   [&](const engine::Ended& ended) {
                       if (!is_of(family, ended)) return missing();
                       if (is_rejected_proof(ended)) return proof_rejected_answer(call.id);
                       return failed_answer(call.id, api_error_of(ended));
                   },
                   [&](const engine::Unreadable& unreadable) {
                       find_errors_.write(call.id, unreadable.reason);
                       return failed_answer(call.id, internal_error("Database error"));
                   }},
        outcome);
}

net::HttpResponse RelayerRoutes::unreadable(const Options& options, net::HttpProblem problem,
                                            std::string_view call_id) {
    switch (problem) {
        case net::HttpProblem::body_too_large:
            return failed_answer(call_id, request_error(unread_body));
        case net::HttpProblem::overloaded:
            return failed_answer(call_id, can_not_store(), options.api_retry_after_seconds);
        case net::HttpProblem::connections_too_many:
            return failed_answer(call_id, can_not_connect(), 1);
        case net::HttpProblem::transfer_encoding:
        case net::HttpProblem::malformed_body:
        case net::HttpProblem::content_encoding:
        case net::HttpProblem::truncated:
        case net::HttpProblem::deadline:
            return failed_answer(
                call_id,
                request_error(std::string(unread_body).append(": ").append(net::text_of(problem))));
        default:
            break;
    }
    ApiError api_error = request_error(net::text_of(problem));
    api_error.status = net::status_of(problem);
    return failed_answer(call_id, api_error);
}

std::optional<ApiError> RelayerRoutes::check_host_chains(const domain::Request& request) const {
    for (const domain::Bytes32& handle : std::visit(HandlesOf{}, request)) {
        const std::uint64_t chain_id = domain::host_chain_of(handle);
        const auto& known = options_.host_chain_ids;
        if (std::find(known.begin(), known.end(), chain_id) == known.end()) {
            return host_chain_not_supported(chain_id);
        }
    }
    return {};
}

std::optional<ApiError> RelayerRoutes::signature_problem(const engine::SignatureAnswer& answer,
                                                         std::string_view call_id) {
    if (std::holds_alternative<engine::SignatureInvalid>(answer)) {
        observer_.signature_checked(SignatureOutcome::rejected);
        return invalid_signature();
    }
    if (const auto* unreachable = std::get_if<engine::Unreachable>(&answer)) {
        observer_.signature_checked(SignatureOutcome::host_call_failed);
        signature_errors_.write(call_id, unreachable->reason);
        return internal_error();
    }
    observer_.signature_checked(SignatureOutcome::accepted);
    return {};
}

net::HttpResponse RelayerRoutes::refuse(const ApiError& api_error, std::string_view call_id,
                                        std::uint32_t retry_after_seconds) const {
    if (!logger_.wants(level_of(api_error.status))) {
        return failed_answer(call_id, api_error, retry_after_seconds);
    }
    std::string line = "refused call=";
    line.append(call_id).append(" status=").append(std::to_string(api_error.status));
    line.append(" label=").append(api_error.label);
    logger_.write(level_of(api_error.status), line);
    return failed_answer(call_id, api_error, retry_after_seconds);
}

}  // namespace api
