#include "api/admin/job_answers.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/admin/job_query.hpp"
#include "api/admin/job_waiting.hpp"
#include "api/admin/times.hpp"
#include "api/envelope.hpp"
#include "api/router.hpp"
#include "base/fixed_point.hpp"
#include "domain/bytes.hpp"
#include "domain/moves.hpp"
#include "engine/request_ids.hpp"

namespace api::admin {

namespace {

using Json = nlohmann::ordered_json;
using domain::Status;

std::int64_t seconds_since(domain::Timestamp time, domain::Timestamp now) {
    return std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(now - time).count(), 0);
}

Json json_of(const domain::Failure& failure) {
    Json error{{"reason", domain::to_string(failure.reason)}, {"text", failure.text}};
    if (failure.selector) error["selector"] = *failure.selector;
    if (const auto hint = domain::hint_of(failure); !hint.empty()) error["hint"] = hint;
    return error;
}

void add_client(Json& json, std::int64_t client, const JobSources& sources) {
    if (client == 0) return;
    std::string name = sources.client_name(client);
    // A key that was taken away.
    json["client"] = name.empty() ? "?" : std::move(name);
}

void add_waiting(Json& json, const store::Job& job, const JobSources& sources) {
    const store::Row& row = job.row;
    if (job.is_held) {
        json["held"] = true;
        json["waits_for"] = "an operator: it is held, as another process may have sent it";
        return;
    }
    if (sources.is_paused && sources.is_paused(row)) {
        json["waits_for"] = "its kind to be resumed: it is paused";
        return;
    }
    std::optional<domain::QueuePosition> position;
    if (sources.position && row.kind != domain::Kind::share && !domain::is_terminal(row.status)) {
        position = sources.position(row);
    }
    const auto waiting = waiting_of(row, position);
    if (!waiting) return;
    json["waits_for"] = waiting->what;
    if (waiting->until) json["until"] = utc_text(*waiting->until);
}

Json json_of(const store::Job& job, const JobSources& sources) {
    const store::Row& row = job.row;
    const domain::Timestamp now = sources.clock.wall();
    const domain::Timestamp accepted = engine::RequestIds::given_out(row.id);
    Json json{{"job_id", domain::to_string(row.id)},
              {"kind", domain::to_string(row.kind)},
              {"status", domain::to_string(row.status)},
              {"accepted_at", utc_text(accepted)},
              {"age_seconds", seconds_since(accepted, now)},
              {"in_status_since", utc_text(row.since)},
              {"in_status_seconds", seconds_since(row.since, now)}};
    add_client(json, row.client, sources);
    json["tries"] = row.schedule.attempts;
    json["troubles"] = row.schedule.faults;
    add_waiting(json, job, sources);
    if (job.failure) json["error"] = json_of(*job.failure);
    return json;
}

// What is known of transactions that were signed for one request.
std::string fate_of(const store::Job& job) {
    switch (job.row.status) {
        case Status::receipt_received:
        case Status::completed:
        case Status::timed_out:
            return "included";
        case Status::failure:
            // An input proof that was rejected was asked of the chain; anything else did not
            // happen there.
            return job.failure && job.failure->reason == domain::Reason::proof_rejected
                       ? "included"
                       : "without effect";
        default:
            return "sent";
    }
}

void add_charge(Json& json, const store::Charge& charge) {
    if (charge.gas) json["gas_used"] = *charge.gas;
    if (charge.gas_price) json["gas_price_wei"] = *charge.gas_price;
    if (charge.gas && charge.gas_price) {
        // In coins of 10^18.
        json["fee"] = base::fixed_point(base::Wide{*charge.gas} * *charge.gas_price, 18);
    }
}

void add_transactions(Json& json, const store::JobDetails& details) {
    const store::Row& row = details.job.row;
    const std::string fate = fate_of(details.job);
    const bool is_known = std::ranges::any_of(
        details.attempts, [](const store::Attempt& attempt) { return attempt.block.has_value(); });
    Json all = Json::array();
    for (const store::Attempt& attempt : details.attempts) {
        Json one{{"hash", "0x" + domain::to_hex(attempt.hash)},
                 {"sealed_at", utc_text(attempt.at)}};
        if (row.kind != domain::Kind::share) one["nonce"] = attempt.nonce;
        if (!attempt.account.empty()) one["account"] = attempt.account;
        if (attempt.block) {
            one["fate"] = "included";
            one["block"] = *attempt.block;
            add_charge(one, attempt.charge);
        } else if (is_known) {
            one["fate"] = "without effect";
        } else {
            // Of several only one was included, and what is left does not say which.
            const bool is_one = fate == "included" && details.attempts.size() > 1;
            one["fate"] = is_one ? "one of these is included" : fate;
        }
        all.push_back(std::move(one));
    }
    json["transactions"] = std::move(all);
}

// The last of several retries counts: it is the one that may still run.
void add_history(Json& json, const store::JobDetails& details) {
    const store::Row& row = details.job.row;
    Json stages = Json::array();
    stages.push_back({{"stage", domain::to_string(domain::first_status(row.kind))},
                      {"at", utc_text(engine::RequestIds::given_out(row.id))},
                      {"cause", "accepted"}});
    for (const store::HistoryEntry& entry : details.history) {
        if (entry.stage == "trouble") {
            json["last_trouble"] = {{"at", utc_text(entry.at)},
                                    {"while", entry.cause},
                                    {"text", entry.note},
                                    {"times", entry.times}};
            continue;
        }
        if (entry.stage == "retry_of" || entry.stage == "retried_as")
            json[entry.stage] = entry.note;
        Json stage{{"stage", entry.stage}, {"at", utc_text(entry.at)}, {"cause", entry.cause}};
        if (!entry.note.empty()) stage["note"] = entry.note;
        if (entry.times > 1) stage["left_out"] = entry.times - 1;
        stages.push_back(std::move(stage));
    }
    if (row.kind != domain::Kind::share) json["history"] = std::move(stages);
}

void add_schedule(Json& json, const store::Schedule& schedule) {
    if (schedule.deadline) json["deadline"] = utc_text(*schedule.deadline);
    if (schedule.unreached_since) json["unreached_since"] = utc_text(*schedule.unreached_since);
    if (schedule.refused_since) json["refused_since"] = utc_text(*schedule.refused_since);
}

}  // namespace

JobAnswers::JobAnswers(store::JobReader& reader, JobSources sources)
    : reader_(reader), sources_(std::move(sources)) {}

net::HttpResponse JobAnswers::list(std::string_view query) {
    auto read = read_job_query(query, sources_.clock.wall());
    if (const auto* problem = std::get_if<AdminError>(&read))
        return admin_error(400, problem->text);
    auto& filter = std::get<store::JobFilter>(read);
    filter.with_shares = sources_.with_shares;
    const store::JobPage page = reader_.list(filter);
    Json jobs = Json::array();
    for (const store::Job& job : page.jobs) jobs.push_back(json_of(job, sources_));
    Json body{{"jobs", std::move(jobs)}, {"looked_at", page.looked_at}};
    if (page.further) body["next"] = domain::to_string(domain::RequestId{*page.further, 0});
    return admin_answer(200, body);
}

net::HttpResponse JobAnswers::find(std::string_view id) {
    const domain::ParsedId parsed = domain::parse_request_id(percent_decoded(id));
    if (parsed.form == domain::UuidForm::invalid) {
        return admin_error(400, "This is no job id; allowed: a UUID as clients have it");
    }
    std::optional<store::JobDetails> details;
    if (parsed.form == domain::UuidForm::ours) details = reader_.find(parsed.id);
    const bool hidden = details && details->job.row.kind == domain::Kind::share;
    if (!details || (hidden && !sources_.with_shares)) return admin_error(404, "No such job");
    Json body = json_of(details->job, sources_);
    add_schedule(body, details->job.row.schedule);
    add_transactions(body, *details);
    add_history(body, *details);
    if (details->reference) body["reference"] = "0x" + domain::to_hex(*details->reference);
    if (details->answers_held > 0) body["answers_held"] = details->answers_held;
    if (details->result_bytes > 0) body["result_bytes"] = details->result_bytes;
    return admin_answer(200, body);
}

}  // namespace api::admin
