#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "bench/bodies.hpp"
#include "domain/time.hpp"

namespace bench {

// Stores vote shares that wait for their time without the way over HTTP, many to a commit, and
// closes the store again. `due` gives the moment of the n-th. Returns the bytes of one payload.
std::uint64_t seed_shares(const std::filesystem::path& data_directory, const Body& share,
                          std::uint64_t count,
                          const std::function<domain::Timestamp(std::uint64_t)>& due);

// As many of them as the tree of a round allows for each of its leaves.
inline constexpr std::uint64_t seeded_per_leaf = 240;

[[nodiscard]] domain::Timestamp wall_now();

}  // namespace bench
