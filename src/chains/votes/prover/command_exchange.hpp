#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/stop_token.hpp"
#include "chains/votes/options.hpp"
#include "chains/votes/prover/command_process.hpp"

namespace chains::votes::prover {

struct CommandAnswer {
    enum class Outcome {
        whole,  // pool: one answer, the process lives
        ended,  // the process is dead, or closed its output for ever
        timed_out,
        stopped,
        too_large,
    };
    Outcome outcome = Outcome::ended;
    std::string bytes;              // of its output
    std::optional<CommandEnd> end;  // when it is dead
    bool unread = false;            // it read nothing of the request
    std::string errors;             // the beginning of what it wrote to its standard error
};

struct CommandTalk {
    std::string_view request;
    ProverFormat format = ProverFormat::json;
    ProverLife life = ProverLife::fresh;
    base::Deadline deadline;
};

// One request and its answer. A fresh process gets the end of its input behind the request, and
// what it wrote until it died is the answer.
[[nodiscard]] CommandAnswer exchange(CommandProcess& process, const CommandTalk& talk,
                                     const base::StopToken& stop);

}  // namespace chains::votes::prover
