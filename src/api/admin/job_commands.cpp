#include "api/admin/job_commands.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"
#include "api/json_reader.hpp"
#include "api/overloaded.hpp"
#include "api/router.hpp"
#include "domain/request.hpp"
#include "domain/request_id.hpp"
#include "store/errors.hpp"

namespace api::admin {

namespace {

using Json = nlohmann::ordered_json;
using Refusal = std::optional<net::HttpResponse>;

net::HttpResponse no_such_job() {
    return admin_error(404, "No such job");
}

// The part of `/admin/jobs/ID/VERB` that is the id.
std::string_view id_in(std::string_view path) {
    return last_part(without_last_part(path));
}

// The one member a command may be given, a boolean; false where it is left out.
std::variant<bool, net::HttpResponse> read_flag(std::string_view body, std::string_view name) {
    const std::string allowed =
        "; allowed: an object, perhaps with `" + std::string(name) + "`, true or false";
    const auto read = read_json(body);
    const auto* document = std::get_if<JsonDocument>(&read);
    if (document == nullptr || !document->root().is(JsonType::object)) {
        return admin_error(400, "The body is none" + allowed);
    }
    bool flag = false;
    for (const JsonMember member : document->root().members()) {
        if (member.name != name || !member.value.is(JsonType::boolean)) {
            return admin_error(400, "The body has a member that is none" + allowed);
        }
        flag = member.value.text() == "true";
    }
    return flag;
}

// An id that is one of ours, and not one of a share that must not be known.
std::variant<store::JobDetails, net::HttpResponse> find_job(const JobCommands::Parts& parts,
                                                            std::string_view text) {
    const domain::ParsedId parsed = domain::parse_request_id(percent_decoded(text));
    if (parsed.form == domain::UuidForm::invalid) {
        return admin_error(400, "This is no job id; allowed: a UUID as clients have it");
    }
    if (parsed.form != domain::UuidForm::ours) return no_such_job();
    auto details = parts.reader.find(parsed.id);
    const bool is_share = details && details->job.row.kind == domain::Kind::share;
    if (!details || (is_share && !parts.with_shares)) return no_such_job();
    return *std::move(details);
}

// What a POST of the same would be refused for today (relayer-api 1.11).
Refusal refusal_of(const engine::SignatureAnswer& answer) {
    if (std::holds_alternative<engine::SignatureInvalid>(answer)) {
        return admin_error(409, "Not retried: its signature is not valid (any more)");
    }
    if (const auto* unreachable = std::get_if<engine::Unreachable>(&answer)) {
        return admin_not_now("Not retried: its signature could not be looked at: " +
                             unreachable->reason);
    }
    return std::nullopt;
}

// The end of its window may be beyond every number.
bool has_expired(const domain::UnifiedUserDecrypt& request, domain::Timestamp now) {
    const auto seconds =
        static_cast<std::uint64_t>(std::max<std::int64_t>(domain::unix_ms(now), 0) / 1'000);
    return request.start_timestamp <= seconds &&
           request.duration_seconds <= seconds - request.start_timestamp;
}

// What a user has signed for; nothing: nobody had to.
std::optional<domain::UnifiedUserDecrypt> signed_request(const JobCommands::Parts& parts,
                                                         const store::Row& row) {
    if (row.kind != domain::Kind::unified_user_decrypt) return std::nullopt;
    const auto payload = parts.reader.payload(row.id);
    const auto request = payload ? domain::decode_request(*payload) : std::nullopt;
    const auto* unified = request ? std::get_if<domain::UnifiedUserDecrypt>(&*request) : nullptr;
    if (unified == nullptr || unified->handles.empty()) return std::nullopt;  // the engine says so
    return *unified;
}

net::HttpResponse answer_of(const engine::InstructionOutcome& outcome, const domain::RequestId& of,
                            std::string_view done, std::string_view not_done) {
    const std::string id = domain::to_string(of);
    return std::visit(
        Overloaded{
            [&](const engine::Done& one) {
                Json body{{"job_id", domain::to_string(one.id)}, {"message", done}};
                if (one.id != of) body["retry_of"] = id;
                return admin_answer(200, body);
            },
            [&](const engine::AskedAlready& same) {
                const std::string other = domain::to_string(same.id);
                return admin_answer(409, {{"error", std::string(not_done) +
                                                        ": the same is asked already, as " + other},
                                          {"job_id", other}});
            },
            [&](const engine::NotDone& refused) {
                return admin_error(409, std::string(not_done) + ": " + refused.reason);
            },
            [&](const engine::UnknownRequest&) { return no_such_job(); },
            // NotWritten: the rest is of other instructions.
            [&](const auto&) {
                return admin_not_now(std::string(not_done) + ": the database takes no writes");
            }},
        outcome);
}

}  // namespace

std::vector<AdminRoute> JobCommands::routes() {
    const auto guarded = [this](auto method) {
        return [this, method](const net::HttpRequest& request, const net::Respond& respond) {
            try {
                (this->*method)(request, respond);
            } catch (const store::StorageError& error) {
                respond(admin_error(500, error.what()));
            }
        };
    };
    return {{"/admin/jobs/*/retry", "POST", guarded(&JobCommands::retry)},
            {"/admin/jobs/*/cancel", "POST", guarded(&JobCommands::cancel)}};
}

void JobCommands::retry(const net::HttpRequest& request, const net::Respond& respond) {
    auto flag = read_flag(request.body, "pay_again");
    if (auto* bad = std::get_if<net::HttpResponse>(&flag)) return respond(std::move(*bad));
    auto found = find_job(parts_, id_in(request.path));
    if (auto* missing = std::get_if<net::HttpResponse>(&found)) return respond(std::move(*missing));
    const store::Row& row = std::get<store::JobDetails>(found).job.row;
    const engine::Retry order{row.id, std::get<bool>(flag)};
    const auto unified = signed_request(parts_, row);
    if (!unified) return ask_anew(order, respond);
    if (has_expired(*unified, parts_.clock.wall())) {
        return respond(admin_error(409, "Not retried: what the user signed has expired"));
    }
    const auto go_on = [this, order, respond](const engine::SignatureAnswer& answer) {
        if (auto refused = refusal_of(answer)) return respond(*std::move(refused));
        ask_anew(order, respond);
    };
    if (const auto answer = signatures_.recover(*unified)) return go_on(*answer);
    signatures_.ask_contract(*unified, [go_on, respond](const engine::SignatureAnswer& answer) {
        try {
            go_on(answer);
        } catch (const std::exception& error) {
            respond(admin_error(500, error.what()));
        }
    });
}

void JobCommands::ask_anew(const engine::Retry& order, const net::Respond& respond) {
    parts_.engine.instruct(
        {order, [respond, of = order.id](const engine::InstructionOutcome& outcome) {
             respond(answer_of(outcome, of, "Asked anew", "Not retried"));
         }});
}

void JobCommands::cancel(const net::HttpRequest& request, const net::Respond& respond) {
    auto flag = read_flag(request.body, "share");
    if (auto* bad = std::get_if<net::HttpResponse>(&flag)) return respond(std::move(*bad));
    auto found = find_job(parts_, id_in(request.path));
    if (auto* missing = std::get_if<net::HttpResponse>(&found)) return respond(std::move(*missing));
    const domain::RequestId id = std::get<store::JobDetails>(found).job.row.id;
    parts_.engine.instruct({engine::Cancel{id, std::get<bool>(flag)},
                            [respond, id](const engine::InstructionOutcome& outcome) {
                                respond(answer_of(outcome, id, "Cancelled", "Not cancelled"));
                            }});
}

}  // namespace api::admin
