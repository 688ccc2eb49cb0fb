#include "store/written_file.hpp"

#include <sqlite3.h>

#include <cassert>
#include <system_error>

#include "store/errors.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

constexpr int checkpoint_busy_timeout_ms = 2'000;

// Where the database really is: it may be reached by several links.
std::filesystem::path real_path(const Options& options) {
    std::error_code unreadable;
    const auto path = std::filesystem::weakly_canonical(database_path(options), unreadable);
    return unreadable ? database_path(options) : path;
}

std::filesystem::path made_directory(const Options& options) {
    make_directory(options);
    return real_path(options).parent_path();
}

// What the last process left in its log; may count some frames that are overwritten already.
std::uint64_t log_left_behind(const Options& options) {
    std::error_code missing;
    const std::uint64_t bytes =
        std::filesystem::file_size(real_path(options).string() + "-wal", missing);
    return missing ? 0 : bytes;
}

}  // namespace

WrittenFile::WrittenFile(const Options& options, Membership membership)
    : lock_(made_directory(options)),
      log_at_start_(log_left_behind(options)),
      database_(open_for_writing(options, membership)),
      database_file_(real_path(options)),
      lock_file_(real_path(options).parent_path() / "posthouse.lock"),
      page_bytes_(static_cast<std::uint64_t>(database_->execAndGet("pragma page_size").getInt64())),
      wal_pages_(static_cast<int>(log_at_start_ / page_bytes_)),
      wiped_(log_at_start_ > 0) {  // nobody knows what is in there
    sqlite3_wal_hook(
        database_->getHandle(),
        [](void* self, sqlite3*, const char*, int pages) {
            static_cast<WrittenFile*>(self)->wal_pages_ = pages;
            return SQLITE_OK;
        },
        this);
}

WrittenFile::~WrittenFile() {
    // The closing connection writes the WAL back; readers are gone by then.
    sqlite3_wal_hook(database_->getHandle(), nullptr, nullptr);
}

bool WrittenFile::in_transaction() const {
    return sqlite3_get_autocommit(database_->getHandle()) == 0;
}

void WrittenFile::roll_back() noexcept {
    // After an I/O or full error SQLite has rolled back by itself; a second rollback would fail and
    // hide the first cause.
    if (in_transaction()) {
        sqlite3_exec(database_->getHandle(), "rollback", nullptr, nullptr, nullptr);
    }
}

std::uint64_t WrittenFile::wal_bytes() const {
    return static_cast<std::uint64_t>(wal_pages_) * page_bytes_;
}

bool WrittenFile::checkpoint() {
    return checkpoint(SQLITE_CHECKPOINT_PASSIVE);
}

bool WrittenFile::truncate_wal() {
    assert(!in_transaction());
    // Without waiting: a reader in the way means the next maintenance tries again.
    sqlite3_busy_timeout(database_->getHandle(), 0);
    try {
        const bool is_synced = checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
        sqlite3_busy_timeout(database_->getHandle(), checkpoint_busy_timeout_ms);
        return is_synced;
    } catch (...) {
        sqlite3_busy_timeout(database_->getHandle(), checkpoint_busy_timeout_ms);
        throw;
    }
}

bool WrittenFile::checkpoint(int mode) {
    int wal_frames = 0;
    int copied_frames = 0;
    const int code = sqlite3_wal_checkpoint_v2(database_->getHandle(), "main", mode, &wal_frames,
                                               &copied_frames);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) return false;
    if (code != SQLITE_OK) {
        throw to_storage_error(SQLite::Exception(database_->getHandle(), code), "checkpoint");
    }
    wal_pages_ = wal_frames - copied_frames;
    if (mode == SQLITE_CHECKPOINT_TRUNCATE) wiped_ = false;
    return wal_pages_ == 0;
}

void WrittenFile::require_in_place() const {
    for (const FileIdentity* file : {&database_file_, &lock_file_}) {
        if (file->is_unchanged()) continue;
        throw StorageError(StorageErrorKind::corrupt,
                           file->path().string() +
                               " was removed or replaced while in use; what was stored since is "
                               "lost, and what was there is only in a backup");
    }
}

}  // namespace store
