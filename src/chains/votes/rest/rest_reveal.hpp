#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chains/votes/rest/rest_client.hpp"
#include "chains/votes/reveal.hpp"

// What the chain says to a reveal (share-helper 5.3).
namespace chains::votes::rest {

// Codes of its vote module.
[[nodiscard]] constexpr bool is_already_revealed(std::int64_t code) {
    return code == 2;
}
// The round is not known or not active: whoever knows it as open waits (share-helper 4.3).
[[nodiscard]] constexpr bool is_about_closed_round(std::int64_t code) {
    return code == 3 || code == 4;
}
[[nodiscard]] std::string_view name_of_code(std::int64_t code);  // empty: not worth a name

// Absent when the reply holds no whole number there; a chain always names it.
[[nodiscard]] std::optional<std::int64_t> code_of(const RestReply& reply);

// `client` it came from: makes its texts presentable. A code counts as the votes' when its code
// space is `votes_codespace` or missing, and as "already revealed" when its log does not say
// something else.
[[nodiscard]] RevealOutcome read_reveal(const RestReply& reply, const RestClient& client,
                                        const std::string& votes_codespace);

}  // namespace chains::votes::rest
