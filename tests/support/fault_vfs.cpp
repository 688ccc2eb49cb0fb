#include "support/fault_vfs.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace support {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr int piece_bytes = 4096;

// One write or cut since the last sync, with what is needed to take it back or do it again.
struct Change {
    std::int64_t offset = 0;
    std::int64_t size_before = 0;
    Bytes before;
    Bytes after;
    bool cut = false;  // the file ended at `offset` afterwards
};

using Changes = std::vector<Change>;

// A plain descriptor: used only when nobody holds SQLite's locks on the file any more.
class RawFile {
public:
    explicit RawFile(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
    ~RawFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    RawFile(const RawFile&) = delete;
    RawFile& operator=(const RawFile&) = delete;

    [[nodiscard]] bool exists() const { return descriptor_ >= 0; }

    void write(const Bytes& bytes, std::size_t length, std::int64_t offset) const {
        if (::pwrite(descriptor_, bytes.data(), length, offset) != static_cast<ssize_t>(length)) {
            throw std::runtime_error("fault VFS: can not write");
        }
    }
    void resize(std::int64_t size) const {
        if (::ftruncate(descriptor_, size) != 0) {
            throw std::runtime_error("fault VFS: can not cut");
        }
    }

private:
    int descriptor_;
};

void take_back(const RawFile& file, const Changes& changes) {
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
        if (change->cut) file.resize(change->size_before);
        file.write(change->before, change->before.size(), change->offset);
        if (!change->cut) file.resize(change->size_before);
    }
}

void redo_some(const RawFile& file, const Changes& changes, std::mt19937_64& random) {
    for (const Change& change : changes) {
        const std::uint64_t parts = random() % 3;  // of two
        if (parts == 0) continue;
        if (change.cut) {
            file.resize(change.offset);
        } else {
            file.write(change.after, change.after.size() * parts / 2, change.offset);
        }
    }
}

std::string next_name() {
    static std::atomic<std::uint64_t> made = 0;
    return "fault-" + std::to_string(++made);
}

}  // namespace

class FaultVfs::Disk {
public:
    explicit Disk(Memory memory);
    ~Disk() { sqlite3_vfs_unregister(&shim_); }
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    struct Cut {
        Unsynced unsynced;
        std::uint64_t seed;
    };
    struct Plan {
        Fault fault;
        std::optional<Cut> cut;  // in place of the fault
        std::uint64_t seen = 0;
    };

    void plan(Plan plan) {
        const std::lock_guard lock(mutex_);
        plan_ = plan;
        struck_ = false;
    }
    void heal() {
        const std::lock_guard lock(mutex_);
        plan_.reset();
    }
    void limit_growth(std::optional<std::uint64_t> bytes) {
        const std::lock_guard lock(mutex_);
        room_ = bytes;
    }
    void cut_power(Cut cut) {
        const std::lock_guard lock(mutex_);
        cut_now(cut);
    }
    void restore_power() {
        const std::lock_guard lock(mutex_);
        assert(open_files_ == 0);
        power_ = true;
    }

    const std::string name_ = next_name();
    std::atomic<std::uint64_t> writes_ = 0;
    std::atomic<std::uint64_t> syncs_ = 0;
    std::atomic<std::int64_t> delay_us_ = 0;
    std::atomic<bool> struck_ = false;
    std::atomic<bool> power_ = true;

private:
    struct File {
        sqlite3_file base;
        Disk* disk;
        Changes* unsynced;   // nothing for files without a name
        sqlite3_file* real;  // lies behind this struct
    };

    static Disk& of(sqlite3_vfs* vfs) { return *static_cast<Disk*>(vfs->pAppData); }
    static sqlite3_vfs* real_of(sqlite3_vfs* vfs) { return of(vfs).real_; }
    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
    static sqlite3_file* real_of(sqlite3_file* file) { return of(file).real; }

    static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);
    static int remove(sqlite3_vfs* vfs, const char* name, int sync_directory);
    static int close(sqlite3_file* file);
    static int read(sqlite3_file* file, void* out, int length, sqlite3_int64 offset);
    static int write(sqlite3_file* file, const void* bytes, int length, sqlite3_int64 offset);
    static int truncate(sqlite3_file* file, sqlite3_int64 size);
    static int sync(sqlite3_file* file, int flags);
    static int control(sqlite3_file* file, int operation, void* argument);

    static const sqlite3_io_methods file_methods;

    static std::optional<std::int64_t> size_of(const File& file) {
        sqlite3_int64 size = 0;
        if (file.real->pMethods->xFileSize(file.real, &size) != SQLITE_OK) return std::nullopt;
        return size;
    }
    // Completes `change` by what the file holds from its offset on, at most `length` bytes; false
    // when that can not be read.
    static bool remember(File& file, Change change, std::int64_t length);

    // The result of an operation that the plan or the lack of power decides; holds the mutex.
    int admit(Operation operation, int without_power);
    void cut_now(Cut cut);
    // Whether the disk has room for it; holds the mutex.
    bool take_room(std::int64_t growth);
    void give_room(std::int64_t bytes) {
        if (room_ && bytes > 0) *room_ += static_cast<std::uint64_t>(bytes);
    }
    bool remembers(const File& file) const {
        return memory_ == Memory::unsynced_writes && file.unsynced != nullptr;
    }

    const Memory memory_;
    sqlite3_vfs* const real_ = sqlite3_vfs_find(nullptr);
    sqlite3_vfs shim_{};
    std::mutex mutex_;  // guards what follows
    std::optional<Plan> plan_;
    std::optional<std::uint64_t> room_;
    std::map<std::string, Changes> unsynced_;
    std::set<std::string> databases_;
    std::size_t open_files_ = 0;
};

const sqlite3_io_methods FaultVfs::Disk::file_methods{
    3,
    close,
    read,
    write,
    truncate,
    sync,
    [](sqlite3_file* file, sqlite3_int64* size) {
        if (!of(file).disk->power_) return SQLITE_IOERR_FSTAT;
        return real_of(file)->pMethods->xFileSize(real_of(file), size);
    },
    [](sqlite3_file* file, int level) {
        return real_of(file)->pMethods->xLock(real_of(file), level);
    },
    [](sqlite3_file* file, int level) {
        return real_of(file)->pMethods->xUnlock(real_of(file), level);
    },
    [](sqlite3_file* file, int* out) {
        return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
    },
    control,
    [](sqlite3_file* file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); },
    [](sqlite3_file* file) {
        return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
    },
    [](sqlite3_file* file, int region, int size, int extend, void volatile** out) {
        return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend, out);
    },
    [](sqlite3_file* file, int offset, int count, int flags) {
        return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
    },
    [](sqlite3_file* file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); },
    [](sqlite3_file* file, int remove_it) {
        return real_of(file)->pMethods->xShmUnmap(real_of(file), remove_it);
    },
    // Memory maps would go round read() and write().
    [](sqlite3_file*, sqlite3_int64, int, void** out) {
        *out = nullptr;
        return SQLITE_OK;
    },
    [](sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; },
};

FaultVfs::Disk::Disk(Memory memory) : memory_(memory) {
    shim_.iVersion = 2;
    shim_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    shim_.mxPathname = real_->mxPathname;
    shim_.zName = name_.c_str();
    shim_.pAppData = this;
    shim_.xOpen = open;
    shim_.xDelete = remove;
    shim_.xAccess = [](sqlite3_vfs* vfs, const char* name, int flags, int* out) {
        return real_of(vfs)->xAccess(real_of(vfs), name, flags, out);
    };
    shim_.xFullPathname = [](sqlite3_vfs* vfs, const char* name, int size, char* out) {
        return real_of(vfs)->xFullPathname(real_of(vfs), name, size, out);
    };
    shim_.xRandomness = [](sqlite3_vfs* vfs, int size, char* out) {
        return real_of(vfs)->xRandomness(real_of(vfs), size, out);
    };
    shim_.xSleep = [](sqlite3_vfs* vfs, int microseconds) {
        return real_of(vfs)->xSleep(real_of(vfs), microseconds);
    };
    shim_.xCurrentTime = [](sqlite3_vfs* vfs, double* now) {
        return real_of(vfs)->xCurrentTime(real_of(vfs), now);
    };
    shim_.xGetLastError = [](sqlite3_vfs* vfs, int size, char* out) {
        return real_of(vfs)->xGetLastError(real_of(vfs), size, out);
    };
    shim_.xCurrentTimeInt64 = [](sqlite3_vfs* vfs, sqlite3_int64* now) {
        return real_of(vfs)->xCurrentTimeInt64(real_of(vfs), now);
    };
    if (sqlite3_vfs_register(&shim_, 0) != SQLITE_OK) {
        throw std::runtime_error("fault VFS: can not register");
    }
}

int FaultVfs::Disk::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* opened, int flags,
                         int* out) {
    Disk& disk = of(vfs);
    File* file = new (opened) File{};
    if (!disk.power_) return SQLITE_CANTOPEN;
    file->disk = &disk;
    file->real = reinterpret_cast<sqlite3_file*>(file + 1);
    const int code = disk.real_->xOpen(disk.real_, name, file->real, flags, out);
    if (code != SQLITE_OK) return code;
    file->base.pMethods = &file_methods;
    const std::lock_guard lock(disk.mutex_);
    ++disk.open_files_;
    if (name != nullptr) {
        file->unsynced = &disk.unsynced_[name];
        if ((flags & SQLITE_OPEN_MAIN_DB) != 0) disk.databases_.insert(name);
    }
    return SQLITE_OK;
}

int FaultVfs::Disk::remove(sqlite3_vfs* vfs, const char* name, int sync_directory) {
    Disk& disk = of(vfs);
    const std::lock_guard lock(disk.mutex_);
    if (!disk.power_) return SQLITE_IOERR_DELETE;
    struct stat facts {};
    const std::int64_t size = ::stat(name, &facts) == 0 ? facts.st_size : 0;
    const int code = disk.real_->xDelete(disk.real_, name, sync_directory);
    if (code != SQLITE_OK) return code;
    disk.give_room(size);
    // Durable at once: the file that comes under this name next begins empty.
    if (const auto found = disk.unsynced_.find(name); found != disk.unsynced_.end()) {
        found->second.clear();
    }
    return SQLITE_OK;
}

int FaultVfs::Disk::close(sqlite3_file* opened) {
    File& file = of(opened);
    const int code = file.real->pMethods->xClose(file.real);
    const std::lock_guard lock(file.disk->mutex_);
    --file.disk->open_files_;
    return code;
}

int FaultVfs::Disk::read(sqlite3_file* opened, void* out, int length, sqlite3_int64 offset) {
    File& file = of(opened);
    if (!file.disk->power_) return SQLITE_IOERR_READ;
    return file.real->pMethods->xRead(file.real, out, length, offset);
}

bool FaultVfs::Disk::remember(File& file, Change change, std::int64_t length) {
    const std::optional<std::int64_t> size = size_of(file);
    if (!size) return false;
    change.size_before = *size;
    const std::int64_t old = std::clamp<std::int64_t>(*size - change.offset, 0, length);
    change.before.resize(static_cast<std::size_t>(old));
    if (old > 0 && file.real->pMethods->xRead(file.real, change.before.data(),
                                              static_cast<int>(old), change.offset) != SQLITE_OK) {
        return false;
    }
    file.unsynced->push_back(std::move(change));
    return true;
}

int FaultVfs::Disk::write(sqlite3_file* opened, const void* bytes, int length,
                          sqlite3_int64 offset) {
    File& file = of(opened);
    Disk& disk = *file.disk;
    const std::lock_guard lock(disk.mutex_);
    ++disk.writes_;
    if (const int code = disk.admit(Operation::write, SQLITE_IOERR_WRITE); code != SQLITE_OK) {
        return code;
    }
    if (disk.room_) {
        const std::optional<std::int64_t> size = size_of(file);
        if (!size) return SQLITE_IOERR_FSTAT;
        if (!disk.take_room(offset + length - *size)) return SQLITE_FULL;
    }
    // A long write reaches the disk in pieces, in any order.
    for (int at = 0; disk.remembers(file) && at < length; at += piece_bytes) {
        const int piece = std::min(piece_bytes, length - at);
        Change change;
        change.offset = offset + at;
        const auto* first = static_cast<const std::uint8_t*>(bytes) + at;
        change.after.assign(first, first + piece);
        if (!remember(file, std::move(change), piece)) return SQLITE_IOERR_WRITE;
    }
    return file.real->pMethods->xWrite(file.real, bytes, length, offset);
}

int FaultVfs::Disk::truncate(sqlite3_file* opened, sqlite3_int64 size) {
    File& file = of(opened);
    Disk& disk = *file.disk;
    const std::lock_guard lock(disk.mutex_);
    ++disk.writes_;
    if (const int code = disk.admit(Operation::write, SQLITE_IOERR_TRUNCATE); code != SQLITE_OK) {
        return code;
    }
    const std::optional<std::int64_t> size_before = size_of(file);
    if (!size_before) return SQLITE_IOERR_FSTAT;
    if (disk.remembers(file)) {
        Change change;
        change.offset = size;
        change.cut = true;
        if (!remember(file, std::move(change), *size_before)) return SQLITE_IOERR_TRUNCATE;
    }
    const int code = file.real->pMethods->xTruncate(file.real, size);
    if (code == SQLITE_OK) disk.give_room(*size_before - size);
    return code;
}

int FaultVfs::Disk::sync(sqlite3_file* opened, int flags) {
    File& file = of(opened);
    Disk& disk = *file.disk;
    std::size_t reached = 0;
    {
        const std::lock_guard lock(disk.mutex_);
        ++disk.syncs_;
        if (const int code = disk.admit(Operation::sync, SQLITE_IOERR_FSYNC); code != SQLITE_OK) {
            return code;
        }
        if (file.unsynced != nullptr) reached = file.unsynced->size();
    }
    if (const std::int64_t delay = disk.delay_us_; delay > 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(delay));
    }
    const int code = file.real->pMethods->xSync(file.real, flags);
    if (code != SQLITE_OK || reached == 0) return code;
    const std::lock_guard lock(disk.mutex_);
    Changes& unsynced = *file.unsynced;
    const auto end = static_cast<std::ptrdiff_t>(std::min(reached, unsynced.size()));
    unsynced.erase(unsynced.begin(), unsynced.begin() + end);
    return SQLITE_OK;
}

int FaultVfs::Disk::control(sqlite3_file* opened, int operation, void* argument) {
    if (operation == SQLITE_FCNTL_SIZE_HINT) return SQLITE_OK;  // files grow by writes only
    if (operation == SQLITE_FCNTL_MMAP_SIZE) {
        *static_cast<sqlite3_int64*>(argument) = 0;
        return SQLITE_OK;
    }
    sqlite3_file* real = real_of(opened);
    return real->pMethods->xFileControl(real, operation, argument);
}

int FaultVfs::Disk::admit(Operation operation, int without_power) {
    if (!power_) return without_power;
    if (!plan_) return SQLITE_OK;
    const Fault& fault = plan_->fault;
    if (fault.operation != Operation::any && fault.operation != operation) return SQLITE_OK;
    const std::uint64_t seen = ++plan_->seen;
    if (seen < fault.nth || (seen > fault.nth && !fault.lasting)) return SQLITE_OK;
    struck_ = true;
    if (!plan_->cut) return fault.code;
    cut_now(*plan_->cut);
    return without_power;
}

void FaultVfs::Disk::cut_now(Cut cut) {
    assert(memory_ == Memory::unsynced_writes);
    if (!power_.exchange(false)) return;
    std::mt19937_64 random(cut.seed);
    for (auto& [path, changes] : unsynced_) {
        const RawFile file(path);
        if (file.exists() && cut.unsynced != Unsynced::kept) {
            take_back(file, changes);
            if (cut.unsynced == Unsynced::torn) redo_some(file, changes, random);
        }
        changes.clear();
    }
    for (const std::string& database : databases_) ::unlink((database + "-shm").c_str());
}

bool FaultVfs::Disk::take_room(std::int64_t growth) {
    if (!room_ || growth <= 0) return true;
    const auto wanted = static_cast<std::uint64_t>(growth);
    if (wanted > *room_) return false;
    *room_ -= wanted;
    return true;
}

FaultVfs::FaultVfs(Memory memory) : disk_(std::make_unique<Disk>(memory)) {}
FaultVfs::~FaultVfs() = default;

const std::string& FaultVfs::name() const {
    return disk_->name_;
}
std::uint64_t FaultVfs::writes() const {
    return disk_->writes_;
}
std::uint64_t FaultVfs::syncs() const {
    return disk_->syncs_;
}

void FaultVfs::delay_syncs(std::chrono::microseconds delay) {
    disk_->delay_us_ = delay.count();
}

void FaultVfs::fail(const Fault& fault) {
    disk_->plan({fault, std::nullopt});
}
bool FaultVfs::struck() const {
    return disk_->struck_;
}
void FaultVfs::heal() {
    disk_->heal();
}

void FaultVfs::limit_growth(std::uint64_t bytes) {
    disk_->limit_growth(bytes);
}
void FaultVfs::release_growth() {
    disk_->limit_growth(std::nullopt);
}

void FaultVfs::cut_power(Unsynced unsynced, std::uint64_t seed) {
    disk_->cut_power({unsynced, seed});
}

void FaultVfs::cut_power_at(Operation operation, std::uint64_t nth, Unsynced unsynced,
                            std::uint64_t seed) {
    disk_->plan({{operation, nth, 0, false}, Disk::Cut{unsynced, seed}});
}

bool FaultVfs::has_power() const {
    return disk_->power_;
}
void FaultVfs::restore_power() {
    disk_->restore_power();
}

}  // namespace support
