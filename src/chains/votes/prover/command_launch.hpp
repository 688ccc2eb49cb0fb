#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/stop_token.hpp"
#include "chains/votes/prover/command_process.hpp"
#include "chains/votes/prover/command_program.hpp"

namespace chains::votes::prover {

// Or why there is no process, one line.
using Launched = std::variant<std::unique_ptr<CommandProcess>, std::string>;

// Starts the program. The process is killed when the calling thread ends, whatever ends it.
// `children`: as for CommandProcess.
[[nodiscard]] Launched launch(const CommandProgram& program, base::Deadline deadline,
                              const base::StopToken& stop, Children* children = nullptr);

}  // namespace chains::votes::prover
