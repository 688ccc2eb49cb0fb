#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace api::admin {

// What is in the JSON answers of the admin interface, as texts for people: a terminal shows them
// as they are, a page escapes them.

using Json = nlohmann::ordered_json;

inline constexpr std::size_t line_bytes_max = 2'000;

// A number, or a text without control characters; empty: there is none.
[[nodiscard]] std::string text_in(const Json& json, const char* name,
                                  std::size_t bytes_max = line_bytes_max);
// 0: there is none.
[[nodiscard]] std::int64_t number_in(const Json& json, const char* name);
// Of seconds.
[[nodiscard]] std::string span_in(const Json& json, const char* name);
[[nodiscard]] std::string size_text(std::int64_t bytes);

// Why a job failed; empty: it did not.
[[nodiscard]] std::string error_in(const Json& job, std::size_t bytes_max);
// Of `last_minute` and the like.
[[nodiscard]] std::string counts_text(const Json& counts);
// Of a client: what it has in work and, where that is told, what it posted in the last hour.
[[nodiscard]] std::string client_text(const Json& client);
// Of what was said to its POSTs, without what there was none of.
[[nodiscard]] std::string posts_text(const Json& counts);
// Of `chain`; empty: nothing is known of it.
[[nodiscard]] std::string chain_text(const Json& chain);

// What a node of several is, of the member `cluster` of the status.
[[nodiscard]] std::string node_text(const Json& node);

}  // namespace api::admin
