#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "store/harness.hpp"

// A store as the engine leaves one: a request of each kind in each status it can have, each with
// all that belongs to it.
struct FilledStore : Harness {
    FilledStore();

    // The first request of this kind and status.
    [[nodiscard]] std::int64_t number_of(domain::Kind kind, domain::Status status) const;
    // All that were made.
    [[nodiscard]] std::int64_t requests() const { return next_ - 1; }

    std::int64_t round = 0;

private:
    void make(domain::Kind kind, domain::Status status);

    std::int64_t next_ = 1;
    std::map<std::pair<domain::Kind, domain::Status>, std::int64_t> numbers_;
};
