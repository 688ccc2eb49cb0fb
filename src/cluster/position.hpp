#pragma once

#include <cstdint>

#include "cluster/database.hpp"

namespace cluster {

// How far a node's own file is.
struct Position {
    std::int64_t seq = 0;
    domain::Bytes32 hash{};  // of this entry
};

enum class Standing {
    continues,  // the journal has the entry: what follows can be applied
    trimmed,    // the journal begins later: only a snapshot helps
    behind,     // the database lacks what the node has: it went back, and must not be used
    diverged,   // another entry has that number: same
    no_book,    // the database does not know the book
};

// Asked on each new connection before anything else is believed.
[[nodiscard]] Read<Standing> standing_of(Database& database, const Position& own);

}  // namespace cluster
