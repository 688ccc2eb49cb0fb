#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

#include "domain/time.hpp"

namespace bench {

// Looks into the files of a running or killed service from outside; never writes or checkpoints.
class Inspection {
public:
    Inspection(const std::filesystem::path& data_directory, const std::filesystem::path& ledger);

    [[nodiscard]] std::uint64_t requests();
    [[nodiscard]] std::uint64_t completed();
    [[nodiscard]] std::uint64_t in_status(std::string_view status);
    // Cheap enough to be asked every few milliseconds.
    [[nodiscard]] bool all_ended();

    // Wake of every request that has not ended, by row id.
    [[nodiscard]] std::map<std::int64_t, domain::Timestamp> wakes();

    // When each request was included on the loopback chain, by row id. Throws std::runtime_error if
    // one was included twice.
    [[nodiscard]] std::map<std::int64_t, domain::Timestamp> inclusions();

private:
    const std::filesystem::path ledger_;
    SQLite::Database database_;
    SQLite::Statement any_active_;
};

}  // namespace bench
