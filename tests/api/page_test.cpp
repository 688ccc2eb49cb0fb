#include "api/admin/page/page_routes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/admin/page/chart.hpp"
#include "api/admin/page/form.hpp"
#include "api/admin/page/sessions.hpp"
#include "api/admin/page/views.hpp"
#include "support/virtual_time.hpp"

namespace api::admin::page {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view page_token = "correct horse&battery=staple+";
constexpr std::string_view job_id = "019e8006-3402-7000-8c1d-52f0a1b9e377";

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// What the admin interface says, with `text` wherever it may hold a text.
Json job_with(const std::string& text) {
    return {{"job_id", job_id},
            {"kind", "public_decrypt"},
            {"status", "failure"},
            {"accepted_at", text},
            {"age_seconds", 5},
            {"in_status_since", text},
            {"in_status_seconds", 5},
            {"client", text},
            {"tries", 1},
            {"troubles", 0},
            {"waits_for", text},
            {"until", text},
            {"deadline", text},
            {"held", true},
            {"retry_of", text},
            {"error", {{"reason", text}, {"text", text}}},
            {"last_trouble", {{"at", text}, {"while", text}, {"text", text}, {"times", 2}}},
            {"transactions", {{{"hash", text}, {"nonce", 1}, {"sealed_at", text}, {"fate", text}}}},
            {"history", {{{"stage", text}, {"at", text}, {"cause", text}, {"note", text}}}}};
}

Json status_with(const std::string& text) {
    const Json counts{{"accepted", 1}, {"completed", 0}, {"failed", 0}, {"timed_out", 0}};
    return {{"at", text},
            {"version", text},
            {"role", text},
            {"data_dir", text},
            {"pid", 1},
            {"running_seconds", 5},
            {"in_work", {{{"kind", text}, {"status", text}, {"count", 7}, {"oldest_seconds", 5}}}},
            {"clients", {{{"client", text}, {"in_work", 7}}}},
            {"queues",
             {{"readiness", {{text, 1}}}, {"sending", {{text, 1}}}, {"per_second", {{text, 1}}}}},
            {"last_minute", counts},
            {"last_hour", counts},
            {"minutes", {counts, counts}},
            {"chain", {{"head_lag_blocks", 1}}},
            {"disk", {{"database_bytes", 1}, {"log_bytes", 1}, {"free_bytes", 1}}},
            {"paused", {text}},
            {"log_level", text},
            {"alerts", {text}}};
}

struct Pages {
    Pages() {
        const auto say = [this](const char* path, const char* methods, auto body) {
            behind.push_back({path, methods,
                              [this, body](const net::HttpRequest& request, net::Respond respond) {
                                  asked.push_back(std::string(request.method) + " " +
                                                  std::string(request.target) + " " +
                                                  std::string(request.body));
                                  respond({.status = answers_with,
                                           .headers = {},
                                           .body = body().dump(),
                                           .content_type = "application/json"});
                              }});
        };
        say("/admin/status", "GET, HEAD", [this] { return status_with(text); });
        say("/admin/jobs", "GET, HEAD", [this] {
            return Json{{"jobs", {job_with(text)}}, {"looked_at", 1}, {"next", text}};
        });
        say("/admin/jobs/*", "GET, HEAD", [this] { return job_with(text); });
        say("/admin/jobs/*/retry", "POST", [] {
            return Json{{"message", "Asked anew"},
                        {"job_id", "019e8006-3402-7000-8c1d-000000000001"}};
        });
        say("/admin/jobs/*/cancel", "POST", [this] { return Json{{"error", text}}; });
        say("/admin/release", "POST", [] {
            return Json{{"released", 1}, {"not_held", Json::array()}};
        });
        say("/admin/kinds/*/pause", "POST", [] { return Json{{"message", "Paused"}}; });
        routes = page_routes(behind, page_token, clock, random, logger);
    }

    net::HttpResponse ask(std::string_view method, const std::string& target,
                          const std::string& body = {},
                          std::string_view type = "application/x-www-form-urlencoded") {
        const std::size_t mark = std::min(target.find('?'), target.size());
        const std::string path = target.substr(0, mark);
        const std::string query = target.substr(std::min(mark + 1, target.size()));
        const std::string cookies =
            "other=1; posthouse_session=planted; posthouse_session=" + session;
        const net::HttpRequest request{.method = method,
                                       .target = target,
                                       .path = path,
                                       .query = query,
                                       .headers = {{"Cookie", cookies}, {"Content-Type", type}},
                                       .body = body,
                                       .remote = "192.0.2.1"};
        std::optional<net::HttpResponse> answer;
        for (const AdminRoute& route : routes) {
            if (!route.takes(method, path)) continue;
            CHECK(route.is_page);
            route.answer(request, [&](net::HttpResponse given) { answer = std::move(given); });
            break;
        }
        return answer.value();
    }

    static std::string header(const net::HttpResponse& response, std::string_view name) {
        for (const auto& [header, value] : response.headers) {
            if (header == name) return value;
        }
        return {};
    }

    void sign_in() {
        const auto answer = ask("POST", "/login", query_of({{"token", std::string(page_token)}}));
        REQUIRE(answer.status == 303);
        const std::string cookie = header(answer, "Set-Cookie");
        session = cookie.substr(cookie.find('=') + 1, 64);
        const std::string page = ask("GET", "/").body;
        const std::size_t at = page.find("name=\"form_token\" value=\"");
        REQUIRE(at != std::string::npos);
        form_token = page.substr(at + 25, 64);
        asked.clear();
    }

    std::string form(FormValues values = {}) const {
        values.insert_or_assign("form_token", form_token);
        return query_of(values);
    }

    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingLogger logger;
    std::string text = "plain";
    int answers_with = 200;
    std::vector<std::string> asked;
    std::vector<AdminRoute> behind;
    std::vector<AdminRoute> routes;
    std::string session;
    std::string form_token;
};

// Of a scheme that browsers open no dialogue for.
void check_unauthorized(const net::HttpResponse& answer) {
    CHECK(answer.status == 401);
    CHECK(Pages::header(answer, "WWW-Authenticate") == "Bearer realm=\"posthouse admin\"");
}

const std::vector<std::string> posts{
    "/jobs/" + std::string(job_id) + "/retry", "/jobs/" + std::string(job_id) + "/cancel",
    "/jobs/" + std::string(job_id) + "/release", "/kinds/input_proof/pause", "/logout"};

}  // namespace

TEST_CASE("whatever an answer holds is text on the page") {
    Pages pages;
    pages.sign_in();
    for (const char* text : {"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
                             "' onmouseover='alert(1)", "&lt;b&gt;", "</title><b>"}) {
        CAPTURE(text);
        pages.text = text;
        const std::vector<std::string> targets{"/",
                                               "/jobs",
                                               "/jobs/" + std::string(job_id),
                                               "/jobs?client=" + percent_encoded(text),
                                               "/events?of=/",
                                               "/events?of=/jobs",
                                               "/events?of=/jobs/" + std::string(job_id)};
        for (const std::string& page : targets) {
            CAPTURE(page);
            const std::string body = pages.ask("GET", page).body;
            CHECK_FALSE(has(body, text));
            CHECK_FALSE(has(body, "<img"));
            CHECK_FALSE(has(body, "<script>"));
            CHECK_FALSE(has(body, "\" onmouseover"));
        }
        pages.answers_with = 400;
        const std::string refused = pages.ask("GET", "/jobs?kind=x").body;
        CHECK_FALSE(has(refused, "<script>alert"));
        pages.answers_with = 200;
    }
}

TEST_CASE("without a session nothing is shown, nothing is done, and the token is asked for") {
    Pages pages;
    for (const char* page : {"/", "/jobs", "/jobs/x", "/events?of=/"}) {
        check_unauthorized(pages.ask("GET", page));
    }
    for (const std::string& target : posts) check_unauthorized(pages.ask("POST", target, "a=b"));
    for (const char* wrong : {"", "token=", "token=wrong", "token=correct"}) {
        check_unauthorized(pages.ask("POST", "/login", wrong));
    }
    const std::string right = query_of({{"token", std::string(page_token)}});
    check_unauthorized(pages.ask("POST", "/login", right, "text/plain"));
    CHECK(has(pages.ask("GET", "/").body, "the file of `http.admin_token_file`"));
    CHECK(pages.asked.empty());
    CHECK(pages.logger.count("admin_denied") >= 1);
    CHECK(pages.logger.count(std::string(page_token)) == 0);
}

TEST_CASE("a form acts only with the token of the forms of its own browser") {
    Pages pages;
    pages.sign_in();
    Pages other;
    other.sign_in();
    for (const std::string& target : posts) {
        CAPTURE(target);
        CHECK(pages.ask("POST", target, "form_token=").status == 403);
        CHECK(pages.ask("POST", target, "form_token=" + std::string(64, '0')).status == 403);
        CHECK(pages.ask("POST", target, pages.form(), "text/plain").status == 403);
        CHECK(pages.ask("POST", target, pages.form(), "application/json").status == 403);
        CHECK(pages.ask("POST", target, {}).status == 403);
    }
    CHECK(pages.asked.empty());
    CHECK(pages.ask("POST", posts[3], pages.form()).status == 303);
    CHECK(pages.asked == std::vector<std::string>{"POST /admin/kinds/input_proof/pause {}"});
}

TEST_CASE(
    "buttons do what the routes of programs do, and the next page says once what came of it") {
    Pages pages;
    pages.sign_in();
    const std::string job = "/jobs/" + std::string(job_id);
    const auto retried = pages.ask("POST", job + "/retry", pages.form({{"pay_again", "true"}}));
    CHECK(Pages::header(retried, "Location") == "/jobs/019e8006-3402-7000-8c1d-000000000001");
    CHECK(has(pages.ask("GET", job).body, "Asked anew."));
    CHECK_FALSE(has(pages.ask("GET", job).body, "Asked anew."));
    pages.text = "Not cancelled: it has ended";
    const auto refused = pages.ask("POST", job + "/cancel", pages.form());
    CHECK(Pages::header(refused, "Location") == job);
    CHECK(has(pages.ask("GET", job).body, "role=\"status\">Not cancelled: it has ended"));
    pages.asked.clear();
    CHECK(pages.ask("POST", job + "/release", pages.form()).status == 303);
    CHECK(pages.asked.back() == "POST /admin/release {\"jobs\":[\"" + std::string(job_id) + "\"]}");
    CHECK(pages.ask("POST", "/jobs/" + std::string(job_id) + "/retry", pages.form()).status == 303);
    CHECK(pages.asked.back() == "POST /admin/jobs/" + std::string(job_id) + "/retry {}");
}

TEST_CASE("every answer of the page forbids what it does not need, and nobody keeps it") {
    Pages pages;
    pages.sign_in();
    for (const char* page : {"/", "/jobs", "/events?of=/", "/page.css", "/page.js", "/icon.svg"}) {
        CAPTURE(page);
        const auto answer = pages.ask("GET", page);
        CHECK(answer.status == 200);
        CHECK(has(Pages::header(answer, "Content-Security-Policy"), "default-src 'self'"));
        CHECK(Pages::header(answer, "Cache-Control") == "no-store");
        CHECK(Pages::header(answer, "X-Content-Type-Options") == "nosniff");
        CHECK_FALSE(has(answer.body, " style="));
        for (const char* elsewhere : {"src=\"http", "href=\"http", "url(", "@import"}) {
            CHECK_FALSE(has(answer.body, elsewhere));
        }
    }
}

TEST_CASE("filters that are left empty are none, and the others are handed on") {
    Pages pages;
    pages.sign_in();
    pages.ask("GET", "/jobs?kind=&status=unfinished&client=a%26b&older=");
    CHECK(pages.asked.back() == "GET /admin/jobs?client=a%26b&status=unfinished ");
    pages.ask("GET", "/jobs?kind=");
    CHECK(pages.asked.back() == "GET /admin/jobs ");
}

TEST_CASE("a session ends by itself, by signing out, and when there are too many") {
    Pages pages;
    pages.sign_in();
    pages.clock.advance(Sessions::lifetime - 1ms);
    CHECK(pages.ask("GET", "/").status == 200);
    pages.clock.advance(1ms);
    CHECK(pages.ask("GET", "/").status == 401);
    pages.sign_in();
    CHECK(pages.ask("POST", "/logout", pages.form()).status == 303);
    CHECK(pages.ask("GET", "/").status == 401);

    support::VirtualClock clock;
    support::SeededRandom random{2};
    Sessions sessions(clock, random);
    const std::string first = sessions.begin();
    std::string second;
    for (std::size_t i = 1; i < Sessions::sessions_max; ++i) {
        clock.advance(1s);
        (i == 1 ? second : std::string{}) = sessions.begin();
    }
    CHECK(sessions.is_open(first));
    clock.advance(1s);
    const std::string last = sessions.begin();
    CHECK_FALSE(sessions.is_open(first));
    CHECK(sessions.form_token(first).empty());
    CHECK(sessions.is_open(last));
    CHECK(sessions.form_token(last) != last);
    CHECK_FALSE(sessions.is_open(""));
}

TEST_CASE("forms are read as browsers write them") {
    const FormValues values = form_values("a=1+2&b=%3C%26&&c&d=&a=3&e==&%66=g");
    CHECK(values == FormValues{{"a", "3"}, {"b", "<&"}, {"e", "="}, {"f", "g"}});
    const std::string odd = "ä /?&=+%\n";
    CHECK(form_values(query_of({{odd, odd}})) == FormValues{{odd, odd}});
}

TEST_CASE("a chart has a scale that fits, and says its last values in words") {
    const std::string drawn =
        chart("c", "Requests & more", {{"accepted", {0, 30, 12}}, {"<b>", {}}});
    CHECK(has(drawn, "top: 50"));
    CHECK(has(drawn, "Requests &amp; more, the last hour: accepted 12 now, &lt;b&gt; 0 now"));
    CHECK(has(drawn, "points=\"0,116 300,49 600,90\""));
}

TEST_CASE("the overview shows what waits, the oldest of it, the chain, the signer and alerts") {
    Json status = status_with("plain");
    status["in_work"] = {{{"kind", "user_decrypt"},
                          {"status", "processing"},
                          {"count", 7},
                          {"oldest_seconds", 3'900}}};
    status["queues"] = {{"readiness", {{"user_decrypt", 3}}},
                        {"sending", {{"user_decrypt", 4}}},
                        {"per_second", {{"user_decrypt", 2}}}};
    status["chain"] = {{"head_lag_blocks", 12}, {"signer_balance", "0.25"}};
    status["alerts"] = {"nothing is included: since 65 minutes"};
    status["paused"] = {"input_proof"};
    const View view = overview(status, "t");
    for (const std::string part :
         {">user_decrypt</a></td><td>processing</td><td>7</td><td>65 min</td>",
          "<td>user_decrypt</td><td>3</td><td>4</td><td>2</td>",
          "read up to 12 blocks behind the head, signer has 0.25 coins",
          "<li>nothing is included: since 65 minutes</li>", "<li>Paused: input_proof."}) {
        CAPTURE(part);
        CHECK(has(view.live, part));
    }
    CHECK(has(view.below, "Resume input_proof"));
    CHECK(has(view.below, "Pause user_decrypt"));
    status["alerts"] = Json::array();
    status["paused"] = Json::array();
    CHECK(has(overview(status, "t").live, "All is well."));
}

TEST_CASE("a client leads to its requests, one without a key too, a key that is gone does not") {
    Json status = status_with("plain");
    status["clients"] = {{{"client", "web"}, {"in_work", 7}},
                         {{"client", "-"}, {"in_work", 6}},
                         {{"client", "?"}, {"in_work", 5}}};
    const std::string page = overview(status, "t").live;
    CHECK(has(page, "client=web&amp;status=unfinished\">web</a></td><td>7</td>"));
    CHECK(has(page, "client=-&amp;status=unfinished\">-</a></td><td>6</td>"));
    CHECK(has(page, "<td>?</td><td>5</td>"));
}

TEST_CASE("a job shows its time line in order, and what became of each transaction") {
    Json job = job_with("plain");
    job["history"] = {{{"stage", "accepted"}, {"at", "10:00"}, {"cause", ""}, {"note", ""}},
                      {{"stage", "trouble"},
                       {"at", "10:01"},
                       {"cause", "chain"},
                       {"note", "3 times"},
                       {"left_out", "2"}}};
    job["transactions"] = {{{"hash", "0xab"},
                            {"nonce", 5},
                            {"sealed_at", "10:02"},
                            {"fate", "included"},
                            {"block", 77},
                            {"fee", "0.001"}}};
    const std::string page = one_job(job, "t").live;
    const std::size_t first = page.find("<b>accepted</b>");
    const std::size_t second =
        page.find("<b>trouble</b><span>chain 3 times (2 before it left out)");
    REQUIRE(first != std::string::npos);
    REQUIRE(second != std::string::npos);
    CHECK(first < second);
    CHECK(has(page,
              "<td><code>0xab</code></td><td>5</td><td>10:02</td><td>included</td>"
              "<td>77</td><td>0.001</td>"));
}

TEST_CASE("what was in work each minute follows from what came and ended since") {
    Json status = status_with("x");
    status["minutes"] = Json::array();
    for (const auto& [accepted, completed] : {std::pair{4, 0}, {0, 0}, {5, 2}}) {
        status["minutes"].push_back(
            {{"accepted", accepted}, {"completed", completed}, {"failed", 0}, {"timed_out", 0}});
    }
    // 7 are in work now.
    const std::string page = overview(status, "t").live;
    CHECK(has(page, "Requests in work, the last hour: in work 7 now"));
    CHECK(has(page, "points=\"0,72 300,72 600,38\""));
}

TEST_CASE("an answer that comes when the page is gone is still given") {
    Pages pages;
    pages.sign_in();
    net::Respond late;
    pages.behind.insert(
        pages.behind.begin(),
        {"/admin/jobs/*/retry", "POST",
         [&late](const net::HttpRequest&, net::Respond respond) { late = std::move(respond); }});
    pages.routes = page_routes(pages.behind, page_token, pages.clock, pages.random, pages.logger);
    pages.sign_in();
    const std::string target = "/jobs/" + std::string(job_id) + "/retry";
    const std::string cookies = "posthouse_session=" + pages.session;
    const std::string body = pages.form();
    const net::HttpRequest request{
        .method = "POST",
        .target = target,
        .path = target,
        .query = {},
        .headers = {{"Cookie", cookies}, {"Content-Type", "application/x-www-form-urlencoded"}},
        .body = body,
        .remote = "192.0.2.1"};
    const auto route = std::ranges::find_if(
        pages.routes, [&](const AdminRoute& one) { return one.takes("POST", target); });
    REQUIRE(route != pages.routes.end());
    std::optional<net::HttpResponse> answer;
    route->answer(request, [&answer](net::HttpResponse given) { answer = std::move(given); });
    REQUIRE(late);
    pages.routes.clear();
    late({.status = 200, .headers = {}, .body = R"({"message":"Asked anew","job_id":"1"})"});
    REQUIRE(answer);
    CHECK(answer->status == 303);
    CHECK(Pages::header(*answer, "Location") == "/jobs/1");
}

}  // namespace api::admin::page
