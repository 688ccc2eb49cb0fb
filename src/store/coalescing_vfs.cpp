#include "store/coalescing_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

namespace store {

namespace {

constexpr std::size_t pending_bytes_max = std::size_t{128} << 10U;
constexpr int frame_header_bytes = 24;
constexpr std::size_t commit_mark_at = 4;  // not zero: the frame commits
constexpr std::size_t commit_mark_bytes = 4;
constexpr int write_lock = 0;

// In memory that SQLite has for a file; the one below stands behind it.
struct File {
    sqlite3_file base{};
    sqlite3_file* below = nullptr;
};

struct DatabaseFile;

struct LogFile : File {
    DatabaseFile* database = nullptr;
    std::vector<char> pending;
    sqlite3_int64 pending_at = 0;
    sqlite3_int64 end = 0;  // of what was written since the log began anew
    bool commits = false;   // the header that came last is that of a frame that commits
};

struct DatabaseFile : File {
    LogFile* log = nullptr;  // while it is open
    sqlite3_io_methods methods{};
};

constexpr std::size_t below_at = std::max(sizeof(LogFile), sizeof(DatabaseFile));
constexpr std::size_t alignment = 8;  // of that memory
static_assert(alignof(LogFile) <= alignment && alignof(DatabaseFile) <= alignment);
static_assert(below_at % alignment == 0);

// What goes on to the file below as it comes.
template <auto method, typename... Arguments>
auto forward(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* const below = reinterpret_cast<File*>(file)->below;
    return (below->pMethods->*method)(below, arguments...);
}

LogFile& log_of(sqlite3_file* file) {
    return *reinterpret_cast<LogFile*>(file);
}

// A write that failed is not made again: SQLite takes the transaction back.
int flush(LogFile& log) {
    if (log.pending.empty()) return SQLITE_OK;
    const int result = log.below->pMethods->xWrite(
        log.below, log.pending.data(), static_cast<int>(log.pending.size()), log.pending_at);
    log.pending.clear();
    return result;
}

// After what is pending.
template <auto method, typename... Arguments>
int follow(sqlite3_file* file, Arguments... arguments) {
    const int result = flush(log_of(file));
    return result == SQLITE_OK ? forward<method>(file, arguments...) : result;
}

int write_to_log(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
    LogFile& log = log_of(file);
    const auto size = static_cast<std::size_t>(count);
    const auto behind = log.pending_at + static_cast<sqlite3_int64>(log.pending.size());
    // Of a frame whose page is there: with checksums made anew, of the last one too.
    const bool is_header_again = count == frame_header_bytes && offset + count <= log.end;
    log.end = offset == 0 ? count : std::max(log.end, offset + count);
    if (offset != behind || log.pending.size() + size > pending_bytes_max) {
        if (const int result = flush(log); result != SQLITE_OK) return result;
    }
    if (size > pending_bytes_max) {
        return forward<&sqlite3_io_methods::xWrite>(file, bytes, count, offset);
    }
    if (log.pending.empty()) log.pending_at = offset;
    const auto* first = static_cast<const char*>(bytes);
    log.pending.insert(log.pending.end(), first, first + size);  // there is room, see open_log
    const bool is_complete = log.commits && count != frame_header_bytes;
    if (count == frame_header_bytes) {
        const auto* mark = first + commit_mark_at;
        log.commits =
            std::any_of(mark, mark + commit_mark_bytes, [](char byte) { return byte != 0; });
    } else {
        log.commits = false;
    }
    return is_complete || is_header_again ? flush(log) : SQLITE_OK;
}

int close_log(sqlite3_file* file) {
    LogFile& log = log_of(file);
    const int result = forward<&sqlite3_io_methods::xClose>(file);
    if (log.database != nullptr) log.database->log = nullptr;
    log.~LogFile();
    return result;
}

int close_database(sqlite3_file* file) {
    const int result = forward<&sqlite3_io_methods::xClose>(file);
    reinterpret_cast<DatabaseFile*>(file)->~DatabaseFile();
    return result;
}

int lock_shared_memory(sqlite3_file* file, int first, int count, int flags) {
    const bool gives_back = (flags & SQLITE_SHM_UNLOCK) != 0 && (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    LogFile* const log = reinterpret_cast<DatabaseFile*>(file)->log;
    if (gives_back && first == write_lock && log != nullptr) log->pending.clear();
    return forward<&sqlite3_io_methods::xShmLock>(file, first, count, flags);
}

constexpr sqlite3_io_methods log_methods{
    .iVersion = 1,
    .xClose = close_log,
    .xRead = follow<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = write_to_log,
    .xTruncate = follow<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = follow<&sqlite3_io_methods::xSync, int>,
    .xFileSize = follow<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = forward<&sqlite3_io_methods::xLock, int>,
    .xUnlock = forward<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = forward<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = follow<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = forward<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = forward<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

constexpr sqlite3_io_methods database_methods{
    .iVersion = 3,
    .xClose = close_database,
    .xRead = forward<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = forward<&sqlite3_io_methods::xWrite, const void*, int, sqlite3_int64>,
    .xTruncate = forward<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = forward<&sqlite3_io_methods::xSync, int>,
    .xFileSize = forward<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = forward<&sqlite3_io_methods::xLock, int>,
    .xUnlock = forward<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = forward<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = forward<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = forward<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = forward<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = forward<&sqlite3_io_methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = lock_shared_memory,
    .xShmBarrier = forward<&sqlite3_io_methods::xShmBarrier>,
    .xShmUnmap = forward<&sqlite3_io_methods::xShmUnmap, int>,
    .xFetch = forward<&sqlite3_io_methods::xFetch, sqlite3_int64, int, void**>,
    .xUnfetch = forward<&sqlite3_io_methods::xUnfetch, sqlite3_int64, void*>,
};

sqlite3_vfs* below(sqlite3_vfs* vfs) {
    return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int open_below(sqlite3_vfs* vfs, const char* name, File& file, int flags, int* flags_out) {
    file.below = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(&file) + below_at);
    file.below->pMethods = nullptr;
    const int result = below(vfs)->xOpen(below(vfs), name, file.below, flags, flags_out);
    if (result != SQLITE_OK && file.below->pMethods != nullptr) {
        file.below->pMethods->xClose(file.below);
    }
    return result;
}

int open_database(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                  int* flags_out) {
    auto* const database = new (file) DatabaseFile;
    const int result = open_below(vfs, name, *database, flags, flags_out);
    if (result != SQLITE_OK) {
        database->~DatabaseFile();
        return result;
    }
    database->methods = database_methods;
    database->methods.iVersion =
        std::min(database->methods.iVersion, database->below->pMethods->iVersion);
    database->base.pMethods = &database->methods;
    return SQLITE_OK;
}

int open_log(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
    auto* const log = new (file) LogFile;
    int result = SQLITE_NOMEM;
    try {
        log->pending.reserve(pending_bytes_max);
        result = open_below(vfs, name, *log, flags, flags_out);
    } catch (const std::bad_alloc&) {
        result = SQLITE_NOMEM;
    }
    if (result != SQLITE_OK) {
        log->~LogFile();
        return result;
    }
    log->database = reinterpret_cast<DatabaseFile*>(sqlite3_database_file_object(name));
    log->database->log = log;
    log->base.pMethods = &log_methods;
    return SQLITE_OK;
}

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
    file->pMethods = nullptr;
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) {
        return open_database(vfs, name, file, flags, flags_out);
    }
    if ((flags & SQLITE_OPEN_WAL) != 0) return open_log(vfs, name, file, flags, flags_out);
    return below(vfs)->xOpen(below(vfs), name, file, flags, flags_out);
}

struct Registered {
    std::string name;
    sqlite3_vfs vfs{};
};

void describe(Registered& registered, sqlite3_vfs& other) {
    sqlite3_vfs& vfs = registered.vfs;
    vfs.iVersion = std::min(other.iVersion, 2);
    vfs.szOsFile = static_cast<int>(below_at) + other.szOsFile;
    vfs.mxPathname = other.mxPathname;
    vfs.zName = registered.name.c_str();
    vfs.pAppData = &other;
    vfs.xOpen = open;
    vfs.xDelete = [](sqlite3_vfs* to, const char* name, int sync_directory) {
        return below(to)->xDelete(below(to), name, sync_directory);
    };
    vfs.xAccess = [](sqlite3_vfs* to, const char* name, int flags, int* result) {
        return below(to)->xAccess(below(to), name, flags, result);
    };
    vfs.xFullPathname = [](sqlite3_vfs* to, const char* name, int size, char* path) {
        return below(to)->xFullPathname(below(to), name, size, path);
    };
    vfs.xRandomness = [](sqlite3_vfs* to, int size, char* bytes) {
        return below(to)->xRandomness(below(to), size, bytes);
    };
    vfs.xSleep = [](sqlite3_vfs* to, int microseconds) {
        return below(to)->xSleep(below(to), microseconds);
    };
    vfs.xCurrentTime = [](sqlite3_vfs* to, double* days) {
        return below(to)->xCurrentTime(below(to), days);
    };
    vfs.xGetLastError = [](sqlite3_vfs* to, int size, char* text) {
        return below(to)->xGetLastError(below(to), size, text);
    };
    vfs.xCurrentTimeInt64 = [](sqlite3_vfs* to, sqlite3_int64* milliseconds) {
        return below(to)->xCurrentTimeInt64(below(to), milliseconds);
    };
}

}  // namespace

std::string coalescing_vfs(const std::string& below) {
    static std::mutex mutex;
    // Registered until the end of the process, whatever is closed last.
    static auto& known = *new std::map<std::string, Registered>;
    sqlite3_vfs* const other = sqlite3_vfs_find(below.empty() ? nullptr : below.c_str());
    if (other == nullptr) throw std::runtime_error("SQLite has no VFS called " + below);
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = known.try_emplace(std::string("coalescing-") + other->zName);
    Registered& registered = place->second;
    if (is_new) registered.name = place->first;
    // One of that name may have been unregistered, with all its files closed, and another one made.
    if (registered.vfs.pAppData != other) describe(registered, *other);
    if (is_new && sqlite3_vfs_register(&registered.vfs, 0) != SQLITE_OK) {
        known.erase(place);
        throw std::runtime_error("a VFS of SQLite can not be registered");
    }
    return registered.name;
}

}  // namespace store
