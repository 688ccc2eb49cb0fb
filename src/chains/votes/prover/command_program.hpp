#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chains/votes/options.hpp"

namespace chains::votes::prover {

// What is executed, and with what.
struct CommandProgram {
    std::string path;
    std::vector<std::string> arguments;    // the program's name first
    std::vector<std::string> environment;  // `NAME=value`
    std::uint64_t memory_bytes_max = 0;    // 0: no limit
};

// Reads our environment. Throws std::invalid_argument when there is no such program, or it may not
// be executed.
[[nodiscard]] CommandProgram command_program(const ProverOptions& options);

}  // namespace chains::votes::prover
