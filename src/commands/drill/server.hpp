#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/drill/asking.hpp"
#include "commands/drill/child.hpp"
#include "net/client.hpp"

namespace commands::drill {

// What a posthouse does as the operator wants it.
struct OperatorSettings {
    std::optional<std::filesystem::path> file;
    std::vector<std::string> variables;  // NAME=VALUE, what is different all the same
};

// Where one posthouse of a drill keeps its things, one process at a time.
struct Place {
    std::filesystem::path home;                  // configuration and log
    unsigned disk_mebibytes = 0;                 // 0: the data lie on the file system of `home`
    std::optional<OperatorSettings> settings{};  // nothing: those of config()

    [[nodiscard]] std::filesystem::path data() const { return home / "data"; }
    [[nodiscard]] std::filesystem::path config() const { return home / "posthouse.toml"; }
    [[nodiscard]] std::filesystem::path log() const { return home / "log"; }
    [[nodiscard]] std::filesystem::path ledger() const { return data() / "loopback.db"; }
};

// Makes the directory and writes the configuration. Throws std::runtime_error.
void furnish(const Place& place, const std::string& config);

inline constexpr std::chrono::seconds stop_patience{30};

// A process that serves at any free port of this machine.
class Server {
public:
    explicit Server(const Place& place);  // does not wait for it

    // Whether it serves.
    [[nodiscard]] bool is_ready();

    [[nodiscard]] Child& child() { return child_; }
    // Once it was ready. Any thread.
    [[nodiscard]] net::Client& client() { return *client_; }
    [[nodiscard]] std::string log_end() const;

private:
    // What the log of this process says it listens on.
    [[nodiscard]] std::optional<std::string> address() const;

    const Place place_;
    const std::uintmax_t log_begin_;
    std::unique_ptr<net::Client> client_;
    Child child_;
};

// Returns when it serves. Throws std::runtime_error with the end of its log when it ends before, or
// takes longer than two minutes.
[[nodiscard]] std::unique_ptr<Server> start(const Place& place, const Wait& wait);

// Notes a violation when it has ended by itself.
void require_alive(Server& server, Notebook& notebook);
// The last one: it has to end well.
void stop_cleanly(Server& server, Notes& notes);

}  // namespace commands::drill
