#pragma once

#include <filesystem>

namespace platform {

// A file that a process leaves when it ends by a fault of its own: a signal that it caused itself,
// or leave(). None after a kill from outside, the end of the machine, or an orderly end. A process
// has one.
class CrashMark {
public:
    // Watches the signals SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, which still end the process
    // as they do otherwise. A stack that is full leaves no mark.
    explicit CrashMark(const std::filesystem::path& file);
    ~CrashMark();
    CrashMark(const CrashMark&) = delete;
    CrashMark& operator=(const CrashMark&) = delete;

    // Of an earlier process, or this one's.
    [[nodiscard]] bool is_there() const;
    // As far as the disk lets it.
    void remove() const noexcept;
    void leave() const noexcept;

private:
    const std::filesystem::path file_;
};

}  // namespace platform
