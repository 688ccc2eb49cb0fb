#pragma once

#include <map>
#include <string>
#include <string_view>

namespace api::admin::page {

// What a form carries: the values by the names of its fields, without those that are empty. Of
// fields with one name the last one counts.
using FormValues = std::map<std::string, std::string, std::less<>>;

// A query, or a body of application/x-www-form-urlencoded (URL Standard 5.1).
[[nodiscard]] FormValues form_values(std::string_view text);
// A value for a query.
[[nodiscard]] std::string percent_encoded(std::string_view text);
// `name=value&…`, in the order of the names.
[[nodiscard]] std::string query_of(const FormValues& values);

}  // namespace api::admin::page
