#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace support {

// An SQLite VFS over the system's own that counts, delays and fails what goes to the disk, that
// fills up and that loses power. Registered under a name of its own for the life of the object:
// what was opened through it must be closed before. Any thread. The WAL index is memory: it passes
// through.
class FaultVfs {
public:
    enum class Operation { write, sync, any };  // cutting a file shorter counts as a write

    // What a power cut leaves of the writes since the last sync of their file.
    enum class Unsynced {
        lost,  // nothing
        torn,  // some whole, some by half, some not at all: the seed decides
        kept,  // everything: the machine goes on, only the process dies
    };

    // Without a memory of unsynced writes, which costs a read per write, power can not be cut.
    enum class Memory { unsynced_writes, none };

    struct Fault {
        Operation operation = Operation::any;
        std::uint64_t nth = 1;  // counted from now on, the next is 1
        int code = 0;           // extended result code of SQLite
        bool lasting = false;   // whether everything after it fails too
    };

    explicit FaultVfs(Memory memory = Memory::unsynced_writes);
    ~FaultVfs();
    FaultVfs(const FaultVfs&) = delete;
    FaultVfs& operator=(const FaultVfs&) = delete;

    // For store::Options::vfs.
    [[nodiscard]] const std::string& name() const;

    // Since the object was made; failed ones count.
    [[nodiscard]] std::uint64_t writes() const;
    [[nodiscard]] std::uint64_t syncs() const;

    // Every sync takes this much longer.
    void delay_syncs(std::chrono::microseconds delay);

    // Replaces the fault or cut planned before.
    void fail(const Fault& fault);
    // Whether the planned fault or cut has come.
    [[nodiscard]] bool struck() const;
    // No fault is planned and none lasts. Does not bring power or space back.
    void heal();

    // From now on files may grow by this much together, then writes that grow one meet a full disk.
    // What is cut off or deleted may be used again.
    void limit_growth(std::uint64_t bytes);
    void release_growth();

    // Every file holds only what the cut left, and everything fails until power is back.
    void cut_power(Unsynced unsynced = Unsynced::lost, std::uint64_t seed = 0);
    // The same in place of the n-th operation from now on.
    void cut_power_at(Operation operation, std::uint64_t nth, Unsynced unsynced = Unsynced::lost,
                      std::uint64_t seed = 0);
    [[nodiscard]] bool has_power() const;
    // Every file must have been closed.
    void restore_power();

private:
    class Disk;
    std::unique_ptr<Disk> disk_;
};

}  // namespace support
