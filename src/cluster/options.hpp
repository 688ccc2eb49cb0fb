#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "cluster/journal_writer.hpp"
#include "cluster/key.hpp"
#include "cluster/lease.hpp"
#include "domain/time.hpp"

namespace cluster {

// What an operator sets of a node in a book of several machines: the table `cluster`.
struct Options {
    std::string database;  // connection string of libpq; secret: it may hold a password
    std::string book = "main";
    std::string node;  // its name; no other node of the book has it
    std::string url;   // where the other nodes reach this one, without a path
    std::filesystem::path key_file{};
    std::filesystem::path other_key_file{};  // while keys change; empty: none
    std::string ca_file{};                   // PEM, of the other nodes' certificates; empty: the
                                             // system's
    std::shared_ptr<const Keys> keys{};      // what these files hold, once they were read
    LeaseOptions lease{};
    Durability durability = Durability::standby;
    // A follower puts a snapshot into the database when the journal has grown by so many bytes
    // since the last one; what is older than the second newest is dropped.
    std::uint64_t snapshot_every_bytes = std::uint64_t{256} << 20U;
};

}  // namespace cluster
