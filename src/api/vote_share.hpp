#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "domain/request.hpp"

namespace api {

// What the `error` member of a refused share says.
struct ShareProblem {
    std::string text;

    bool operator==(const ShareProblem&) const = default;
};

// Reads the body of `POST /shielded-vote/v1/shares` (share-helper 1.1): missing and null members
// are zero, unknown ones are ignored, the checks run in the order of the page and the first failure
// is reported. Numbers are exact; base64 must be canonical, the round id may have any letter case.
// Problem texts never quote what was sent, except small numbers.
[[nodiscard]] std::variant<domain::VoteShare, ShareProblem> decode_vote_share(
    std::string_view body);

}  // namespace api
