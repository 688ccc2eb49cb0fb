#include "api/schema.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/utf8.hpp"

namespace api {

namespace {

constexpr std::string_view wants_string = "Value must be a string";
constexpr std::string_view wrong_type = "Invalid data type";
constexpr std::size_t told_name_bytes_max = 200;  // a name may be as long as a body

std::optional<ApiError> problem_of(JsonValue value, const Schema& schema);

std::optional<ApiError> problem_of_text(JsonValue value, const MemberRule& rule) {
    if (value.is(JsonType::string)) return {};
    return wrong_field(rule.name, wants_string);
}

std::optional<ApiError> problem_of_object(JsonValue value, const MemberRule& rule) {
    if (!value.is(JsonType::object)) return wrong_field(rule.name, wrong_type);
    return problem_of(value, *rule.inner);
}

template <typename Check>
std::optional<ApiError> problem_of_array(JsonValue value, const MemberRule& rule, Check check) {
    if (!value.is(JsonType::array)) return wrong_field(rule.name, wrong_type);
    for (const JsonValue element : value.elements()) {
        if (auto problem = check(element, rule)) return problem;
    }
    return {};
}

std::optional<ApiError> problem_of_member(JsonValue value, const MemberRule& rule) {
    switch (rule.shape) {
        case Shape::text:
            return problem_of_text(value, rule);
        case Shape::text_or_number:
            if (value.is(JsonType::string) || value.is(JsonType::number)) return {};
            return malformed_json(std::string(rule.name).append(" must be a string or a number"));
        case Shape::texts:
            return problem_of_array(value, rule, problem_of_text);
        case Shape::object:
            return problem_of_object(value, rule);
        case Shape::objects:
            return problem_of_array(value, rule, problem_of_object);
    }
    return {};
}

std::optional<ApiError> problem_of(JsonValue value, const Schema& schema) {
    if (!value.is(JsonType::object)) return wrong_field("request", wrong_type);
    for (const JsonMember& member : value.members()) {
        const auto rule = std::find_if(schema.members.begin(), schema.members.end(),
                                       [&](const MemberRule& r) { return r.name == member.name; });
        if (rule != schema.members.end()) {
            if (auto problem = problem_of_member(member.value, *rule)) return problem;
        } else if (schema.unknown_refused) {
            return wrong_field(base::cut_utf8(member.name, told_name_bytes_max), "Unknown field");
        }
    }
    for (const MemberRule& rule : schema.members) {
        if (!value.find(rule.name)) return missing_field(rule.name);
    }
    return {};
}

}  // namespace

std::variant<JsonDocument, ApiError> read_request(std::string_view body, const Schema& schema) {
    auto read = read_json(body);
    if (const auto* problem = std::get_if<JsonProblem>(&read)) {
        return malformed_json(text_of(*problem));
    }
    auto& document = std::get<JsonDocument>(read);
    if (auto problem = problem_of(document.root(), schema)) return *std::move(problem);
    return std::move(document);
}

}  // namespace api
