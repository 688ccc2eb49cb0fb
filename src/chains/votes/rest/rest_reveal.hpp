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
[[nodiscard]] std::string_view name_of_code(std::int64_t code);  // empty: not worth a name

// Absent when the reply holds no whole number there; a chain always names it.
[[nodiscard]] std::optional<std::int64_t> code_of(const RestReply& reply);

// `client` it came from: makes its texts presentable.
[[nodiscard]] RevealOutcome read_reveal(const RestReply& reply, const RestClient& client);

}  // namespace chains::votes::rest
