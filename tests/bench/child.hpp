#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// A process of ours; it never outlives this object or this process.
class Child {
public:
    struct Command {
        std::vector<std::string> arguments;    // the program first
        std::vector<std::string> environment;  // NAME=VALUE, beside what we have ourselves
        std::filesystem::path output;          // stdout and stderr are appended
    };

    // Throws std::system_error when the program can not be started.
    explicit Child(const Command& command);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void kill_hard();  // SIGKILL
    // SIGTERM. False: it took longer than `patience` and was killed, or it reported a failure.
    [[nodiscard]] bool stop(std::chrono::milliseconds patience);

    [[nodiscard]] bool is_running();
    // Resident memory.
    [[nodiscard]] std::uint64_t resident_bytes() const;

private:
    pid_t id_ = -1;
    std::optional<int> status_;
};

// Runs it to its end. Throws std::runtime_error with the end of its output when it fails, or takes
// longer than `patience`.
void run_to_end(const Child::Command& command, std::chrono::milliseconds patience);

// A TCP port of 127.0.0.1 nobody listens on.
[[nodiscard]] int free_port();

// Whether somebody accepts connections there.
[[nodiscard]] bool is_listening(int port);

// Calls `ready` every millisecond until it is true. Throws std::runtime_error with the end of the
// child's output when the child ends or `patience` is over first.
void wait_until(Child& child, const std::filesystem::path& output,
                const std::function<bool()>& ready, std::chrono::milliseconds patience);

}  // namespace bench
