#include "platform/restart.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/exec_texts.hpp"

namespace platform {

namespace {

// Not POSTHOUSE_…, which are settings.
constexpr const char* variable = "_POSTHOUSE_HANDOVER";

// The texts of a file that end with a zero each.
std::vector<std::string> texts_in(const char* file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<std::string> texts;
    for (std::string text; std::getline(in, text, '\0');) texts.push_back(text);
    return texts;
}

std::vector<std::string> environment_with(const std::string& entry) {
    std::vector<std::string> all{entry};
    const std::string start = std::string(variable) + "=";
    for (char** each = environ; *each != nullptr; ++each) {
        if (!std::string_view(*each).starts_with(start)) all.emplace_back(*each);
    }
    return all;
}

// Whoever begins anew does not know them.
void end_children() {
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        std::ifstream children(task.path() / "children");
        for (pid_t child = 0; children >> child;) {
            ::kill(child, SIGKILL);
            while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
    }
}

}  // namespace

Handover take_handover() {
    Handover handover;
    const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): no thread yet
    if (text == nullptr) return handover;
    std::istringstream words(text);
    ::unsetenv(variable);  // NOLINT(concurrency-mt-unsafe): same
    pid_t process = 0;
    words >> process >> handover.yields >> handover.takeovers;
    if (process != ::getpid()) return {};  // of a parent's
    for (int socket = -1; words >> socket;) {
        if (::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0) handover.sockets.emplace_back(socket);
    }
    return handover;
}

void restart(const Handover& handover) {
    std::ostringstream entry;
    entry << variable << "=" << ::getpid() << " " << handover.yields << " " << handover.takeovers;
    for (const base::Descriptor& socket : handover.sockets) {
        if (::fcntl(socket.get(), F_SETFD, 0) == 0) entry << " " << socket.get();
    }
    std::vector<std::string> arguments = texts_in("/proc/self/cmdline");
    std::vector<std::string> environment = environment_with(entry.str());
    end_children();
    ::execve("/proc/self/exe", base::pointers_to(arguments).data(),
             base::pointers_to(environment).data());
    throw std::runtime_error("can not begin anew: " + std::generic_category().message(errno));
}

}  // namespace platform
