#pragma once

#include <doctest/doctest.h>

#include <string>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace api_test {

// What tests of the share routes send and expect.

inline constexpr VotePorts with_check{.trees = true, .commitments = true};

inline const Json queued{{"status", "queued"}};
inline const Json duplicate{{"status", "duplicate"}};
[[nodiscard]] inline Json error(const std::string& text) {
    return {{"status", "error"}, {"error", text}};
}

[[nodiscard]] inline std::string sample_share() {
    return sample("vote-share.json");
}

inline void check_json(const Answer& answer, int status, const Json& body) {
    CAPTURE(answer.body);
    CHECK(answer.status == status);
    CHECK(answer.content_type == "application/json");
    CHECK(answer.json == body);
}

}  // namespace api_test
