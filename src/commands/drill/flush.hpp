#pragma once

#include <filesystem>
#include <string>

#include "commands/drill/percentiles.hpp"

namespace commands::drill {

// What a file system lies on, as the kernel tells it.
struct Device {
    enum class Kind { memory, rotating, solid_state, virtual_disk, unknown };
    Kind kind = Kind::unknown;
    std::string name;         // `nvme0n1`; empty: not known
    std::string write_cache;  // /sys/block/*/queue/write_cache; empty: not known
};

[[nodiscard]] Device device_of(const std::filesystem::path& directory);

// The same 4 KiB written and flushed (fdatasync) one after another in a file of that directory, for
// a second; milliseconds. Throws std::system_error.
[[nodiscard]] Percentiles measure_flushes(const std::filesystem::path& directory);

// Whether what was flushed would outlive a power cut, as far as speed and flags can tell.
struct FlushVerdict {
    enum class Trust { plausible, not_seen, doubtful };
    Trust trust = Trust::not_seen;
    std::string words;  // one line
};

[[nodiscard]] FlushVerdict judge_flushes(const Percentiles& flushes, const Device& device);

}  // namespace commands::drill
