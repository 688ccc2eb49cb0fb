#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "bench/bodies.hpp"
#include "domain/identity.hpp"
#include "domain/kind.hpp"

// What the disk and the libraries allow when nobody asks for more. All rates are per second.
namespace bench {

// Appends of 4 KiB, each followed by fdatasync.
[[nodiscard]] double sync_rate(const std::filesystem::path& directory,
                               std::chrono::milliseconds duration);

// A SQLite file with our schema and durability, and nothing around it.
class BareDatabase {
public:
    explicit BareDatabase(const std::filesystem::path& directory);

    void begin();
    void insert(domain::Kind kind, const domain::Identity& identity, domain::ByteView payload);
    void commit();

private:
    SQLite::Database database_;
    SQLite::Statement begin_;
    SQLite::Statement commit_;
    SQLite::Statement insert_request_;
    SQLite::Statement insert_payload_;
    std::int64_t id_;
};

// Rows with the payload of this vote share and keys of their own.
[[nodiscard]] double bare_share_rate(const std::filesystem::path& directory, const Body& share,
                                     std::size_t rows_per_commit,
                                     std::chrono::milliseconds duration);

// Parsing, hashing and encoding input proofs and storing them 64 to a commit, in one thread.
[[nodiscard]] double bare_proof_rate(const std::filesystem::path& directory, const Body& proof,
                                     std::chrono::milliseconds duration);

}  // namespace bench
