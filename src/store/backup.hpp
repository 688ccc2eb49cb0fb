#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "ports/progress.hpp"
#include "store/verify.hpp"

namespace store {

// A backup is a database of its own kind: the rows of one moment, in a file that no service opens,
// only `restore`. Of shares that wait or are in work it holds what is secret (the body, a sealed
// reveal) sealed with the operator's key, or it does not hold these shares at all; then their round
// counts them as failed, so that its alert tells of them, and a wallet may send them again.
struct BackupOptions {
    std::filesystem::path file;  // not there yet
    domain::Timestamp now{};
    // Gives up when the log of the database is longer: it can not be cut while the backup reads.
    std::optional<std::uint64_t> wal_bytes_max;
    std::optional<domain::Bytes32> key;  // nothing: shares are left out
    std::function<domain::Bytes(std::size_t)> random;
};

struct BackupReport {
    std::uint64_t requests = 0;
    std::uint64_t shares_sealed = 0;
    std::uint64_t shares_left_out = 0;
    std::uint64_t bytes = 0;
    std::uint64_t faults = 0;  // of rows: they are as in the database
};

// Copies the database, row by row, as it stands when the copying begins; a process may go on
// writing. The file (0600) appears when all of it is on the disk and was read back: until then it
// is FILE.unfinished, which goes away whatever happens. Throws OpenError when the file can not be
// made, StorageError when a disk fails, when the database is damaged, or when the log grew too
// long, and what `progress` throws. `found` is told what is wrong with single rows.
BackupReport back_up(const std::filesystem::path& database, const BackupOptions& options,
                     const ports::Progress& progress, const FaultSink& found);

}  // namespace store
