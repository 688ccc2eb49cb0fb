#include "store/backup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <string>
#include <system_error>

#include "domain/sealed_box.hpp"
#include "store/backup_file.hpp"
#include "store/database.hpp"
#include "store/errors.hpp"
#include "store/statement.hpp"
#include "store/table_copy.hpp"

namespace store {

namespace {

// Of the row `asked` of `request`.
constexpr const char* secret_share = "asked.kind = 'share' and asked.lane < 8";

std::uint64_t number(SQLite::Database& database, const std::string& select) {
    Statement statement(database, select);
    const auto found =
        statement.with().next() ? static_cast<std::uint64_t>(statement.integer(0)) : 0;
    statement.finish();
    return found;
}

std::uint64_t log_bytes(const std::filesystem::path& database) {
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(database.string() + "-wal", missing);
    return missing ? 0 : bytes;
}

// A start would take such a file for one of its own, or SQLite for a journal.
void refuse_reserved_name(const std::filesystem::path& file,
                          const std::filesystem::path& database) {
    const std::string name = file.filename().string();
    if (!name.starts_with("posthouse.") && !name.starts_with("loopback.")) return;
    const std::filesystem::path directory = std::filesystem::absolute(file).parent_path();
    std::error_code unknown;
    for (const auto& path : {database, std::filesystem::weakly_canonical(database, unknown)}) {
        const std::filesystem::path reserved = std::filesystem::absolute(path).parent_path();
        if (!std::filesystem::equivalent(directory, reserved, unknown)) continue;
        throw OpenError(file.string() +
                        ": names that begin with posthouse. or loopback. are those of the "
                        "service in its data directory; name another file");
    }
}

class Backup {
public:
    Backup(const std::filesystem::path& database, const BackupOptions& options,
           const ports::Progress& progress)
        : path_(database),
          options_(options),
          progress_([this, &progress](const ports::Done& done) {
              look_at_log();
              progress(done);
          }),
          from_(open_for_checking(database)),
          file_(options.file),
          to_(file_.open()) {
        if (schema_of(*from_) != newest_schema()) {
            throw OpenError(path_.string() + " has an older schema; start the service on it first");
        }
    }

    void copy() {
        SQLite::Transaction one_moment(*from_);
        SQLite::Transaction all_or_nothing(*to_);
        TableCopy tables(*from_, *to_, progress_);
        const std::uint64_t shares = number(
            *from_, "select count(*) from request where kind = 'share' and lane in (0, 1, 2)");
        BackupMeta meta{newest_schema(), options_.now, 0, {}};
        if (options_.key) {
            meta.salt = random32();
            box_.emplace(*options_.key, *meta.salt);
            tables.change_secrets([this](domain::ByteView plain, std::string_view label) {
                return box_->seal(plain, label, options_.random(domain::SealedBox::nonce_bytes));
            });
            report_.shares_sealed = shares;
        } else {
            tables.leave_out(secret_share);
            report_.shares_left_out = meta.shares_left_out = shares;
        }
        tables.run({});
        if (!options_.key) {
            to_->exec("update round set failed = total - submitted - timed_out");
        }
        write_meta(*to_, meta);
        report_.requests = number(*to_, "select count(*) from request");
        all_or_nothing.commit();
        one_moment.commit();
    }

    BackupReport finish(const ports::Progress& progress, const FaultSink& found) {
        to_.reset();
        from_.reset();
        report_.bytes = file_.flush();
        const Verified verified = verify(file_.unfinished(), progress, found);
        if (verified.damaged) {
            throw StorageError(StorageErrorKind::corrupt,
                               "what was read back of the backup is damaged; see the disk of " +
                                   options_.file.string());
        }
        report_.faults = verified.faults;
        file_.keep();
        return report_;
    }

private:
    void look_at_log() const {
        if (!options_.wal_bytes_max || log_bytes(path_) <= *options_.wal_bytes_max) return;
        throw StorageError(StorageErrorKind::other,
                           "gave up: the write-ahead log grew beyond " +
                               std::to_string(*options_.wal_bytes_max >> 20) +
                               " MiB while the backup read; try at a quieter time or with a "
                               "larger --wal-max");
    }

    [[nodiscard]] domain::Bytes32 random32() const {
        const domain::Bytes bytes = options_.random(32);
        domain::Bytes32 salt{};
        assert(bytes.size() == salt.size());
        std::copy(bytes.begin(), bytes.end(), salt.begin());
        return salt;
    }

    const std::filesystem::path path_;
    const BackupOptions& options_;
    const ports::Progress progress_;
    std::unique_ptr<SQLite::Database> from_;
    BackupFile file_;
    std::unique_ptr<SQLite::Database> to_;
    std::optional<domain::SealedBox> box_;
    BackupReport report_;
};

}  // namespace

BackupReport back_up(const std::filesystem::path& database, const BackupOptions& options,
                     const ports::Progress& progress, const FaultSink& found) {
    refuse_reserved_name(options.file, database);
    try {
        Backup backup(database, options, progress);
        backup.copy();
        return backup.finish(progress, found);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "backing up to " + options.file.string());
    }
}

}  // namespace store
