#include "platform/real_clock.hpp"

#include <ctime>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace platform {
namespace {

domain::Nanoseconds read(clockid_t clock) {
    timespec time{};
    if (::clock_gettime(clock, &time) != 0) {
        throw std::system_error{errno, std::generic_category(), "clock_gettime"};
    }
    return std::chrono::seconds{time.tv_sec} + domain::Nanoseconds{time.tv_nsec};
}

std::string boot_id() {
    std::string word;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> word;
    if (!word.empty()) return word;
    const char* const told = std::getenv("BOOT_ID");  // NOLINT(concurrency-mt-unsafe): never set
    return told == nullptr ? "" : told;
}

}  // namespace

RealClock::RealClock(domain::Nanoseconds behind) : behind_(behind), boot_(boot_id()) {}

domain::Timestamp RealClock::wall() const {
    return std::chrono::floor<domain::Milliseconds>(
        std::chrono::sys_time<domain::Nanoseconds>{read(CLOCK_REALTIME) - behind_});
}

domain::Monotonic RealClock::monotonic() const {
    return domain::Monotonic{read(CLOCK_BOOTTIME)};
}

}  // namespace platform
