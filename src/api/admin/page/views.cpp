#include "api/admin/page/views.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/admin/page/chart.hpp"
#include "api/admin/page/html.hpp"
#include "domain/kind.hpp"
#include "domain/status.hpp"

namespace api::admin::page {

namespace {

constexpr std::size_t cell_text_max = 200;

std::string cell(const std::string& text) {
    return element("td", escaped(text));
}

std::string head_row(const std::vector<std::string_view>& names) {
    std::string cells;
    for (const std::string_view name : names) {
        cells += element("th", escaped(name), "scope=\"col\"");
    }
    return element("thead", element("tr", cells));
}

// Narrow screens move it sideways, with the keyboard too.
std::string table(std::string_view label, const std::vector<std::string_view>& names,
                  const std::string& rows) {
    return element(
        "div", element("table", head_row(names) + element("tbody", rows)),
        "class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(label) + "\"");
}

std::string section(std::string_view title, const std::string& inner) {
    return element("section", element("h2", escaped(title)) + inner);
}

// Nothing for an empty text.
std::string fact(std::string_view name, const std::string& text) {
    if (text.empty()) return {};
    return element("div", element("dt", escaped(name)) + element("dd", escaped(text)));
}

std::string link(const std::string& target, const std::string& text) {
    return element("a", escaped(text), "href=\"" + escaped(target) + "\"");
}

std::string job_link(const std::string& id) {
    const std::string target = escaped("/jobs/" + percent_encoded(id));
    // A name of its own: the focus finds it again when the table is replaced.
    return element("a", element("code", escaped(id)),
                   "id=\"job-" + escaped(id) + "\" href=\"" + target + "\"");
}

std::string hidden(std::string_view name, std::string_view value) {
    return "<input type=\"hidden\" name=\"" + escaped(name) + "\" value=\"" + escaped(value) +
           "\">";
}

std::string post_form(const std::string& target, std::string_view form_token,
                      const std::string& inner) {
    return element("form", hidden("form_token", form_token) + inner,
                   "method=\"post\" action=\"" + escaped(target) + "\"");
}

std::string button(std::string_view text, std::string_view attributes = {}) {
    return element("button", escaped(text), attributes);
}

// What can not be undone takes two steps, also where no script runs.
std::string behind_a_step(std::string_view title, const std::string& inner) {
    return element("details", element("summary", escaped(title)) + inner);
}

std::string tick(std::string_view name, std::string_view text) {
    return element("label", "<input type=\"checkbox\" name=\"" + escaped(name) +
                                "\" value=\"true\"> " + escaped(text));
}

const Json& part(const Json& json, const char* name) {
    static const Json nothing = Json::object();
    const auto found = json.find(name);
    return found == json.end() ? nothing : *found;
}

// --- overview -----------------------------------------------------------------------------------

std::string alerts(const Json& status) {
    std::string items;
    for (const Json& kind : part(status, "paused")) {
        items += element("li", escaped("Paused: " + kind.get<std::string>() +
                                       ". Nothing of it begins until it is resumed."));
    }
    for (const Json& alert : part(status, "alerts")) {
        items += element("li", escaped(alert.get<std::string>()));
    }
    if (items.empty()) return element("p", "All is well.", "class=\"well\"");
    return element("ul", items, "class=\"alerts\"");
}

std::int64_t ended_in(const Json& minute) {
    return number_in(minute, "completed") + number_in(minute, "failed") +
           number_in(minute, "timed_out");
}

// What was in work at the end of each minute: what is now, less what came since and did not end.
std::vector<std::int64_t> in_work_by_minute(const Json& status) {
    std::int64_t count = 0;
    for (const Json& entry : part(status, "in_work")) count += number_in(entry, "count");
    const Json& minutes = part(status, "minutes");
    std::vector<std::int64_t> counts(minutes.size());
    for (std::size_t i = counts.size(); i-- > 0;) {
        counts[i] = count;
        count += ended_in(minutes[i]) - number_in(minutes[i], "accepted");
    }
    return counts;
}

std::string charts(const Json& status) {
    ChartLine accepted{"accepted", {}};
    ChartLine completed{"completed", {}};
    ChartLine failed{"failed or timed out", {}};
    for (const Json& minute : part(status, "minutes")) {
        accepted.values.push_back(number_in(minute, "accepted"));
        completed.values.push_back(number_in(minute, "completed"));
        failed.values.push_back(number_in(minute, "failed") + number_in(minute, "timed_out"));
    }
    return chart("rates", "Requests a minute",
                 {std::move(accepted), std::move(completed), std::move(failed)}) +
           chart("backlog", "Requests in work", {{"in work", in_work_by_minute(status)}});
}

std::string in_work_table(const Json& status) {
    std::string rows;
    for (const Json& entry : part(status, "in_work")) {
        const std::string kind = text_in(entry, "kind");
        const std::string state = text_in(entry, "status");
        const std::string query = query_of({{"kind", kind}, {"status", state}});
        rows += element("tr", element("td", link("/jobs?" + query, kind)) + cell(state) +
                                  cell(text_in(entry, "count")) +
                                  cell(span_in(entry, "oldest_seconds")));
    }
    if (rows.empty()) return element("p", "Nothing is in work.");
    return table("In work", {"Kind", "Status", "Requests", "Oldest"}, rows);
}

std::string queue_table(const Json& queues) {
    std::string rows;
    for (const auto& [name, depth] : part(queues, "sending").items()) {
        const std::string readiness = text_in(part(queues, "readiness"), name.c_str());
        rows += element("tr", cell(name) + cell(readiness.empty() ? "-" : readiness) +
                                  cell(depth.dump()) +
                                  cell(text_in(part(queues, "per_second"), name.c_str())));
    }
    return table("Queues", {"Kind", "Wait for readiness", "Wait for the rate", "Rate per second"},
                 rows);
}

std::string client_table(const Json& clients) {
    std::string rows;
    for (const Json& one : clients) {
        const std::string name = text_in(one, "client");
        const std::string query = query_of({{"client", name}, {"status", "unfinished"}});
        // Of a key that is gone nobody knows the name that its requests are found by.
        rows += element(
            "tr", (name == "?" ? cell(name) : element("td", link("/jobs?" + query, name))) +
                      cell(text_in(one, "in_work")) + cell(posts_text(part(one, "last_hour"))));
    }
    if (rows.empty()) return {};
    return section("Clients that do most",
                   table("Clients", {"Client", "In work", "Posts of the last hour"}, rows));
}

std::string process_facts(const Json& status) {
    const Json& disk = part(status, "disk");
    const Json& node = part(status, "cluster");
    return element("dl",
                   fact("Last minute", counts_text(part(status, "last_minute"))) +
                       fact("Last hour", counts_text(part(status, "last_hour"))) +
                       fact("Chain", chain_text(part(status, "chain"))) +
                       fact("Role", text_in(status, "role")) +
                       (node.empty() ? std::string() : fact("Cluster", node_text(node))) +
                       fact("Process", "pid " + text_in(status, "pid") + ", runs for " +
                                           span_in(status, "running_seconds")) +
                       fact("Data", text_in(status, "data_dir")) +
                       fact("Disk", "database " + size_text(number_in(disk, "database_bytes")) +
                                        ", its log " + size_text(number_in(disk, "log_bytes")) +
                                        ", free " + size_text(number_in(disk, "free_bytes"))) +
                       fact("Log level", text_in(status, "log_level")));
}

std::string pause_forms(const Json& status, std::string_view form_token) {
    std::string forms;
    for (const domain::Family family : domain::families) {
        const std::string name(domain::to_string(family));
        bool is_paused = false;
        for (const Json& paused : part(status, "paused")) is_paused = is_paused || paused == name;
        const std::string verb = is_paused ? "resume" : "pause";
        forms += post_form("/kinds/" + name + "/" + verb, form_token,
                           button((is_paused ? "Resume " : "Pause ") + name));
    }
    return section("Pause", element("p",
                                    "Nothing of a paused kind begins. What comes in is stored and "
                                    "waits, what is signed goes on, deadlines stand still.") +
                                element("div", forms, "class=\"buttons\""));
}

// --- jobs ---------------------------------------------------------------------------------------

std::string what_of(const Json& job, std::size_t bytes_max) {
    std::string what = text_in(job, "waits_for", bytes_max);
    return what.empty() ? error_in(job, bytes_max) : "waits for " + what;
}

std::string job_row(const Json& job) {
    return element("tr", element("td", job_link(text_in(job, "job_id"))) +
                             cell(text_in(job, "kind")) + cell(text_in(job, "status")) +
                             cell(span_in(job, "in_status_seconds")) +
                             cell(span_in(job, "age_seconds")) + cell(text_in(job, "client")) +
                             cell(what_of(job, cell_text_max)));
}

std::string option(std::string_view value, std::string_view text, const std::string& chosen) {
    return element("option", escaped(text),
                   "value=\"" + escaped(value) + "\"" + (value == chosen ? " selected" : ""));
}

std::string chosen_in(const FormValues& filters, std::string_view name) {
    const auto found = filters.find(name);
    return found == filters.end() ? std::string() : found->second;
}

template <typename Values>
std::string choice(std::string_view name, std::string_view title, const FormValues& filters,
                   const Values& values, std::string options = {}) {
    const std::string chosen = chosen_in(filters, name);
    options = option("", "any", chosen) + options;
    for (const auto value : values) {
        const std::string_view text = domain::to_string(value);
        options += option(text, text, chosen);
    }
    return element(
        "label", escaped(title) + element("select", options, "name=\"" + std::string(name) + "\""));
}

std::string text_field(std::string_view name, std::string_view title, const FormValues& filters,
                       std::string_view attributes = {}) {
    return element("label", escaped(title) + "<input name=\"" + std::string(name) + "\" value=\"" +
                                escaped(chosen_in(filters, name)) + "\" " +
                                std::string(attributes) + ">");
}

std::string filter_form(const FormValues& filters) {
    const std::string unfinished = option("unfinished", "unfinished", chosen_in(filters, "status"));
    return element(
        "form",
        choice("kind", "Kind", filters, domain::kinds) +
            choice("status", "Status", filters, domain::statuses, unfinished) +
            text_field("client", "Client", filters) +
            text_field("older", "Older than (seconds)", filters, "inputmode=\"numeric\"") +
            text_field("label", "Reason", filters) + button("Show"),
        "method=\"get\" action=\"/jobs\" class=\"filters\"");
}

// --- one job ------------------------------------------------------------------------------------

std::string job_facts(const Json& job) {
    std::string trouble_text;
    if (const Json& last = part(job, "last_trouble"); !last.empty()) {
        trouble_text = text_in(last, "text") + " (" + text_in(last, "times") + " times, last " +
                       text_in(last, "at") + ", " + text_in(last, "while") + ")";
    }
    return element(
        "dl",
        fact("Status", text_in(job, "status") + " for " + span_in(job, "in_status_seconds")) +
            fact("Waits for", text_in(job, "waits_for")) + fact("Until", text_in(job, "until")) +
            fact("Error", error_in(job, line_bytes_max)) + fact("Last trouble", trouble_text) +
            fact("Kind", text_in(job, "kind")) +
            fact("Accepted",
                 text_in(job, "accepted_at") + ", " + span_in(job, "age_seconds") + " ago") +
            fact("Client", text_in(job, "client")) + fact("Deadline", text_in(job, "deadline")) +
            fact("Tries", text_in(job, "tries") + ", troubles " + text_in(job, "troubles")) +
            fact("No node since", text_in(job, "unreached_since")) +
            fact("Refused since", text_in(job, "refused_since")) +
            fact("Id on the chain", text_in(job, "reference")) +
            fact("Answers held", text_in(job, "answers_held")) +
            fact("Bytes of the result", text_in(job, "result_bytes")));
}

std::string related_jobs(const Json& job) {
    std::string links;
    const auto add = [&](std::string_view name, const char* member) {
        const std::string id = text_in(job, member);
        if (!id.empty()) links += element("p", escaped(name) + " " + job_link(id));
    };
    add("Retry of", "retry_of");
    add("Retried as", "retried_as");
    return links;
}

std::string time_line(const Json& job) {
    std::string items;
    for (const Json& stage : part(job, "history")) {
        const std::string at = text_in(stage, "at");
        const std::string left_out = text_in(stage, "left_out");
        std::string text = text_in(stage, "cause") + " " + text_in(stage, "note");
        if (!left_out.empty()) text += " (" + left_out + " before it left out)";
        items += element("li", element("time", escaped(at), "datetime=\"" + escaped(at) + "\"") +
                                   element("b", escaped(text_in(stage, "stage"))) +
                                   element("span", escaped(text)));
    }
    if (items.empty()) return {};
    return section("History", element("ol", items, "class=\"time-line\""));
}

std::string transactions(const Json& job) {
    std::string rows;
    for (const Json& sent : part(job, "transactions")) {
        rows += element("tr", element("td", element("code", escaped(text_in(sent, "hash")))) +
                                  cell(text_in(sent, "nonce")) + cell(text_in(sent, "sealed_at")) +
                                  cell(text_in(sent, "fate")) + cell(text_in(sent, "block")) +
                                  cell(text_in(sent, "fee")));
    }
    if (rows.empty()) return {};
    return section("Transactions",
                   table("Transactions",
                         {"Hash", "Nonce", "Signed", "What became of it", "Block", "Paid"}, rows));
}

std::string job_actions(const Json& job, std::string_view form_token) {
    const std::string path = "/jobs/" + percent_encoded(text_in(job, "job_id")) + "/";
    const bool is_share = text_in(job, "kind") == domain::to_string(domain::Kind::share);
    const auto status = domain::status_from(text_in(job, "status"));
    const bool is_ended = status && domain::is_terminal(*status);
    std::string forms;
    if (job.contains("held")) {
        forms += behind_a_step(
            "Release…",
            post_form(path + "release", form_token,
                      element("p",
                              "It is sent. Look on the chain first whether another process "
                              "sent it: then it would be paid twice.") +
                          button("Release it")));
    }
    if (!is_ended) {
        forms += behind_a_step(
            "Cancel…",
            post_form(path + "cancel", form_token,
                      element("p",
                              "It ends as a failure, for good. What is signed can "
                              "not be cancelled, unless it is held.") +
                          (is_share ? tick("share", "its secrets go, it counts as failed")
                                    : std::string()) +
                          button("Cancel it")));
    } else if (status != domain::Status::completed && !is_share) {
        forms += behind_a_step(
            "Retry…", post_form(path + "retry", form_token,
                                element("p", "The same is asked anew, with an id of its own.") +
                                    tick("pay_again", "although something was signed for it") +
                                    button("Retry it")));
    }
    return forms.empty() ? forms : section("Actions", element("div", forms, "class=\"buttons\""));
}

// --- the frame ----------------------------------------------------------------------------------

std::string whole(std::string_view title, const std::string& body) {
    return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
           "<meta name=\"color-scheme\" content=\"light dark\">" +
           element("title", escaped(std::string(title) + " - Posthouse")) +
           "<link rel=\"stylesheet\" href=\"/page.css\"><script src=\"/page.js\" defer></script>"
           "<link rel=\"icon\" href=\"/icon.svg\"></head>" +
           element("body", body) + "</html>\n";
}

std::string message_box(std::string_view message) {
    return message.empty() ? std::string()
                           : element("p", escaped(message), "class=\"message\" role=\"status\"");
}

}  // namespace

View overview(const Json& status, std::string_view form_token) {
    return {"Overview",
            section("Alerts", alerts(status)) + element("div", charts(status), "class=\"charts\"") +
                section("In work", in_work_table(status)) +
                section("Queues", queue_table(part(status, "queues"))) +
                client_table(part(status, "clients")) + section("Process", process_facts(status)),
            {},
            pause_forms(status, form_token)};
}

View job_list(const Json& page, const FormValues& filters) {
    std::string rows;
    for (const Json& job : part(page, "jobs")) rows += job_row(job);
    std::string live =
        rows.empty()
            ? element("p", "No such jobs on this page.")
            : table("Jobs",
                    {"Job", "Kind", "Status", "For", "Age", "Client", "Waits for, or error"}, rows);
    if (const std::string next = text_in(page, "next"); !next.empty()) {
        FormValues further = filters;
        further.insert_or_assign("before", next);
        live += element("p", escaped("Looked at " + text_in(page, "looked_at") + " rows. ") +
                                 link("/jobs?" + query_of(further), "Older jobs"));
    }
    return {"Jobs", std::move(live), filter_form(filters)};
}

View one_job(const Json& job, std::string_view form_token) {
    const std::string id = text_in(job, "job_id");
    return {"Job " + id,
            job_facts(job) + related_jobs(job) + time_line(job) + transactions(job),
            {},
            job_actions(job, form_token)};
}

View trouble(std::string_view text) {
    return {"Not shown", element("p", escaped(text), "class=\"message\"")};
}

std::string document(const View& view, const Frame& frame) {
    const std::string nav =
        element("nav",
                link("/", "Overview") + link("/jobs?status=unfinished", "Jobs in work") +
                    link("/jobs", "All jobs") +
                    post_form("/logout", frame.form_token, button("Sign out", "class=\"quiet\"")),
                "aria-label=\"Pages\"");
    const std::string main = element(
        "main",
        element("h1", escaped(view.title)) + message_box(frame.message) + view.above +
            element("div", view.live, "id=\"live\" data-path=\"" + escaped(frame.path) + "\"") +
            view.below,
        "id=\"content\"");
    return whole(view.title,
                 element("a", "To the content", "class=\"skip\" href=\"#content\"") +
                     element("header", element("p", "Posthouse", "class=\"brand\"") + nav) + main);
}

std::string login_document(std::string_view message) {
    const std::string form =
        element("form",
                element("label",
                        "Token<input type=\"password\" name=\"token\" "
                        "autocomplete=\"current-password\" required autofocus>") +
                    button("Sign in"),
                "method=\"post\" action=\"/login\" class=\"login\"");
    return whole("Sign in",
                 element("main", element("h1", "Posthouse") + message_box(message) +
                                     element("p",
                                             "It is what `http.admin_token` says, or the "
                                             "file of `http.admin_token_file`.") +
                                     form));
}

}  // namespace api::admin::page
