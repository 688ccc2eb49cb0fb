#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "ports/progress.hpp"

namespace store {

// What is not as this program writes it.
struct Fault {
    std::string where;  // `file`, `table payload`, `request 17`, `round 3` …
    std::string problem;
};

using FaultSink = std::function<void(const Fault&)>;

struct Verified {
    std::uint64_t requests = 0;
    std::uint64_t faults = 0;
    // Pages or indexes are damaged: what the rows say is worth little.
    bool damaged = false;
    // The rows were looked at too, not only the pages: they are when the schema is the newest one.
    bool with_rows = false;
    int schema = 0;
};

// Looks at every page and every row of a database that nobody writes to: SQLite's own checks,
// foreign keys, and what the engine relies on. Changes nothing. Nobody repairs what it finds: at
// run time a request that can not be read fails alone, damaged pages end the service.
//
// Throws OpenError when the file can not be read or is none of ours, StorageError when the disk
// fails, and what `progress` throws.
[[nodiscard]] Verified verify(const std::filesystem::path& file, const ports::Progress& progress,
                              const FaultSink& found);

}  // namespace store
