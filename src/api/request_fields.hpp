#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/decode.hpp"
#include "api/field_rules.hpp"
#include "api/json_reader.hpp"
#include "api/schema.hpp"

namespace api {

// The members of an object in a request. What is wrong with one is noted under its name, behind
// those of the objects around it.
class RequestFields {
public:
    RequestFields(JsonValue object, FieldIssues& issues, std::string around = {})
        : object_(object), issues_(issues), around_(std::move(around)) {}

    [[nodiscard]] JsonValue operator[](std::string_view name) const { return object_[name]; }
    [[nodiscard]] RequestFields inside(std::string_view name) const {
        return {object_[name], issues_, around_ + std::string(name) + "."};
    }

    void note(std::string_view name, Issue issue) {
        if (issue) issues_.note(around_ + std::string(name), issue);
    }

    // Of a text or a list.
    void require_size(std::string_view name, std::size_t at_least) {
        const JsonValue value = object_[name];
        const bool is_text = value.is(JsonType::string);
        note(name, api::require_size(is_text ? value.text().size() : value.size(), at_least));
    }

    template <typename Rule, typename Value>
    void read(std::string_view name, Rule rule, Value& out) {
        note(name, rule(object_[name].text(), out));
    }

    // A list, up to its first bad element (relayer-api 1.5, 1.10).
    template <typename Rule, typename Value>
    void read_objects(std::string_view name, Rule rule, std::vector<Value>& out) {
        const JsonValue list = object_[name];
        out.reserve(list.size());
        for (const JsonValue element : list.elements()) {
            if (const Issue issue = rule(element, out.emplace_back())) return note(name, issue);
        }
    }
    template <typename Rule, typename Value>
    void read_texts(std::string_view name, Rule rule, std::vector<Value>& out) {
        read_objects(
            name, [&](JsonValue text, Value& value) { return rule(text.text(), value); }, out);
    }

private:
    const JsonValue object_;
    FieldIssues& issues_;
    const std::string around_;
};

// `read(RequestFields&, Request&)` takes the members of a body that keeps to the schema.
template <typename Request, typename Read>
Decoded decode_request(std::string_view body, const Schema& schema, Read read) {
    const auto json = read_request(body, schema);
    if (const auto* api_error = std::get_if<ApiError>(&json)) return *api_error;
    Request request;
    FieldIssues issues;
    RequestFields fields(std::get<JsonDocument>(json).root(), issues);
    read(fields, request);
    if (!issues.empty()) return issues.api_error();
    return domain::Request(std::move(request));
}

}  // namespace api
