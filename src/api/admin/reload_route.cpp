#include "api/admin/reload_route.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"

namespace api::admin {

namespace {

void append(std::string& text, const std::string& part) {
    text += (text.empty() ? "" : "; ") + part;
}

net::HttpResponse answer_of(const std::vector<Reloaded>& all) {
    std::string read;
    std::string problems;
    for (const Reloaded& each : all) {
        if (!each.problem.empty()) {
            append(problems, each.what + ": " + each.problem + "; the old ones stay");
            continue;
        }
        append(read, each.what + " " + each.facts +
                         (each.is_copy ? ", a credential: systemd copied its file at the start, so "
                                         "what changed there since comes with a restart"
                                       : ""));
    }
    if (!problems.empty()) return admin_error(409, problems);
    return admin_done(read.empty()
                          ? "Nothing to read again: there are no files of keys and no TLS; "
                            "settings are read at a start"
                          : "Read again: " + read);
}

}  // namespace

AdminRoute reload_route(std::function<std::vector<Reloaded>()> reload) {
    return {"/admin/reload", "POST",
            [reload = std::move(reload)](const net::HttpRequest&, const net::Respond& respond) {
                respond(answer_of(reload()));
            }};
}

}  // namespace api::admin
