#include "api/metrics/process_facts.hpp"

#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace api::metrics {

namespace {

std::optional<double> resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    if (!(file >> total >> resident)) return std::nullopt;
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> open_descriptors() {
    std::error_code error;
    const std::filesystem::directory_iterator all("/proc/self/fd", error);
    if (error) return std::nullopt;
    const auto found = std::distance(all, std::filesystem::directory_iterator{});
    return static_cast<double>(found - 1);  // without the one that reads
}

// Without /proc/stat, which the unit's ProcSubset=pid hides (field report 104).
double boot_unix_seconds() {
    timespec wall{};
    timespec since_boot{};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
    return static_cast<double>(wall.tv_sec - since_boot.tv_sec) +
           static_cast<double>(wall.tv_nsec - since_boot.tv_nsec) / 1e9;
}

// Field 22 of proc(5). The name in brackets may hold anything, so the count starts behind it.
std::optional<double> start_after_boot_seconds() {
    std::ifstream file("/proc/self/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t bracket = text.rfind(')');
    if (bracket == std::string::npos) return std::nullopt;
    constexpr int first_behind_name = 3;
    constexpr int start_time = 22;
    std::size_t at = bracket + 2;
    for (int field = first_behind_name; field < start_time; ++field) {
        at = text.find(' ', at);
        if (at == std::string::npos) return std::nullopt;
        ++at;
    }
    return std::stod(text.substr(at, 24)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessFacts process_facts() {
    static const double boot = boot_unix_seconds();
    static const auto start = start_after_boot_seconds();
    return {resident_bytes(), open_descriptors(),
            start ? std::optional{boot + *start} : std::nullopt};
}

}  // namespace api::metrics
