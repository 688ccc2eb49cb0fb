#include "commands/drill/child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/text.hpp"

extern char** environ;

namespace commands::drill {

namespace {

using namespace std::chrono_literals;

// What must not reach a child: what a service manager gave to this process, and settings.
constexpr std::array kept_back{"NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_",
                               "JOURNAL_STREAM=", "INVOCATION_ID="};
constexpr std::array settings_of_process{"posthouse_", "credentials_directory=", "app_name="};

// The name and what follows it; names of settings are as good in small letters.
std::string name_in(std::string_view variable) {
    return base::lower_case(variable.substr(0, variable.find('=') + 1));
}

bool begins_with_any(std::string_view text, const auto& starts) {
    return std::ranges::any_of(starts,
                               [&](std::string_view start) { return text.starts_with(start); });
}

std::vector<std::string> environment(const std::optional<std::vector<std::string>>& settings) {
    std::vector<std::string> kept = settings.value_or(std::vector<std::string>{});
    std::set<std::string> given;
    for (const std::string& variable : kept) given.insert(name_in(variable));
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string name = name_in(text);
        if (begins_with_any(text, kept_back) || given.contains(name)) continue;
        if (!settings && begins_with_any(name, settings_of_process)) continue;
        kept.emplace_back(text);
    }
    return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

// What a child needs between fork and exec, where nothing may be made: other threads may have held
// any lock.
struct Prepared {
    explicit Prepared(const Child::Command& command)
        : arguments(command.arguments),
          variables(environment(command.settings)),
          output(command.output) {
        arguments.insert(arguments.begin(), "posthouse");
        argv = pointers(arguments);
        envp = pointers(variables);
        if (!command.disk) return;
        disk = command.disk->directory.string();
        disk_options = "mode=0700,size=" + std::to_string(command.disk->mebibytes) + "m";
        const auto identity = [](unsigned id) {
            return std::to_string(id) + " " + std::to_string(id) + " 1\n";
        };
        users = identity(::geteuid());
        groups = identity(::getegid());
    }

    std::vector<std::string> arguments;
    std::vector<std::string> variables;
    std::vector<char*> argv;
    std::vector<char*> envp;
    std::string output;
    std::string disk;  // empty: none
    std::string disk_options;
    std::string users;
    std::string groups;
};

bool write_whole(const char* file, std::string_view text) {
    const int descriptor = ::open(file, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool written =
        ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(descriptor);
    return written;
}

// Who is not root becomes it for mounts of its own alone (user_namespaces(7)).
bool enter_namespace(const Prepared& prepared) {
    if (::geteuid() == 0) return ::unshare(CLONE_NEWNS) == 0;
    return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           write_whole("/proc/self/setgroups", "deny") &&
           write_whole("/proc/self/uid_map", prepared.users) &&
           write_whole("/proc/self/gid_map", prepared.groups);
}

bool mount_disk(const Prepared& prepared) {
    return enter_namespace(prepared) &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", prepared.disk.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                   prepared.disk_options.c_str()) == 0;
}

[[noreturn]] void become(const Prepared& prepared, pid_t parent) {
    // Ctrl-C of a terminal reaches the drill, which ends its children itself.
    ::setpgid(0, 0);
    if (!prepared.disk.empty() && !mount_disk(prepared)) ::_exit(Child::exit_no_disk);
    // After the namespace, which takes it away.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    const int output =
        ::open(prepared.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    // The very same program, also when its file was replaced meanwhile.
    ::execve("/proc/self/exe", prepared.argv.data(), prepared.envp.data());
    ::_exit(127);
}

}  // namespace

Child::Child(const Command& command) {
    const Prepared prepared(command);
    const pid_t parent = ::getpid();
    id_ = ::fork();
    if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (id_ == 0) become(prepared, parent);
}

Child::~Child() {
    kill();
}

void Child::kill() {
    if (!is_running()) return;
    ::kill(id_, SIGKILL);
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
    status_ = status;
}

void Child::pause() {
    if (is_running()) ::kill(id_, SIGSTOP);
}

void Child::resume() {
    if (is_running()) ::kill(id_, SIGCONT);
}

bool Child::stop(std::chrono::milliseconds patience) {
    if (is_running()) ::kill(id_, SIGTERM);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (is_running()) {
        if (std::chrono::steady_clock::now() >= end) {
            kill();
            return false;
        }
        std::this_thread::sleep_for(1ms);
    }
    return exit_status() == 0;
}

bool Child::is_running() {
    if (status_) return false;
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) == id_) status_ = status;
    return !status_;
}

int Child::exit_status() const {
    const int status = status_.value_or(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::filesystem::path Child::seen_from_here(const std::filesystem::path& path) const {
    return std::filesystem::path("/proc/" + std::to_string(id_) + "/root") / path.relative_path();
}

}  // namespace commands::drill
