#include "store/backup_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "store/database.hpp"
#include "store/errors.hpp"
#include "store/scrubbed_file.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

std::filesystem::path directory_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

[[noreturn]] void refuse_file(const std::filesystem::path& file, int error) {
    throw OpenError("can not make " + file.string() + ": " +
                    std::generic_category().message(error) +
                    "; let this user write to its directory (of a service of systemd: "
                    "ReadWritePaths=" +
                    directory_of(file).string() + ")");
}

void flush_path(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool flushed = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) {
        // Only what is read from the disk itself says that it is there.
        ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
        ::close(descriptor);
    }
    if (flushed) return;
    throw StorageError(
        error == ENOSPC || error == EDQUOT ? StorageErrorKind::full : StorageErrorKind::io,
        "can not flush " + path.string() + ": " + std::generic_category().message(error));
}

}  // namespace

BackupFile::BackupFile(const std::filesystem::path& file, Leftover leftover, FileOwner owner,
                       std::function<void()> look)
    : file_(file),
      unfinished_(file.string() + ".unfinished"),
      leftover_(leftover),
      look_(std::move(look)) {
    std::error_code unknown;
    if (std::filesystem::exists(std::filesystem::symlink_status(file_, unknown))) {
        throw OpenError(file_.string() + " is there already; name another file");
    }
    remove_unfinished();  // of one that was cut off
    const int descriptor = open_private_file(unfinished_, O_EXCL | O_NOFOLLOW, owner);
    if (descriptor < 0) refuse_file(unfinished_, errno);
    ::close(descriptor);
}

BackupFile::~BackupFile() {
    if (!kept_) remove_unfinished();
}

void BackupFile::remove_unfinished() const noexcept {
    try {
        if (leftover_ == Leftover::wiped) return scrub(unfinished_, look_);
        std::filesystem::remove(unfinished_);
    } catch (...) {
        // Whoever makes the next one finds it there.
    }
}

std::unique_ptr<SQLite::Database> BackupFile::open() const {
    auto database = std::make_unique<SQLite::Database>(
        unfinished_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
    database->exec("pragma journal_mode = off");
    database->exec("pragma synchronous = off");
    database->exec("pragma locking_mode = exclusive");
    database->exec("pragma cache_size = -16384");
    database->exec("pragma temp_store = memory");
    return database;
}

std::uint64_t BackupFile::flush() const {
    flush_path(unfinished_);
    return std::filesystem::file_size(unfinished_);
}

void BackupFile::keep() {
    std::error_code failed;
    std::filesystem::rename(unfinished_, file_, failed);
    if (failed) refuse_file(file_, failed.value());
    kept_ = true;
    flush_path(directory_of(file_));
}

void write_meta(SQLite::Database& backup, const BackupMeta& meta) {
    backup.exec(std::string("create table ") + backup_table +
                " (made_ms integer not null, shares_left_out integer not null,"
                " salt blob check (length(salt) = 32)) strict");
    Statement insert(backup, std::string("insert into ") + backup_table + " values (?, ?, ?)");
    insert.with(meta.made, meta.shares_left_out, meta.salt).run();
    backup.exec("pragma application_id = " + std::to_string(backup_application_id()));
    backup.exec("pragma user_version = " + std::to_string(meta.schema));
}

BackupMeta read_meta(SQLite::Database& backup) {
    Statement select(backup,
                     std::string("select made_ms, shares_left_out, salt from ") + backup_table);
    if (!select.with().next()) {
        throw StorageError(StorageErrorKind::corrupt, "the backup does not say what is in it");
    }
    BackupMeta meta{schema_of(backup),
                    domain::from_unix_ms(select.integer(0)),
                    static_cast<std::uint64_t>(select.integer(1)),
                    {}};
    if (!select.is_null(2)) meta.salt = select.bytes32(2);
    select.finish();
    return meta;
}

}  // namespace store
