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

// As they were named.
using NamedJobs = std::map<domain::RequestId, std::string>;

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
        order.jobs.emplace(id.id, name);
    }
    return order;
}

net::HttpResponse answer_of(const NamedJobs& jobs, const engine::InstructionOutcome& outcome) {
    const auto* released = std::get_if<engine::Released>(&outcome);
    if (released == nullptr) return admin_not_now("The change could not be stored; try again");
    auto not_held = nlohmann::ordered_json::array();
    for (const domain::RequestId& id : released->not_held) not_held.push_back(jobs.at(id));
    return admin_answer(200, {{"released", released->count}, {"not_held", std::move(not_held)}});
}

void release_jobs(engine::Instructed& engine, std::string_view body, net::Respond respond) {
    auto read = read_release(body);
    if (const auto* problem = std::get_if<std::string>(&read)) {
        respond(admin_error(400, *problem));
        return;
    }
    auto order = std::make_shared<ReleaseOrder>(std::get<ReleaseOrder>(std::move(read)));
    engine::Release release;
    release.all = order->all;
    for (const auto& [id, name] : order->jobs) release.ids.push_back(id);
    engine.instruct({std::move(release), [order, respond = std::move(respond)](
                                             const engine::InstructionOutcome& outcome) {
                         respond(answer_of(order->jobs, outcome));
                     }});
}

}  // namespace

AdminRoute release_route(engine::Instructed& engine) {
    return {"/admin/release", "POST",
            [&engine](const net::HttpRequest& request, net::Respond respond) {
                release_jobs(engine, request.body, std::move(respond));
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
