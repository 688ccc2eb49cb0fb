#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/options.hpp"

namespace bench {

// Keys of the configuration and their values as TOML.
using Settings = std::map<std::string, std::string>;

// Nothing waits but for the disk: no rates, no latencies, no full gates.
[[nodiscard]] Settings unlimited();

// Accepted requests stay where they are: as good as nothing is sent, and no check answers.
[[nodiscard]] Settings standing_still();

// For its environment: every sync of a database file takes two milliseconds longer.
[[nodiscard]] std::vector<std::string> slow_syncs(const Options& options);

// The service under test, as a process of its own.
class Posthouse {
public:
    struct DataPlace {
        std::filesystem::path directory;       // config, log, and the data directory in it
        std::vector<std::string> environment;  // NAME=VALUE
        int port = 0;                          // 0: a free one
    };

    // Returns when it answers GET /liveness for the first time.
    Posthouse(const Options& options, const DataPlace& place, const Settings& settings);

    [[nodiscard]] int port() const { return port_; }
    // From the start of the process to the first answer.
    [[nodiscard]] double seconds_to_ready() const { return seconds_to_ready_; }
    [[nodiscard]] std::uint64_t resident_bytes() const { return child_.resident_bytes(); }
    // Of a series, with its labels as they are served. Throws std::runtime_error without one.
    [[nodiscard]] double metric(const std::string& series) const;

    void kill_hard() { child_.kill_hard(); }
    // Throws std::runtime_error unless it ends by itself and well.
    void stop();

private:
    int port_;
    int metrics_port_;
    Stopwatch::time_point started_;
    Child child_;
    double seconds_to_ready_ = 0;
};

// Writes the configuration into the place; returns its file.
std::filesystem::path write_config(const std::filesystem::path& directory,
                                   const Settings& settings);

[[nodiscard]] std::filesystem::path data_directory(const std::filesystem::path& directory);
[[nodiscard]] std::filesystem::path ledger_file(const std::filesystem::path& directory);

}  // namespace bench
