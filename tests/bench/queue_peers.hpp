#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "bench/bodies.hpp"
#include "bench/options.hpp"

namespace bench {

// Queues on PostgreSQL, as their users have them: libraries of Node.js.
inline constexpr std::array queue_peers{"pg-boss", "graphile-worker"};

// Jobs per second with as many clients as others have here: the best of what several numbers of
// threads and connections give. `socket`: the directory of the server's socket.
[[nodiscard]] double queue_rate(const Options& options, const std::string& peer,
                                const std::string& socket, const Body& body,
                                const std::filesystem::path& directory);

}  // namespace bench
