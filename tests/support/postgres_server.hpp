#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/child.hpp"
#include "support/temp_directory.hpp"

namespace support {

// PostgreSQL of this machine: a primary and its synchronous standby, in a directory of their own,
// on local sockets, as an ordinary user. All of it goes with the object. One thread, but
// has_waiting() and cancel_waits(). Everything throws std::runtime_error with what the server said.
class PostgresServer {
public:
    // Whether its programs are here.
    [[nodiscard]] static bool is_installed();

    // In memory, and as fast as it gets: nothing in it outlives the machine.
    PostgresServer();
    // As an operator has it, in a directory of its own on the disk that `parent` is on.
    explicit PostgresServer(const std::filesystem::path& parent);
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    // For libpq: both hosts, of which one takes writes.
    [[nodiscard]] std::string database() const;
    [[nodiscard]] std::string directory() const { return home_.path().string(); }
    // Where the primary has its socket.
    [[nodiscard]] std::string socket() const { return socket_of(primary_); }

    // At the primary. The first value of the answer.
    std::string ask(const std::string& sql, const std::string& database = "postgres") const;

    void lose_standby();
    // Until it follows.
    void return_standby();
    void stop_waiting_for_standbys();
    [[nodiscard]] bool has_waiting() const;
    void cancel_waits() const;
    // The primary dies and comes back.
    void crash();
    // The primary dies; the standby is started, if need be, and takes its place.
    void promote();

private:
    struct Host {
        std::string name;
        std::unique_ptr<bench::Child> process{};
    };

    void make(const char* settings);
    [[nodiscard]] std::string socket_of(const Host& host) const;
    [[nodiscard]] bool answers(const Host& host) const;
    void run(const std::vector<std::string>& program) const;
    void configure(const Host& host, const std::string& lines) const;
    void start(Host& host);
    void stop(Host& host) const;

    TempDirectory home_;
    Host primary_{.name = "a"};
    Host standby_{.name = "b"};
};

}  // namespace support
