#pragma once

#include <istream>
#include <ostream>
#include <string>

namespace commands {

// Where the operator is asked.
struct Question {
    std::istream& in;
    std::ostream& out;
    bool is_terminal = false;  // somebody is there to answer
};

// Says what is about to cost something, and returns when that was agreed to, with `yes` or on the
// terminal. Throws BadSettings when nobody can be asked, std::runtime_error when the answer is no.
void require_consent(const std::string& what, bool yes, const Question& question);

// Puts the question and waits for a line; true: `y` or `yes`.
[[nodiscard]] bool is_agreed(std::istream& in, std::ostream& out, const std::string& question);

}  // namespace commands
