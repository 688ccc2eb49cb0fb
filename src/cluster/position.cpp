#include "cluster/position.hpp"

#include <utility>

namespace cluster {

Read<Standing> standing_of(Database& database, const Position& own) {
    auto asked = database.extent();
    if (auto* problem = std::get_if<Unavailable>(&asked)) return std::move(*problem);
    const auto& extent = std::get<0>(asked);
    if (!extent) return Standing::no_book;
    if (own.seq > extent->last) return Standing::behind;
    if (own.seq < extent->first) return Standing::trimmed;

    auto found = database.read(own.seq);
    if (auto* problem = std::get_if<Unavailable>(&found)) return std::move(*problem);
    const auto& entry = std::get<0>(found);
    if (!entry) return Standing::trimmed;  // since the first question
    return entry->hash == own.hash ? Standing::continues : Standing::diverged;
}

}  // namespace cluster
