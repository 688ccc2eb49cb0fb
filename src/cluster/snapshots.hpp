#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>

#include "cluster/database.hpp"
#include "cluster/key.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "ports/random.hpp"
#include "store/journal_position.hpp"

namespace cluster {

// Why a snapshot was not put or taken, in one line without secrets. `is_final`: trying again does
// not help.
struct SnapshotFailed {
    std::string reason;
    bool is_final = false;
};

// Of the file, in the clear; the last part may be smaller.
inline constexpr std::size_t snapshot_part_bytes = std::size_t{1} << 20U;

// Called between parts, and waits for so long where the database is to be asked again; what it
// throws ends the work. It throws again when it is called again then.
using Look = std::function<void(domain::Milliseconds pause)>;

// Puts a file, as store::take_snapshot() wrote it, into the database, sealed in parts. It counts
// when all parts are there. A part that the database does not take is tried a few times, then those
// before it are dropped. What a cut leaves goes with older snapshots.
// Throws StorageError: the file can not be read.
[[nodiscard]] std::variant<Snapshot, SnapshotFailed> put_snapshot(
    Database& database, const Keys& keys, ports::Random& random,
    const store::JournalPosition& position, const std::filesystem::path& file, const Look& look);

// The place of a snapshot's book.
struct BookPlace {
    std::string book;
    std::int64_t shard = 0;
};

// Writes the newest snapshot into `file` (0600), which appears when all of it is on the disk. Until
// then it is FILE.unfinished, which is overwritten and goes away whatever happens; a large one
// stays for the next at this place when `look` ends that too. Throws StorageError: the disk failed.
[[nodiscard]] std::variant<Snapshot, SnapshotFailed> get_snapshot(Database& database,
                                                                  const Keys& keys,
                                                                  const BookPlace& place,
                                                                  const std::filesystem::path& file,
                                                                  const Look& look);

}  // namespace cluster
