#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace api_test {

// A file of tests/data/requests; throws when it is not there.
[[nodiscard]] std::string sample(std::string_view name);

// The body of a case of expected.json or expected-shares.json (see the README beside them).
[[nodiscard]] std::string body_of(const nlohmann::json& example);

// A sample with one member, named by a dotted path, replaced.
[[nodiscard]] std::string sample_with(std::string_view name, const std::string& path,
                                      const nlohmann::json& value);

}  // namespace api_test
