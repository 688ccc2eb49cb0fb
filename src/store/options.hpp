#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace store {

enum class Synchronous {
    full,    // an acknowledged request survives a power cut
    normal,  // it survives a crash of the process; a power cut may take the newest commits
};

struct Options {
    std::filesystem::path directory = "data";  // created 0700 when missing
    Synchronous synchronous = Synchronous::full;
    std::uint64_t wal_bytes_max = 64ULL << 20;  // checkpoint even under load beyond this
    std::uint64_t cache_bytes = 16ULL << 20;    // page cache of the writer
    std::uint64_t reserve_bytes = 1ULL << 20;   // kept free for status changes on a full disk
    std::uint64_t early_answers_max = 10'000;   // answers without a receipt, oldest go first
    bool allow_network_filesystem = false;
    std::string vfs;  // SQLite VFS by name; empty: the default
    // What leads beyond the newest schema, for tests of what a version to come will do.
    std::vector<std::string> further_migrations{};
};

[[nodiscard]] inline std::filesystem::path database_path(const Options& options) {
    return options.directory / "posthouse.db";
}

}  // namespace store
