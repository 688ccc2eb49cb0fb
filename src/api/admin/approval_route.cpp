#include "api/admin/approval_route.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"
#include "api/router.hpp"
#include "base/sanitize.hpp"

namespace api::admin {

namespace {

using Json = nlohmann::ordered_json;
using engine::ApprovalTerms;
using engine::NotApproved;

constexpr std::string_view approval_path = "/admin/approval";
constexpr std::string_view signer_query = "signer=";
constexpr std::size_t asked_at_once_max = 2;
constexpr const char* body_shape =
    "The body must be {\"amount\": TOKENS, \"signer\": …, \"token\": …, \"spender\": …}, all of "
    "them strings, and the last three as GET says them";

net::HttpResponse not_approved(const NotApproved& refused, int status_when_bad) {
    switch (refused.why) {
        case NotApproved::Why::bad:
            return admin_error(status_when_bad, refused.reason);
        case NotApproved::Why::changed:
            return admin_error(409, "Not approved: " + refused.reason);
        case NotApproved::Why::now:
            break;
    }
    return admin_not_now("Not now: " + refused.reason);
}

Json terms_json(const ApprovalTerms& terms) {
    Json body{{"chain_id", terms.chain_id}, {"signer", terms.signer},
              {"token", terms.token},       {"symbol", terms.symbol},
              {"spender", terms.spender},   {"spender_is", terms.spender_is},
              {"decimals", terms.decimals}, {"allowance", terms.allowance},
              {"balance", terms.balance},   {"supply", terms.supply}};
    Json& all = body["sent"] = Json::array();
    for (const ApprovalTerms::Sent& sent : terms.sent) {
        Json one{{"nonce", sent.nonce}, {"hash", sent.hash}, {"state", sent.state}};
        if (sent.block) one["block"] = *sent.block;
        all.push_back(std::move(one));
    }
    return body;
}

net::HttpResponse answer_of(const engine::Approvals::Terms& terms) {
    if (const auto* none = std::get_if<NotApproved>(&terms)) return not_approved(*none, 404);
    return admin_answer(200, terms_json(std::get<ApprovalTerms>(terms)));
}

net::HttpResponse answer_of(const engine::Approvals::Outcome& outcome) {
    if (const auto* refused = std::get_if<NotApproved>(&outcome)) {
        return not_approved(*refused, 400);
    }
    const auto& approved = std::get<engine::Approved>(outcome);
    return admin_answer(
        200, {{"nonce", approved.nonce}, {"hash", approved.hash}, {"amount", approved.amount}});
}

std::optional<engine::ApprovalOrder> read_approval(std::string_view text) {
    const auto body = nlohmann::json::parse(text, nullptr, false);
    engine::ApprovalOrder order;
    const std::array<std::pair<const char*, std::string*>, 4> members{
        std::pair{"amount", &order.amount}, std::pair{"signer", &order.signer},
        std::pair{"token", &order.token}, std::pair{"spender", &order.spender}};
    if (!body.is_object() || body.size() != members.size()) return std::nullopt;
    for (const auto& [name, value] : members) {
        const auto found = body.find(name);
        if (found == body.end() || !found->is_string()) return std::nullopt;
        *value = found->get<std::string>();
        if (value->empty()) return std::nullopt;
    }
    return order;
}

}  // namespace

ApprovalRoute::ApprovalRoute(engine::Approvals& approvals, ports::Executor& executor,
                             const ports::Clock& clock)
    : approvals_(approvals), lookups_(executor, clock, asked_at_once_max) {}

AdminRoute ApprovalRoute::route() {
    return {std::string(approval_path), "GET, HEAD, POST",
            [this](const net::HttpRequest& request, const net::Respond& respond) {
                request.method == "POST" ? approve(request.body, respond)
                                         : tell_terms(request, respond);
            }};
}

void ApprovalRoute::tell_terms(const net::HttpRequest& request, const net::Respond& respond) {
    const bool names_signer = request.query.starts_with(signer_query);
    if (!request.query.empty() && !names_signer) {
        return respond(admin_error(400, "The query is none; allowed: signer=ADDRESS"));
    }
    std::string signer =
        names_signer ? percent_decoded(request.query.substr(signer_query.size())) : std::string();
    ask_chain([this, signer = std::move(signer),
               respond] { respond(answer_of(approvals_.approval_terms(signer))); },
              respond);
}

void ApprovalRoute::approve(std::string_view body, const net::Respond& respond) {
    auto order = read_approval(body);
    if (!order) return respond(admin_error(400, body_shape));
    ask_chain(
        [this, order = *std::move(order), respond] {
            approvals_.approve(order, [respond](const engine::Approvals::Outcome& outcome) {
                respond(answer_of(outcome));
            });
        },
        respond);
}

void ApprovalRoute::ask_chain(std::function<void()> work, const net::Respond& respond) {
    const auto guarded = [work = std::move(work), respond] {
        try {
            work();
        } catch (const std::exception& error) {
            respond(admin_error(500, error.what()));
        }
    };
    const auto not_now = [respond] {
        respond(admin_not_now("Not now: the chain is being asked, and does not answer yet"));
    };
    if (!lookups_.start(guarded, not_now)) not_now();
}

std::string approval_target(const std::string& signer) {
    std::string target{approval_path};
    if (!signer.empty()) target.append("?").append(signer_query).append(signer);
    return target;
}

std::string approval_body(const engine::ApprovalOrder& order) {
    return Json{{"amount", order.amount},
                {"signer", order.signer},
                {"token", order.token},
                {"spender", order.spender}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ApprovalTerms> read_approval_terms(const std::string& body) {
    try {
        const Json json = Json::parse(body);
        ApprovalTerms terms;
        terms.chain_id = json.at("chain_id");
        terms.signer = json.at("signer");
        terms.token = json.at("token");
        terms.symbol = json.at("symbol");
        terms.spender = json.at("spender");
        terms.spender_is = json.at("spender_is");
        terms.decimals = json.at("decimals");
        terms.allowance = json.at("allowance");
        terms.balance = json.at("balance");
        terms.supply = json.at("supply");
        for (const Json& one : json.at("sent")) {
            terms.sent.push_back({one.at("nonce"), one.at("hash"), one.at("state"), std::nullopt});
            if (one.contains("block")) terms.sent.back().block = one["block"].get<std::uint64_t>();
        }
        return terms;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::optional<engine::Approved> read_approved(const std::string& body) {
    try {
        const Json json = Json::parse(body);
        return engine::Approved{json.at("nonce"), json.at("hash"), json.at("amount")};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::string terms_screen(const ApprovalTerms& terms) {
    const auto clean = [](const std::string& text) { return base::sanitize(text, {}); };
    const std::string unit = terms.symbol.empty() ? "" : " " + clean(terms.symbol);
    const std::string name = terms.symbol.empty() ? "" : " (" + clean(terms.symbol) + ")";
    const std::string is = terms.spender_is.empty() ? "" : " (" + clean(terms.spender_is) + ")";
    return "chain      " + std::to_string(terms.chain_id) + "\n" + "signer     " +
           clean(terms.signer) + "\n" + "token      " + clean(terms.token) + name + ", " +
           std::to_string(terms.decimals) + " decimals, " + clean(terms.supply) + " in all\n" +
           "spender    " + clean(terms.spender) + is + "\n" + "allowance  " +
           clean(terms.allowance) + unit + "\n" + "balance    " + clean(terms.balance) + unit +
           "\n";
}

}  // namespace api::admin
