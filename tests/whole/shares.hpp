#pragma once

#include <cstdint>
#include <string>

#include "api/samples.hpp"

// The shares of one round.
namespace whole::shares {

inline constexpr const char* path = "/shielded-vote/v1/shares";
inline constexpr const char* file = "vote-share.json";

// They differ by their number.
[[nodiscard]] inline std::string share(std::uint32_t number, std::uint64_t submit_at = 0) {
    auto json = nlohmann::json::parse(api_test::sample(file));
    json["tree_position"] = number;
    json["submit_at"] = submit_at;
    return json.dump();
}

[[nodiscard]] inline std::string round_id() {
    return nlohmann::json::parse(api_test::sample(file))["vote_round_id"];
}

}  // namespace whole::shares
