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
    question.out << "Go on? [y/N] " << std::flush;
    std::string answer;
    std::getline(question.in, answer);
    if (answer != "y" && answer != "Y" && answer != "yes") {
        throw std::runtime_error("nothing was sent: the answer was no");
    }
}

}  // namespace commands
