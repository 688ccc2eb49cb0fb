// /admin/approval, and what the command makes of its answers.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "api/admin/approval_route.hpp"
#include "api/doubles.hpp"
#include "support/virtual_time.hpp"

namespace {

using namespace std::chrono_literals;
using engine::ApprovalTerms;
using engine::NotApproved;

// Says what the test says.
class ScriptedApprovals : public engine::Approvals {
public:
    Terms terms;
    Outcome outcome;
    std::vector<std::string> asked;
    std::vector<engine::ApprovalOrder> orders;

    [[nodiscard]] Terms approval_terms(const std::string& signer) override {
        asked.push_back(signer);
        return terms;
    }
    void approve(const engine::ApprovalOrder& order,
                 std::function<void(const Outcome&)> reply) override {
        orders.push_back(order);
        reply(outcome);
    }
};

struct Route {
    ScriptedApprovals approvals;
    api_test::ScriptedExecutor executor;
    support::VirtualClock clock;
    api::admin::ApprovalRoute approval{approvals, executor, clock};
    api::admin::AdminRoute route = approval.route();

    void send(std::string_view method, const std::string& query, const std::string& body,
              const net::Respond& respond) {
        net::HttpRequest request;
        request.method = method;
        request.path = "/admin/approval";
        request.query = query;
        request.body = body;
        route.answer(request, respond);
    }
    net::HttpResponse ask(std::string_view method, const std::string& query,
                          const std::string& body = {}) {
        std::optional<net::HttpResponse> answer;
        send(method, query, body,
             [&](net::HttpResponse response) { answer = std::move(response); });
        return answer.value();
    }
};

ApprovalTerms some_terms() {
    ApprovalTerms terms;
    terms.signer = "0x01";
    terms.token = "0x02";
    terms.symbol = "FEE";
    terms.spender = "0x03";
    terms.spender_is = "ProtocolPayment v0.1.0";
    terms.decimals = 6;
    terms.allowance = "1.5";
    terms.balance = "20";
    terms.supply = "1000";
    terms.chain_id = 7;
    return terms;
}

std::string error_in(const net::HttpResponse& response) {
    return nlohmann::json::parse(response.body).at("error");
}

bool has_retry_after(const net::HttpResponse& response) {
    return std::ranges::any_of(response.headers,
                               [](const auto& header) { return header.first == "Retry-After"; });
}

const std::string good_body = R"({"amount":"1","signer":"0x01","token":"0x02","spender":"0x03"})";

}  // namespace

TEST_CASE("what would be approved goes to the command unchanged") {
    Route route;
    ApprovalTerms terms = some_terms();
    route.approvals.terms = terms;
    const auto plain = route.ask("GET", "");
    CHECK(plain.status == 200);
    const auto read = api::admin::read_approval_terms(plain.body).value();
    CHECK(read.signer == terms.signer);
    CHECK(read.token == terms.token);
    CHECK(read.symbol == terms.symbol);
    CHECK(read.spender == terms.spender);
    CHECK(read.spender_is == terms.spender_is);
    CHECK(read.decimals == terms.decimals);
    CHECK(read.allowance == terms.allowance);
    CHECK(read.balance == terms.balance);
    CHECK(read.supply == terms.supply);
    CHECK(read.chain_id == terms.chain_id);
    CHECK(read.sent.empty());
    terms.sent = {{8, "0xaa", "sent", std::nullopt}, {9, "0xab", "included", 12}};
    route.approvals.terms = terms;
    const auto later = api::admin::read_approval_terms(route
                                                           .ask("GET",
                                                                "signer=0x%30"
                                                                "1")
                                                           .body)
                           .value();
    REQUIRE(later.sent.size() == 2);
    CHECK(later.sent[0].state == "sent");
    CHECK_FALSE(later.sent[0].block);
    CHECK(later.sent[1].nonce == 9);
    CHECK(later.sent[1].hash == "0xab");
    CHECK(later.sent[1].state == "included");
    CHECK(later.sent[1].block == 12);
    CHECK(route.approvals.asked == std::vector<std::string>{"", "0x01"});
    CHECK(api::admin::terms_screen(read) ==
          "chain      7\n"
          "signer     0x01\n"
          "token      0x02 (FEE), 6 decimals, 1000 in all\n"
          "spender    0x03 (ProtocolPayment v0.1.0)\n"
          "allowance  1.5 FEE\n"
          "balance    20 FEE\n");
    CHECK_FALSE(api::admin::read_approval_terms("{}"));
    CHECK_FALSE(api::admin::read_approval_terms("no"));
}

TEST_CASE("an approval is answered with nonce and hash, or with why not") {
    Route route;
    route.approvals.outcome = engine::Approved{5, "0xcd", "1"};
    const auto answer = route.ask("POST", "", good_body);
    CHECK(answer.status == 200);
    const auto approved = api::admin::read_approved(answer.body).value();
    CHECK(approved.nonce == 5);
    CHECK(approved.hash == "0xcd");
    CHECK(approved.amount == "1");
    REQUIRE(route.approvals.orders.size() == 1);
    CHECK(route.approvals.orders[0].amount == "1");
    CHECK(route.approvals.orders[0].signer == "0x01");
    CHECK(route.approvals.orders[0].token == "0x02");
    CHECK(route.approvals.orders[0].spender == "0x03");
    CHECK(api::admin::read_approved(api::admin::approval_body({"1", "2", "3", "4"})) ==
          std::nullopt);

    struct Row {
        NotApproved::Why why;
        int status;
        int status_of_get;
        std::string text;
    };
    for (const Row& row : std::vector<Row>{
             {NotApproved::Why::bad, 400, 404, "reason"},
             {NotApproved::Why::changed, 409, 409, "Not approved: reason"},
             {NotApproved::Why::now, 503, 503, "Not now: reason"},
         }) {
        route.approvals.outcome = NotApproved{row.why, "reason"};
        route.approvals.terms = NotApproved{row.why, "reason"};
        const auto refused = route.ask("POST", "", good_body);
        CHECK(refused.status == row.status);
        CHECK(error_in(refused) == row.text);
        CHECK(has_retry_after(refused) == (row.status == 503));
        CHECK(route.ask("GET", "").status == row.status_of_get);
    }
}

TEST_CASE("a chain that does not answer keeps nobody but who asked it, and few at once") {
    Route route;
    route.approvals.terms = some_terms();
    route.approvals.outcome = engine::Approved{5, "0xcd", "1"};
    route.executor.hold();
    std::vector<int> statuses;
    const auto note = [&](const net::HttpResponse& response) {
        statuses.push_back(response.status);
    };
    route.send("GET", "", "", note);
    route.send("POST", "", good_body, note);
    CHECK(statuses.empty());
    CHECK(route.approvals.asked.empty());
    for (const char* method : {"GET", "POST"}) {
        const auto refused = route.ask(method, "", good_body);
        CHECK(refused.status == 503);
        CHECK(error_in(refused) == "Not now: the chain is being asked, and does not answer yet");
        CHECK(has_retry_after(refused));
    }
    route.executor.release();
    CHECK(statuses == std::vector{200, 200});
    CHECK(route.approvals.orders.size() == 1);
    CHECK(route.ask("GET", "").status == 200);

    route.executor.hold();
    route.send("POST", "", good_body, note);
    route.clock.advance(11s);
    route.executor.release();
    CHECK(statuses.back() == 503);
    CHECK(route.approvals.orders.size() == 1);
}

TEST_CASE("what is no approval is refused, and nobody is asked") {
    Route route;
    for (const char* body : {
             "",
             "[]",
             "{}",
             "no",
             R"({"amount":"1","signer":"0x01","token":"0x02"})",
             R"({"amount":1,"signer":"0x01","token":"0x02","spender":"0x03"})",
             R"({"amount":"","signer":"0x01","token":"0x02","spender":"0x03"})",
             R"({"amount":"1","signer":"0x01","token":"0x02","spender":null})",
             R"({"amount":"1","signer":"0x01","token":"0x02","spender":"0x03","more":"x"})",
         }) {
        CAPTURE(body);
        const auto refused = route.ask("POST", "", body);
        CHECK(refused.status == 400);
        CHECK(error_in(refused).starts_with("The body must be {\"amount\": TOKENS"));
    }
    CHECK(route.ask("GET", "signers=1").status == 400);
    CHECK(route.approvals.orders.empty());
    CHECK(route.approvals.asked.empty());
}

TEST_CASE("what a token calls itself does not steer the terminal") {
    ApprovalTerms terms = some_terms();
    terms.symbol = "\x1b[2J\nX";
    const std::string screen = api::admin::terms_screen(terms);
    CHECK(screen.find('\x1b') == std::string::npos);
    CHECK(std::count(screen.begin(), screen.end(), '\n') == 6);
}
