#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>

#include "config/settings.hpp"
#include "domain/bytes.hpp"
#include "ports/progress.hpp"
#include "ports/random.hpp"

namespace commands {

struct BackupCommand {
    std::filesystem::path file;
    // Of the vote shares; nothing: they are left out.
    std::optional<std::filesystem::path> key_file;
    // Gives up when the write-ahead log of a running process is longer.
    std::optional<std::uint64_t> wal_bytes_max;
};

// Four times what the log is kept below: a backup keeps it from being cut.
[[nodiscard]] std::uint64_t default_wal_bytes_max(const store::Options& options);
[[nodiscard]] std::function<domain::Bytes(std::size_t)> random_bytes_of(ports::Random& random);

// Has the data directory backed up by the process that runs on it, or does it and owns the
// directory meanwhile. Says in `out` what is in the backup. Returns the exit status: 0, or
// config::exit_damaged when rows have faults, each of them a line. Throws OpenError, StorageError,
// what `progress` throws, and std::runtime_error for the key.
[[nodiscard]] int backup(const config::Settings& settings, const BackupCommand& command,
                         const ports::Progress& progress, std::ostream& out);

}  // namespace commands
