#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "api/api_error.hpp"
#include "api/json_reader.hpp"

namespace api {

// What JSON a member of a relayer request must be.
enum class Shape {
    text,
    text_or_number,
    texts,    // array of strings
    object,   // of the inner schema
    objects,  // array of such
};

struct Schema;

struct MemberRule {
    std::string_view name;
    Shape shape = Shape::text;
    const Schema* inner = nullptr;
};

// The members of an object, all required, in the order in which missing ones are reported.
struct Schema {
    std::span<const MemberRule> members;
    bool unknown_refused = false;
};

// A document in which every member of the schema is there with its shape, at every level; or the
// first decoding problem of relayer-api 1.4, in document order. A type clash names the real member
// (D-16).
[[nodiscard]] std::variant<JsonDocument, ApiError> read_request(std::string_view body,
                                                                const Schema& schema);

}  // namespace api
