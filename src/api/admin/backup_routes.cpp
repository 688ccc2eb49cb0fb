#include "api/admin/backup_routes.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace api::admin {

namespace {

const char* text_of(BackupState::Status status) {
    switch (status) {
        case BackupState::Status::none:
            return "none";
        case BackupState::Status::running:
            return "running";
        case BackupState::Status::done:
            return "done";
        case BackupState::Status::failed:
            break;
    }
    return "failed";
}

net::HttpResponse backup_answer(int status, const BackupState& state) {
    nlohmann::ordered_json body{{"status", text_of(state.status)}};
    if (state.status != BackupState::Status::none) body["file"] = state.file;
    if (state.status == BackupState::Status::running) {
        body["part"] = state.part;
        body["done"] = state.done;
        body["total"] = state.total;
    } else if (state.status == BackupState::Status::failed) {
        body["error"] = state.error;
    } else if (state.status == BackupState::Status::done) {
        body["requests"] = state.requests;
        body["shares_sealed"] = state.shares_sealed;
        body["shares_left_out"] = state.shares_left_out;
        body["bytes"] = state.bytes;
        body["faults"] = state.faults;
    }
    return admin_answer(status, body);
}

// What a POST asks for, or why it asks for nothing.
std::variant<BackupOrder, std::string> read_order(std::string_view text) {
    const auto body = nlohmann::json::parse(text, nullptr, false);
    if (!body.is_object()) return "The body must be an object with `file`";
    BackupOrder order;
    for (const auto& [name, value] : body.items()) {
        const bool is_path = value.is_string() && is_told_path(value.get<std::string>());
        if (name == "file" && is_path) {
            order.file = value.get<std::string>();
        } else if (name == "key_file" && is_path) {
            order.key_file = value.get<std::string>();
        } else if (name == "wal_bytes_max" && value.is_number_unsigned()) {
            order.wal_bytes_max = value.get<std::uint64_t>();
        } else if (name == "file" || name == "key_file") {
            return "`" + name + "` must be an absolute path without control characters";
        } else if (name == "wal_bytes_max") {
            return "`wal_bytes_max` must be a number of bytes";
        } else {
            return "Unknown member; there are `file`, `key_file` and `wal_bytes_max`";
        }
    }
    if (order.file.empty()) return "Missing member `file`";
    return order;
}

net::HttpResponse begin_backup(BackupControl& backups, std::string_view body) {
    const auto read = read_order(body);
    if (const auto* problem = std::get_if<std::string>(&read)) return admin_error(400, *problem);
    if (const auto refusal = backups.begin(std::get<BackupOrder>(read))) {
        return admin_error(refusal->is_busy ? 409 : 400, refusal->text);
    }
    return backup_answer(202, backups.state());
}

}  // namespace

bool is_told_path(std::string_view path) {
    return path.starts_with('/') && base::is_utf8(path) &&
           std::ranges::none_of(path, base::is_control);
}

std::string backup_body(const BackupOrder& order) {
    nlohmann::json body{{"file", order.file}};
    if (order.key_file) body["key_file"] = *order.key_file;
    if (order.wal_bytes_max) body["wal_bytes_max"] = *order.wal_bytes_max;
    return body.dump();
}

BackupState read_backup_state(int status, const std::string& text) {
    BackupState state;
    state.status = BackupState::Status::failed;
    state.error = "the answer of the running process can not be read";
    const auto body = nlohmann::json::parse(text, nullptr, false);
    if (!body.is_object()) return state;
    state.error = body.value("error", state.error);
    if (status != 200 && status != 202) return state;
    const std::string said = body.value("status", "");
    for (const auto one :
         {BackupState::Status::none, BackupState::Status::running, BackupState::Status::done}) {
        if (said == text_of(one)) state.status = one;
    }
    const auto number = [&body](const char* name) { return body.value(name, std::uint64_t{0}); };
    state.file = body.value("file", "");
    state.part = body.value("part", "");
    state.done = number("done");
    state.total = number("total");
    state.requests = number("requests");
    state.shares_sealed = number("shares_sealed");
    state.shares_left_out = number("shares_left_out");
    state.bytes = number("bytes");
    state.faults = body.value("faults", std::vector<std::string>{});
    return state;
}

std::vector<AdminRoute> backup_routes(BackupControl& backups) {
    return {{"/admin/backup", "GET, HEAD, POST",
             [&backups](const net::HttpRequest& request, const net::Respond& respond) {
                 respond(request.method == "POST" ? begin_backup(backups, request.body)
                                                  : backup_answer(200, backups.state()));
             }},
            {"/admin/backup/cancel", "POST",
             [&backups](const net::HttpRequest&, const net::Respond& respond) {
                 backups.cancel();
                 respond(backup_answer(200, backups.state()));
             }}};
}

}  // namespace api::admin
