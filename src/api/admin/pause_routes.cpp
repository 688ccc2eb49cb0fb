#include "api/admin/pause_routes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"
#include "api/router.hpp"

namespace api::admin {

namespace {

using Json = nlohmann::ordered_json;

struct NamedLevel {
    std::string_view name;
    ports::LogLevel level;
};
constexpr std::array levels{
    NamedLevel{"debug", ports::LogLevel::debug}, NamedLevel{"info", ports::LogLevel::info},
    NamedLevel{"warning", ports::LogLevel::warning}, NamedLevel{"error", ports::LogLevel::error}};

// Tells the engine, and says so once it is stored.
void instruct(
    engine::Instructed& engine, engine::Instruction::What what, const net::Respond& respond,
    const std::string& message, const std::function<void()>& then = [] {}) {
    engine.instruct(
        {std::move(what), [=](const engine::InstructionOutcome& outcome) {
             const bool stored = std::holds_alternative<engine::Done>(outcome);
             if (stored) then();
             respond(stored ? admin_done(message)
                            : admin_not_now("Nothing changed: the database takes no writes"));
         }});
}

void change_kind(engine::Instructed& engine, const net::HttpRequest& request,
                 const net::Respond& respond) {
    const bool pauses = last_part(request.path) == "pause";
    const std::string name = percent_decoded(last_part(without_last_part(request.path)));
    const auto family = family_from(name);
    if (!family) {
        return respond(admin_error(400,
                                   "No such kind; allowed: input_proof, public_decrypt, "
                                   "user_decrypt (delegated and unified ones too), share"));
    }
    if (pauses) return instruct(engine, engine::Pause{*family}, respond, "Paused " + name);
    instruct(engine, engine::Unpause{*family}, respond, "Resumed " + name);
}

}  // namespace

std::string_view name_of(ports::LogLevel level) {
    return std::ranges::find(levels, level, &NamedLevel::level)->name;
}

std::optional<ports::LogLevel> log_level_from(std::string_view name) {
    const auto found = std::ranges::find(levels, name, &NamedLevel::name);
    if (found == levels.end()) return std::nullopt;
    return found->level;
}

std::optional<domain::Family> family_from(std::string_view name) {
    const auto found = std::ranges::find_if(domain::families, [name](domain::Family family) {
        return domain::to_string(family) == name;
    });
    if (found == domain::families.end()) return std::nullopt;
    return *found;
}

std::vector<AdminRoute> pause_routes(engine::Instructed& engine,
                                     std::function<void(ports::LogLevel)> set_level) {
    const auto kind = [&engine](const net::HttpRequest& request, const net::Respond& respond) {
        change_kind(engine, request, respond);
    };
    const auto level = [&engine, set_level = std::move(set_level)](const net::HttpRequest& request,
                                                                   const net::Respond& respond) {
        const std::string name = percent_decoded(last_part(request.path));
        const auto wanted = log_level_from(name);
        if (!wanted) {
            return respond(admin_error(400, "No such level; allowed: debug, info, warning, error"));
        }
        instruct(engine, engine::Remember{{std::string(log_level_setting), Json(name).dump()}},
                 respond, "Log level " + name, [set_level, wanted] { set_level(*wanted); });
    };
    return {{"/admin/kinds/*/pause", "POST", kind},
            {"/admin/kinds/*/resume", "POST", kind},
            {"/admin/log-level/*", "POST", level}};
}

}  // namespace api::admin
