#include "commands/consent.hpp"

#include <stdexcept>

#include "commands/exit_status.hpp"

namespace commands {

void require_consent(const std::string& what, bool yes, const Question& question) {
    question.out << what << "\n";
    if (yes) return;
    if (!question.is_terminal) {
        throw BadSettings("nothing was sent: there is no terminal to ask on; add --yes to agree");
    }
    if (!is_agreed(question.in, question.out, "Go on?")) {
        throw std::runtime_error("nothing was sent: the answer was no");
    }
}

bool is_agreed(std::istream& in, std::ostream& out, const std::string& question) {
    out << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(in, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace commands
