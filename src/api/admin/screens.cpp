#include "api/admin/screens.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "api/admin/answer_texts.hpp"
#include "base/sanitize.hpp"

namespace api::admin {

namespace {

constexpr std::size_t cell_bytes_max = 100;

Json parsed(std::string_view json) {
    Json body = Json::parse(json, nullptr, false);
    if (!body.is_object()) throw std::runtime_error("the answer is no JSON object");
    return body;
}

// Characters, not bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// Columns as wide as their widest cell, the last one as it is.
class Table {
public:
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    [[nodiscard]] std::string text(const std::string& indent = {}) const {
        std::vector<std::size_t> widths;
        for (const auto& row : rows_) {
            widths.resize(std::max(widths.size(), row.size()));
            for (std::size_t i = 0; i < row.size(); ++i) {
                widths[i] = std::max(widths[i], width_of(row[i]));
            }
        }
        std::string out;
        for (const auto& row : rows_) {
            std::string line = indent;
            for (std::size_t i = 0; i < row.size(); ++i) {
                line += row[i];
                if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
            }
            line.erase(line.find_last_not_of(' ') + 1);
            out += line + "\n";
        }
        return out;
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

// `a 1, b 2`, with `per second` behind each where that is given.
std::string depths_text(const Json& depths, const Json* rates) {
    std::string text;
    for (const auto& [name, depth] : depths.items()) {
        text += (text.empty() ? "" : ", ") + name + " " + depth.dump();
        if (rates != nullptr) text += " (" + text_in(*rates, name.c_str()) + " per second)";
    }
    return text;
}

void add_in_work(Table& table, const Json& in_work) {
    std::string title = "in work";
    for (const Json& entry : in_work) {
        table.add({title, text_in(entry, "count") + " " + text_in(entry, "kind") + " " +
                              text_in(entry, "status") + ", the oldest for " +
                              span_in(entry, "oldest_seconds")});
        title.clear();
    }
    if (in_work.empty()) table.add({title, "nothing"});
}

void add_clients(Table& table, const Json& clients) {
    std::string title = "by client";
    for (const Json& one : clients) {
        table.add({title, text_in(one, "client") + ": " + client_text(one)});
        title.clear();
    }
}

void add_live(Table& table, const Json& body) {
    const Json& queues = body.at("queues");
    table.add({"readiness queue", depths_text(queues.at("readiness"), nullptr)});
    table.add({"sending queue", depths_text(queues.at("sending"), &queues.at("per_second"))});
    table.add({"last minute", counts_text(body.at("last_minute"))});
    table.add({"last hour", counts_text(body.at("last_hour"))});
    if (const std::string chain = chain_text(body.at("chain")); !chain.empty()) {
        table.add({"chain", chain});
    }
}

void add_settings(Table& table, const Json& body) {
    std::string paused;
    for (const Json& kind : body.at("paused")) {
        paused += (paused.empty() ? "" : ", ") + kind.get<std::string>();
    }
    if (!paused.empty()) table.add({"PAUSED", paused + ": nothing of it begins"});
    table.add({"log level", text_in(body, "log_level")});
}

void add_alerts(Table& table, const Json& alerts) {
    std::string title = "alerts";
    for (const Json& alert : alerts) {
        table.add({title, base::sanitize(alert.get<std::string>(), {.bytes_max = line_bytes_max})});
        title.clear();
    }
    if (alerts.empty()) table.add({title, "none"});
}

}  // namespace

std::string done_screen(std::string_view json) {
    const Json body = parsed(json);
    const std::string before = text_in(body, "retry_of");
    const std::string job = text_in(body, "job_id");
    const std::string message = text_in(body, "message");
    if (job.empty()) return message + "\n";
    return before.empty() ? message + " " + job + "\n"
                          : before + " " + message + " as " + job + "\n";
}

std::string jobs_screen(std::string_view json) {
    const Json body = parsed(json);
    Table table;
    table.add({"JOB", "KIND", "STATUS", "FOR", "AGE", "CLIENT", "WAITS FOR, OR ERROR"});
    for (const Json& job : body.at("jobs")) {
        std::string what = text_in(job, "waits_for", cell_bytes_max);
        if (what.empty()) what = error_in(job, cell_bytes_max);
        table.add({text_in(job, "job_id"), text_in(job, "kind"), text_in(job, "status"),
                   span_in(job, "in_status_seconds"), span_in(job, "age_seconds"),
                   text_in(job, "client"), what});
    }
    std::string out = body.at("jobs").empty() ? "no such jobs\n" : table.text();
    if (const std::string next = text_in(body, "next"); !next.empty()) {
        out += "looked at " + text_in(body, "looked_at") +
               " rows; there are older ones: --before " + next + "\n";
    }
    return out;
}

std::string job_screen(std::string_view json) {
    const Json job = parsed(json);
    Table table;
    const auto line = [&](const char* title, const std::string& text) {
        if (!text.empty()) table.add({title, text});
    };
    line("job", text_in(job, "job_id"));
    line("kind", text_in(job, "kind"));
    line("status", text_in(job, "status") + " for " + span_in(job, "in_status_seconds") +
                       ", since " + text_in(job, "in_status_since"));
    line("accepted", text_in(job, "accepted_at") + ", " + span_in(job, "age_seconds") + " ago");
    line("client", text_in(job, "client"));
    line("waits for", text_in(job, "waits_for"));
    line("until", text_in(job, "until"));
    line("deadline", text_in(job, "deadline"));
    line("tries", text_in(job, "tries") + ", troubles " + text_in(job, "troubles"));
    line("no node since", text_in(job, "unreached_since"));
    line("refused since", text_in(job, "refused_since"));
    line("error", error_in(job, line_bytes_max));
    if (const auto error = job.find("error"); error != job.end()) {
        line("what to do", text_in(*error, "hint"));
    }
    if (const auto trouble = job.find("last_trouble"); trouble != job.end()) {
        line("last trouble", text_in(*trouble, "text") + " (" + text_in(*trouble, "times") +
                                 " times, last " + text_in(*trouble, "at") + ", " +
                                 text_in(*trouble, "while") + ")");
    }
    line("retry of", text_in(job, "retry_of"));
    line("retried as", text_in(job, "retried_as"));
    for (const Json& sent : job.at("transactions")) {
        const std::string nonce = text_in(sent, "nonce");
        line("transaction",
             text_in(sent, "hash") + (nonce.empty() ? "" : " nonce " + nonce) +
                 (sent.contains("account") ? " of " + text_in(sent, "account") : std::string()) +
                 ", signed " + text_in(sent, "sealed_at") + ", " + text_in(sent, "fate") +
                 (sent.contains("block") ? " in block " + text_in(sent, "block") : std::string()) +
                 (sent.contains("fee") ? ", paid " + text_in(sent, "fee") : std::string()));
    }
    for (const Json& stage : job.value("history", Json::array())) {
        const std::string left_out = text_in(stage, "left_out");
        line("history", text_in(stage, "at") + " " + text_in(stage, "stage") + ", " +
                            text_in(stage, "cause") + " " + text_in(stage, "note") +
                            (left_out.empty() ? "" : " (" + left_out + " before it left out)"));
    }
    line("id on the chain", text_in(job, "reference"));
    line("answers held", text_in(job, "answers_held"));
    line("result", job.contains("result_bytes") ? text_in(job, "result_bytes") + " bytes" : "");
    return table.text();
}

std::string status_screen(std::string_view json) {
    const Json body = parsed(json);
    const bool running = body.at("running").get<bool>();
    Table table;
    table.add({"posthouse", text_in(body, "version") + " on " + text_in(body, "data_dir")});
    const bool follows = !running && body.contains("cluster");
    table.add({"process", running ? "pid " + text_in(body, "pid") + ", runs for " +
                                        span_in(body, "running_seconds")
                          : follows ? "follows; this is what its file says"
                                    : "none runs; this is what the file says"});
    table.add({"role", text_in(body, "role")});
    if (body.contains("cluster")) table.add({"cluster", node_text(body.at("cluster"))});
    add_in_work(table, body.at("in_work"));
    if (number_in(body, "held") > 0)
        table.add({"HELD", text_in(body, "held") + " of them wait for you"});
    add_clients(table, body.at("clients"));
    if (running) add_live(table, body);
    if (running) add_settings(table, body);
    const Json& disk = body.at("disk");
    table.add({"disk", "database " + size_text(number_in(disk, "database_bytes")) + ", its log " +
                           size_text(number_in(disk, "log_bytes")) + ", free " +
                           size_text(number_in(disk, "free_bytes"))});
    if (body.contains("alerts")) add_alerts(table, body.at("alerts"));
    return table.text();
}

std::string error_screen(std::string_view body) {
    if (body.empty()) return "the process does not say why; is it of another version?";
    const Json json = Json::parse(body, nullptr, false);
    if (json.is_object() && json.contains("error")) return text_in(json, "error");
    return base::sanitize(body, {.bytes_max = line_bytes_max});
}

}  // namespace api::admin
