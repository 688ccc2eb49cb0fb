#include "api/admin/admin_answer.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/envelope.hpp"

namespace api::admin {

namespace {

using Json = nlohmann::ordered_json;
using Type = AdminParameter::Type;

Json whole_number(std::uint32_t min, std::uint32_t max) {
    return {{"type", "u32"}, {"min", min}, {"max", max}};
}

Json constraints_of(const AdminParameter& parameter) {
    switch (parameter.type) {
        case Type::whole:
            return whole_number(parameter.min, parameter.max);
        case Type::fraction:
            return {{"type", "f32"}, {"min", 0.0}, {"max", 1.0}};
        case Type::intervals:
            break;
    }
    return {{"type", "array"},
            {"min_items", 0},
            {"max_items", intervals_max},
            {"items",
             {{"type", "array"},
              {"threshold", whole_number(0, interval_seconds_max)},
              {"interval", whole_number(1, interval_seconds_max)}}}};
}

}  // namespace

net::HttpResponse admin_state(const AdminChanges::State& state) {
    Json values = Json::object();
    Json available = Json::array();
    for (const AdminParameter& parameter : admin_parameters()) {
        values[std::string(parameter.key)] = Json::parse(value_of(state.tuning, parameter));
        available.push_back({{"name", parameter.key},
                             {"description", parameter.description},
                             {"constraints", constraints_of(parameter)}});
    }
    return admin_answer(200, {{"values", std::move(values)},
                              {"available_params", std::move(available)},
                              {"overridden", state.overridden}});
}

net::HttpResponse admin_changed(std::string_view name, std::string_view value) {
    return admin_answer(200, {{"name", name},
                              {"value", Json::parse(value)},
                              {"message", "Configuration updated successfully"}});
}

net::HttpResponse admin_text(int status, std::string_view text) {
    net::HttpResponse response;
    response.status = status;
    response.body = text;
    response.content_type = "text/plain; charset=utf-8";
    return response;
}

}  // namespace api::admin
