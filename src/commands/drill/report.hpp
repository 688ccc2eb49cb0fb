#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "commands/drill/chain_judge.hpp"
#include "commands/drill/flush.hpp"
#include "commands/drill/judge.hpp"
#include "commands/drill/percentiles.hpp"

namespace commands::drill {

// Something bad that was done, or why not.
struct Trial {
    std::uint64_t times = 0;
    std::string not_tried;  // the reason; empty: it was
};

struct Report {
    std::uint64_t seed = 0;
    std::uint64_t rounds = 0;
    std::filesystem::path directory;  // on whose file system it was done
    bool power_cut_safe = true;       // storage.synchronous is full
    Counts counts;
    std::uint64_t kills_under_load = 0;
    std::uint64_t kills_during_start = 0;
    std::uint64_t pauses = 0;  // SIGSTOP, then SIGCONT or SIGKILL
    Trial full_disk;
    Trial clock_steps;
    std::optional<ChainFigures> chain;  // nothing: the embedded one
    Percentiles restart;                // from the start of the process to its first answer, ms
    Percentiles commit_idle;            // from a POST to its promise, one after another, ms
    Percentiles commit_load;            // the same beside others, ms
    Percentiles flush;                  // ms
    Device device;
    FlushVerdict flush_verdict;
};

// How fast the disk flushes, which takes a second, and what that says.
void measure_disk(const std::filesystem::path& directory, Report& report);

// The verdict in one line of plain words.
[[nodiscard]] std::string verdict_of(const Report& report);

// Several lines; the last is the verdict.
[[nodiscard]] std::string as_text(const Report& report);

// The same as one object on one line.
[[nodiscard]] std::string as_json(const Report& report);

}  // namespace commands::drill
