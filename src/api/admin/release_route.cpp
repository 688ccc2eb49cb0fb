#include "api/admin/release_route.hpp"

#include <map>
#include <memory>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"
#include "domain/request_id.hpp"

namespace api::admin {

namespace {

constexpr std::size_t named_max = 1'000;

// As they were named, by their rows.
using NamedJobs = std::map<std::int64_t, std::string>;

struct ReleaseOrder {
    bool all = false;
    NamedJobs jobs;
};

std::variant<ReleaseOrder, std::string> read_release(std::string_view text) {
    const auto body = nlohmann::json::parse(text, nullptr, false);
    if (!body.is_object() || body.size() != 1) {
        return R"(The body must be {"jobs": [ID, …]} or {"all": true})";
    }
    ReleaseOrder order;
    if (body.contains("all")) {
        if (body["all"] != true) return "`all` must be true";
        order.all = true;
        return order;
    }
    if (!body.contains("jobs") || !body["jobs"].is_array() || body["jobs"].empty() ||
        body["jobs"].size() > named_max) {
        return "`jobs` must be a list of 1 to 1000 ids";
    }
    for (const auto& job : body["jobs"]) {
        if (!job.is_string()) return "`jobs` must be a list of ids";
        const auto name = job.get<std::string>();
        const domain::ParsedId id = domain::parse_request_id(name);
        if (id.form != domain::UuidForm::ours) return "`jobs` holds what is no id of a job";
        order.jobs.emplace(id.id.sequence, name);
    }
    return order;
}

net::HttpResponse answer_of(const NamedJobs& jobs,
                            const std::optional<engine::Release::Outcome>& outcome) {
    if (!outcome) {
        net::HttpResponse response = admin_error(503, "The change could not be stored; try again");
        response.headers.emplace_back("Retry-After", "1");
        return response;
    }
    auto not_held = nlohmann::ordered_json::array();
    for (const std::int64_t sequence : outcome->not_held) not_held.push_back(jobs.at(sequence));
    net::HttpResponse response;
    response.status = 200;
    response.headers.emplace_back("Cache-Control", "no-store");
    response.body =
        nlohmann::ordered_json{{"released", outcome->released}, {"not_held", std::move(not_held)}}
            .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return response;
}

void release_jobs(engine::HoldControl& holds, std::string_view body, net::Respond respond) {
    auto read = read_release(body);
    if (const auto* problem = std::get_if<std::string>(&read)) {
        respond(admin_error(400, *problem));
        return;
    }
    auto order = std::make_shared<ReleaseOrder>(std::get<ReleaseOrder>(std::move(read)));
    engine::Release release;
    release.all = order->all;
    for (const auto& [sequence, name] : order->jobs) release.sequences.push_back(sequence);
    release.reply = [order, respond = std::move(respond)](
                        const std::optional<engine::Release::Outcome>& outcome) {
        respond(answer_of(order->jobs, outcome));
    };
    holds.release(std::move(release));
}

}  // namespace

AdminRoute release_route(engine::HoldControl& holds) {
    return {"/admin/release", "POST",
            [&holds](const net::HttpRequest& request, net::Respond respond) {
                release_jobs(holds, request.body, std::move(respond));
            }};
}

std::string release_body(const std::vector<std::string>& jobs) {
    nlohmann::json body;
    if (jobs.empty()) {
        body["all"] = true;
    } else {
        body["jobs"] = jobs;
    }
    return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Released read_released(const std::string& text) {
    const auto body = nlohmann::json::parse(text, nullptr, false);
    Released released{0, {}, "the answer can not be read"};
    if (!body.is_object()) return released;
    released.count = body.value("released", std::uint64_t{0});
    released.not_held = body.value("not_held", std::vector<std::string>{});
    released.error = body.value("error", body.value("message", released.error));
    return released;
}

}  // namespace api::admin
