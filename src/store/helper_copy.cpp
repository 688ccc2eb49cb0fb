#include "store/helper_copy.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "store/file_locks.hpp"
#include "store/open_errors.hpp"
#include "store/private_file.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view copy_prefix = "helper-imported-";
// A log that was written ahead, or the journal of a rollback that did not come to an end. The
// shared memory beside a log is made anew from it.
constexpr std::array<std::string_view, 2> companions{"-wal", "-journal"};

std::string last_error() {
    return std::generic_category().message(errno);
}

fs::path beside(const fs::path& database, std::string_view suffix) {
    return database.string() + std::string(suffix);
}

class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    [[nodiscard]] int get() const { return descriptor_; }
    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

private:
    int descriptor_;
};

[[noreturn]] void no_copy(const fs::path& path) {
    const int error = errno;
    throw StorageError(
        error == ENOSPC || error == EDQUOT ? StorageErrorKind::full : StorageErrorKind::io,
        "can not write " + path.string() + ": " + std::generic_category().message(error));
}

void copy_bytes(const File& from, const fs::path& source, const fs::path& target) {
    const File to(open_private_file(target, O_EXCL));
    if (!to.is_open()) no_copy(target);
    std::array<char, 65'536> space;
    for (;;) {
        const ssize_t count = ::read(from.get(), space.data(), space.size());
        if (count < 0) {
            throw OpenError("can not read " + source.string() + ": " + last_error());
        }
        if (count == 0) break;
        for (ssize_t done = 0; done < count;) {
            const ssize_t written =
                ::write(to.get(), space.data() + done, static_cast<std::size_t>(count - done));
            if (written < 0) no_copy(target);
            done += written;
        }
    }
    if (::fsync(to.get()) != 0) no_copy(target);
}

// What tells that a file was written to.
using Look = std::array<std::int64_t, 4>;

Look look_at(const fs::path& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {};
    return {static_cast<std::int64_t>(facts.st_ino), facts.st_size, facts.st_mtim.tv_sec,
            facts.st_mtim.tv_nsec};
}

std::vector<Look> look_at_all(const fs::path& database) {
    std::vector<Look> looks{look_at(database)};
    for (const std::string_view suffix : companions) {
        looks.push_back(look_at(beside(database, suffix)));
    }
    return looks;
}

[[noreturn]] void refuse_in_use(const fs::path& original) {
    throw OpenError(original.string() +
                    " is in use by another process; stop the helper and start this again");
}

// A newer helper holds a lock file for its whole life, an older one has the database open.
bool is_in_use(const fs::path& original) {
    return is_held_elsewhere(beside(original, ".lock")) || is_open_elsewhere(original);
}

void remove_all_of(const fs::path& database) {
    std::error_code missing;
    for (const std::string_view suffix : {"", "-wal", "-journal", "-shm"}) {
        fs::remove(beside(database, suffix), missing);
    }
}

void copy_files(const fs::path& original, const fs::path& target) {
    if (is_in_use(original)) refuse_in_use(original);
    const std::vector<Look> before = look_at_all(original);
    const File from(::open(original.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from.is_open()) {
        throw OpenError("can not read " + original.string() + ": " + last_error());
    }
    copy_bytes(from, original, target);
    for (const std::string_view suffix : companions) {
        const fs::path companion = beside(original, suffix);
        const File file(::open(companion.c_str(), O_RDONLY | O_CLOEXEC));
        if (file.is_open()) {
            copy_bytes(file, companion, beside(target, suffix));
        } else if (errno != ENOENT) {
            throw OpenError("can not read " + companion.string() + ": " + last_error());
        }
    }
    if (is_in_use(original) || look_at_all(original) != before) refuse_in_use(original);
}

// Brings what stands in the log into the file, and leaves the file alone.
void merge_log(const fs::path& copy, const fs::path& original) {
    try {
        SQLite::Database database(copy.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
        database.exec("pragma trusted_schema = off");
        database.exec("pragma secure_delete = on");
        Statement check(database, "pragma quick_check(1)");
        if (!check.next() || check.text(0) != "ok") {
            throw DamagedDatabase(
                original.string() + " is damaged: " + std::string(check.text(0)) +
                "; recover it with the sqlite3 program (.recover) and import that");
        }
        check.finish();
        database.exec("pragma journal_mode = delete");
    } catch (const SQLite::Exception& error) {
        const StorageError told = to_storage_error(error, "copying " + original.string());
        if (told.kind() != StorageErrorKind::corrupt) throw told;
        throw DamagedDatabase(original.string() +
                              " is no SQLite database, or is damaged: " + error.what());
    } catch (const StorageError& error) {
        if (error.kind() != StorageErrorKind::corrupt) throw;
        throw DamagedDatabase(original.string() +
                              " is no SQLite database, or is damaged: " + error.what());
    }
}

bool is_same(const fs::path& one, const fs::path& other) {
    std::error_code unreadable;
    if (fs::file_size(one, unreadable) != fs::file_size(other, unreadable) || unreadable) {
        return false;
    }
    std::ifstream a(one, std::ios::binary);
    std::ifstream b(other, std::ios::binary);
    return a && b &&
           std::equal(std::istreambuf_iterator<char>(a), std::istreambuf_iterator<char>(),
                      std::istreambuf_iterator<char>(b));
}

std::optional<fs::path> earlier_copy(const fs::path& directory, const fs::path& copy) {
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(copy_prefix) || !name.ends_with(".db")) continue;
        if (is_same(entry.path(), copy)) return entry.path();
    }
    return std::nullopt;
}

std::string day_of(domain::Timestamp now) {
    const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(now)};
    const auto number = static_cast<unsigned>(int{day.year()}) * 10'000U +
                        unsigned{day.month()} * 100U + unsigned{day.day()};
    return std::to_string(number);
}

fs::path free_name(const fs::path& directory, domain::Timestamp now) {
    const std::string stem = std::string(copy_prefix) + day_of(now);
    fs::path path = directory / (stem + ".db");
    for (int next = 2; fs::exists(path); ++next) {
        path = directory / (stem + "-" + std::to_string(next) + ".db");
    }
    return path;
}

void make_durable(const fs::path& directory) {
    const File file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (file.is_open()) static_cast<void>(::fsync(file.get()));
}

}  // namespace

HelperCopy copy_helper_db(const fs::path& original, const fs::path& directory,
                          domain::Timestamp now) {
    std::error_code missing;
    if (!fs::is_regular_file(original, missing)) {
        throw OpenError(original.string() + " is no file; name the helper.db of the helper");
    }
    const fs::path unfinished = directory / "helper-import.unfinished";
    remove_all_of(unfinished);  // of an import that was cut off
    struct Cleaner {
        const fs::path& path;
        ~Cleaner() { remove_all_of(path); }
    } const cleaner{unfinished};
    // The lock file stands beside the name the helper was given, the log beside the file itself.
    if (is_in_use(original)) refuse_in_use(original);
    copy_files(fs::canonical(original), unfinished);
    merge_log(unfinished, original);
    if (const auto earlier = earlier_copy(directory, unfinished)) return {*earlier, false};
    const fs::path path = free_name(directory, now);
    fs::rename(unfinished, path);
    make_durable(directory);
    return {path, true};
}

}  // namespace store
