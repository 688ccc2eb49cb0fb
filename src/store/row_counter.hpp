#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "store/options.hpp"
#include "store/rows.hpp"

namespace store {

using RowCounts = ByKindAndStatus<std::uint64_t>;

// The rows of every kind and status as of one moment, counted later: looking at all of them takes
// a part of a second per million, and nobody waits for it. Changes committed after the moment are
// not in it, so they can be added before or after. Has a read-only connection of its own.
class RowCounter {
public:
    // The moment. Throws StorageError.
    explicit RowCounter(const Options& options);
    ~RowCounter();
    RowCounter(const RowCounter&) = delete;
    RowCounter& operator=(const RowCounter&) = delete;

    // Once, by any one thread; gives the moment back, and with it the space in the write-ahead log
    // that came after it. Nothing when it was stopped. Throws StorageError.
    [[nodiscard]] std::optional<RowCounts> count(const std::stop_token& stop = {});

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
