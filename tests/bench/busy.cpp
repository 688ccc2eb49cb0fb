#include "bench/busy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

namespace {

// The first line of /proc/stat, in ticks of all cores (proc_stat(5)).
struct Ticks {
    std::uint64_t all = 0;
    std::uint64_t idle = 0;
};

Ticks read_ticks() {
    // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice.
    constexpr std::size_t idle = 3;
    constexpr std::size_t iowait = 4;
    std::ifstream stream("/proc/stat");
    std::string name;
    stream >> name;
    std::array<std::uint64_t, 8> ticks{};
    for (std::uint64_t& value : ticks) stream >> value;
    if (!stream || name != "cpu") throw std::runtime_error("can not read /proc/stat");
    return {std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0}),
            ticks[idle] + ticks[iowait]};
}

}  // namespace

double busy_percent(std::chrono::milliseconds over) {
    const Ticks before = read_ticks();
    std::this_thread::sleep_for(over);
    const Ticks after = read_ticks();
    const auto all = static_cast<double>(after.all - before.all);
    const auto idle = static_cast<double>(after.idle - before.idle);
    return all > 0 ? 100 * (all - idle) / all : 0;
}

}  // namespace bench
