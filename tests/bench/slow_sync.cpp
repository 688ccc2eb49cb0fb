// Loaded before the C library of the program under test: every sync of a database file takes longer
// by SLOW_SYNC_US microseconds, after the real one, as on a slower disk. The program itself is
// unchanged. SQLite 3 on Linux flushes with fdatasync only; fsync is here for builds that lack it.

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using Sync = int (*)(int);

constexpr long microseconds_per_second = 1'000'000;

bool is_database(int file) {
    std::array<char, 64> link{};
    std::array<char, 4096> path{};
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
    const ssize_t length = ::readlink(link.data(), path.data(), path.size());
    if (length <= 0) return false;
    const std::string_view name(path.data(), static_cast<std::size_t>(length));
    return name.ends_with(".db") || name.ends_with(".db-wal");
}

int slow(Sync real, int file) {
    static const char* const text = std::getenv("SLOW_SYNC_US");  // NOLINT(concurrency-mt-unsafe)
    static const long microseconds = text != nullptr ? std::atol(text) : 0;
    const int code = real(file);
    if (microseconds > 0 && is_database(file)) {
        timespec rest{microseconds / microseconds_per_second,
                      microseconds % microseconds_per_second * 1'000};
        while (::nanosleep(&rest, &rest) != 0) continue;
    }
    return code;
}

}  // namespace

extern "C" int fsync(int file) {
    static const auto real = reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, "fsync"));
    return slow(real, file);
}

extern "C" int fdatasync(int file) {
    static const auto real = reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, "fdatasync"));
    return slow(real, file);
}
