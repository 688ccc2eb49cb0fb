#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace commands::drill {

// This program once more, as a process of its own that never outlives the thread that started it.
class Child {
public:
    // A disk of its own in memory, mounted for it alone.
    struct SmallDisk {
        std::filesystem::path directory;
        unsigned mebibytes = 8;
    };

    struct Command {
        std::vector<std::string> arguments;  // without the name of the program
        std::filesystem::path output;        // standard output and error are appended
        std::optional<SmallDisk> disk;
        // NAME=VALUE beside the settings and credentials of this process, which they beat. Nothing:
        // it is not to know those.
        std::optional<std::vector<std::string>> settings;
    };

    // The status of a child that could not mount its disk.
    static constexpr int exit_no_disk = 126;

    // Throws std::system_error when there can be no further process.
    explicit Child(const Command& command);
    ~Child();  // SIGKILL
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void kill();    // SIGKILL; returns when it is gone
    void pause();   // SIGSTOP
    void resume();  // SIGCONT
    // SIGTERM. False: it was killed because it took longer than `patience`, or it failed.
    [[nodiscard]] bool stop(std::chrono::milliseconds patience);

    [[nodiscard]] bool is_running();
    // Of one that is not running; as shells say it, 128 + signal when it was killed.
    [[nodiscard]] int exit_status() const;
    // A path as the child sees it, from here; while it runs.
    [[nodiscard]] std::filesystem::path seen_from_here(const std::filesystem::path& path) const;

private:
    pid_t id_ = -1;
    std::optional<int> status_;
};

// Before the clients that wait for its answers are waited for, however their use ends.
class KilledAtEnd {
public:
    explicit KilledAtEnd(Child& child) : child_(child) {}
    ~KilledAtEnd() { child_.kill(); }
    KilledAtEnd(const KilledAtEnd&) = delete;
    KilledAtEnd& operator=(const KilledAtEnd&) = delete;

private:
    Child& child_;
};

}  // namespace commands::drill
