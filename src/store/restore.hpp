#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "ports/progress.hpp"
#include "store/options.hpp"
#include "store/verify.hpp"

namespace store {

struct RestoreOptions {
    std::filesystem::path file;  // a backup, or a copy of a data directory's database
    Options into;                // its directory holds no database
    domain::Timestamp now{};
    std::optional<domain::Bytes32> key;  // of the shares in it
    bool without_shares = false;         // leave them behind: the key is lost
};

struct RestoreReport {
    domain::Timestamp made{};  // the backup; 0: it does not say
    std::uint64_t requests = 0;
    std::uint64_t held = 0;         // requests that wait for the operator
    std::uint64_t sealed = 0;       // are looked up on the chain
    std::uint64_t shares = 0;       // wait for their second again
    std::uint64_t shares_over = 0;  // their round was over: they timed out, nothing secret is kept
    std::uint64_t shares_left_out = 0;  // not in the backup, or left behind now
    std::uint64_t faults = 0;           // of rows: they are as in the backup
};

// Makes the database of a data directory from a backup, and leaves the mark that another process
// may have gone on with its requests meanwhile: those that were not signed are held, and one that
// was signed gets no other nonce until the operator says so. What the account's nonces were is
// forgotten, so that the chain says it. Owns the directory meanwhile. The database appears when all
// of it is on the disk.
//
// Throws OpenError when the directory is in use or holds a database, or the file is none of ours or
// needs a key; StorageError when the file is damaged or a disk fails; and what `progress` throws.
[[nodiscard]] RestoreReport restore(const RestoreOptions& options, const ports::Progress& progress,
                                    const FaultSink& found);

}  // namespace store
