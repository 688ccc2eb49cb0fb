#pragma once

#include <memory>
#include <string>
#include <variant>

#include "gateway/rpc/signal.hpp"
#include "gateway/votes/prover/command_process.hpp"
#include "gateway/votes/prover/command_program.hpp"

namespace gateway::votes {

// Or why there is no process, one line.
using Launched = std::variant<std::unique_ptr<CommandProcess>, std::string>;

// Starts the program. The process is killed when the calling thread ends, whatever ends it.
[[nodiscard]] Launched launch(const CommandProgram& program, rpc::Deadline deadline,
                              const rpc::Signal& stop);

}  // namespace gateway::votes
