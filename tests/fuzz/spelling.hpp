#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "domain/bytes.hpp"
#include "domain/request.hpp"

namespace fuzz {

// The plainest body from which a request can be read.
[[nodiscard]] nlohmann::json body_of(const domain::Request& request);

// The letters of every hexadecimal text in `body`, which body_of() made, stand in `sent` as well.
// Numbers are passed over, since they have many spellings.
[[nodiscard]] bool is_spelled_in(const nlohmann::json& body, const nlohmann::json& sent);

[[nodiscard]] std::string to_base64(domain::ByteView bytes);

// As the general library sees it.
[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] std::string lower_case(std::string_view text);

}  // namespace fuzz
