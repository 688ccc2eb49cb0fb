#include "bench/child.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>

extern char** environ;

namespace bench {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

std::string end_of(const std::filesystem::path& file) {
    constexpr std::size_t shown_max = 2'000;
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    return text.size() > shown_max ? text.substr(text.size() - shown_max) : text;
}

}  // namespace

Child::Child(const Command& command) {
    std::vector<std::string> arguments = command.arguments;
    std::vector<std::string> environment = command.environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    const std::vector<char*> argv = pointers(arguments);
    const std::vector<char*> envp = pointers(environment);
    const pid_t parent = ::getpid();

    id_ = ::fork();
    if (id_ < 0) fail("fork");
    if (id_ == 0) {
        // Until exec only what is safe after a fork.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(127);
        const int output =
            ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        ::execvpe(argv[0], argv.data(), envp.data());
        ::_exit(127);
    }
}

Child::~Child() {
    kill_hard();
}

void Child::kill_hard() {
    if (!is_running()) return;
    ::kill(id_, SIGKILL);
    int status = 0;
    ::waitpid(id_, &status, 0);
    status_ = status;
}

bool Child::stop(std::chrono::milliseconds patience) {
    if (is_running()) ::kill(id_, SIGTERM);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (is_running()) {
        if (std::chrono::steady_clock::now() >= end) {
            kill_hard();
            return false;
        }
        std::this_thread::sleep_for(1ms);
    }
    return WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
}

bool Child::is_running() {
    if (status_) return false;
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) == id_) status_ = status;
    return !status_;
}

std::uint64_t Child::resident_bytes() const {
    std::ifstream stream("/proc/" + std::to_string(id_) + "/status");
    std::string word;
    while (stream >> word) {
        std::uint64_t kib = 0;
        if (word == "VmRSS:" && stream >> kib) return kib << 10U;
    }
    throw std::runtime_error("no VmRSS of process " + std::to_string(id_));
}

void run_to_end(const Child::Command& command, std::chrono::milliseconds patience) {
    Child child(command);
    wait_until(
        child, command.output, [&child] { return !child.is_running(); }, patience);
    if (child.stop(0ms)) return;
    throw std::runtime_error(command.arguments.front() + " failed; it said:\n" +
                             end_of(command.output));
}

int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (socket < 0 || ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        fail("no free port");
    }
    ::close(socket);
    return ntohs(address.sin_port);
}

bool is_listening(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) fail("socket");
    const sockaddr_in address = loopback(port);
    const bool connected =
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    return connected;
}

void wait_until(Child& child, const std::filesystem::path& output,
                const std::function<bool()>& ready, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!ready()) {
        const bool running = child.is_running();
        if (running && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(1ms);
            continue;
        }
        throw std::runtime_error(std::string(running ? "not ready in time" : "ended too early") +
                                 "; it said:\n" + end_of(output));
    }
}

}  // namespace bench
