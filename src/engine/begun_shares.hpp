#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "domain/time.hpp"

namespace engine {

// The shares that were begun and are not revealed: in work, or in a pause before the next try. One
// that was never begun stands in the lane `schedule` with its second as its wake. What a step that
// is rolled back begins may stay: its second is the same. One thread.
class BegunShares {
public:
    using Id = std::int64_t;

    // `due`: since when it could have left.
    void add(Id share, std::optional<Id> round, domain::Timestamp due) {
        if (shares_.try_emplace(share, due, round).second) by_due_.emplace(due, share);
    }

    void remove(Id share) {
        const auto known = shares_.find(share);
        if (known == shares_.end()) return;
        by_due_.erase({known->second.first, share});
        shares_.erase(known);
    }

    // Nothing: it is not begun.
    [[nodiscard]] std::optional<domain::Timestamp> due(Id share) const {
        const auto known = shares_.find(share);
        if (known == shares_.end()) return std::nullopt;
        return known->second.first;
    }

    [[nodiscard]] std::optional<domain::Timestamp> earliest() const {
        if (by_due_.empty()) return std::nullopt;
        return by_due_.begin()->first;
    }

    // Rounds of those that are due since `due` or longer.
    [[nodiscard]] std::set<Id> rounds_due(domain::Timestamp due) const {
        std::set<Id> rounds;
        for (const auto& [since, share] : by_due_) {
            if (since > due) break;
            if (const auto& round = shares_.at(share).second) rounds.insert(*round);
        }
        return rounds;
    }

private:
    std::map<Id, std::pair<domain::Timestamp, std::optional<Id>>> shares_;
    std::set<std::pair<domain::Timestamp, Id>> by_due_;
};

}  // namespace engine
