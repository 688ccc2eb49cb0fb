#pragma once

#include <istream>
#include <ostream>

#include "config/command_line.hpp"
#include "config/settings.hpp"

namespace commands {

// Who can be asked.
struct Operator {
    std::istream& in;
    std::ostream& out;      // what was done
    std::ostream& errors;   // questions, and why not
    bool is_there = false;  // a person at a terminal
};

// Lets the contract that takes fees have tokens of an account that signs for us, by the process
// that runs on the data directory; waits for a while until a block has it. Gives the exit status
// back. Throws std::runtime_error that says why nothing was signed.
[[nodiscard]] int approve(const config::Settings& settings, const config::Approve& command,
                          const Operator& person);

}  // namespace commands
