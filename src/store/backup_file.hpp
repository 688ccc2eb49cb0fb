#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "store/private_file.hpp"

namespace store {

// What becomes of a file that was not finished.
enum class Leftover {
    removed,
    wiped,  // overwritten first; stays where that fails
};

// A database file that is written once, from empty to whole. Until keep() it is called
// FILE.unfinished and goes away with the object.
class BackupFile {
public:
    // Throws OpenError when the file is there already or can not be made. `look`: as in scrub().
    explicit BackupFile(const std::filesystem::path& file, Leftover leftover = Leftover::removed,
                        FileOwner owner = FileOwner::root, std::function<void()> look = {});
    ~BackupFile();
    BackupFile(const BackupFile&) = delete;
    BackupFile& operator=(const BackupFile&) = delete;

    // Without a journal, and without flushing: flush() comes at the end. Mode 0600.
    [[nodiscard]] std::unique_ptr<SQLite::Database> open() const;
    [[nodiscard]] const std::filesystem::path& unfinished() const { return unfinished_; }
    // Everything is on the disk, and is read from there next. How many bytes.
    [[nodiscard]] std::uint64_t flush() const;
    // It gets its name, for good.
    void keep();

private:
    void remove_unfinished() const noexcept;

    const std::filesystem::path file_;
    const std::filesystem::path unfinished_;
    const Leftover leftover_;
    const std::function<void()> look_;
    bool kept_ = false;
};

// What a backup says of itself.
struct BackupMeta {
    int schema = 0;
    domain::Timestamp made{};
    std::uint64_t shares_left_out = 0;
    std::optional<domain::Bytes32> salt;  // of what is sealed; nothing: nothing is
};

inline constexpr const char* backup_table = "backup";

void write_meta(SQLite::Database& backup, const BackupMeta& meta);
// Throws StorageError when it says nothing that can be understood.
[[nodiscard]] BackupMeta read_meta(SQLite::Database& backup);

}  // namespace store
