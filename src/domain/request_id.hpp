#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace domain {

// The public id of one accepted request: a UUID version 7 (RFC 9562, 5.7). `sequence` holds the
// 48-bit Unix milliseconds and the 12-bit counter below them, so ids rise in order of acceptance
// and `sequence` alone is unique: it is the row id. `random` holds the 62 bits that make an id
// unguessable.
struct RequestId {
    std::int64_t sequence = 0;
    std::int64_t random = 0;

    auto operator<=>(const RequestId&) const = default;
};

// Whether both numbers fit into a UUID: all we give out do.
[[nodiscard]] bool is_valid(const RequestId& id);

// Hyphenated lower-case text.
[[nodiscard]] std::string to_string(const RequestId& id);

enum class UuidForm {
    ours,     // could be one of our ids
    foreign,  // a well-formed UUID that is no version 7: names nothing here
    invalid,  // no UUID at all
};

struct ParsedId {
    UuidForm form = UuidForm::invalid;
    RequestId id;
};

// Accepts hyphenated, bare, {braced} and urn:uuid: spellings of any letter case (relayer-api 1.1).
[[nodiscard]] ParsedId parse_request_id(std::string_view text);

}  // namespace domain
