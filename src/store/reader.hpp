#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "domain/bytes.hpp"
#include "domain/failure.hpp"
#include "domain/request_id.hpp"
#include "domain/time.hpp"
#include "store/options.hpp"
#include "store/rows.hpp"

namespace store {

// What a poll needs to know about a request.
struct StoredRequest {
    Row row;
    std::optional<domain::Failure> failure;  // timed_out and failure
    std::optional<domain::Bytes> result;     // completed
    bool held = false;                       // waits for the operator
};

// What waits or is being worked on, by the times that show a standstill.
struct Backlog {
    ByKindAndStatus<std::uint64_t> count;             // rows of the lanes gate and timer
    std::map<std::int64_t, std::uint64_t> of_client;  // same, without shares
    // Since when the one longest in this status is in it; rows of the lanes gate and timer.
    ByKindAndStatus<std::optional<domain::Timestamp>> oldest;
    std::uint64_t held = 0;                           // of them: wait for the operator
    std::optional<domain::Timestamp> oldest_at_gate;  // since when it is in its status
    // As Store::earliest_wake: of the schedule by the wall clock, of the timer by the steady one.
    std::optional<domain::Timestamp> earliest_scheduled;
    std::optional<domain::Timestamp> earliest_timer;
};

// The shares of a round that is not closed yet; those that timed out are in none of the numbers.
struct RoundCounts {
    domain::Bytes32 round_id{};
    std::uint64_t total = 0;
    std::uint64_t pending = 0;  // waiting or in work
    std::uint64_t submitted = 0;
    std::uint64_t failed = 0;

    bool operator==(const RoundCounts&) const = default;
};

// Read-only connections beside the writer, lent to one call each. Any thread; opens as many
// connections as calls run at once, up to the bound, then callers wait. Never blocks the writer and
// never checkpoints.
class Reader {
public:
    Reader(const Options& options, std::size_t connections_max);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Nothing for an unknown id, also when only its random part is wrong. Throws StorageError.
    [[nodiscard]] std::optional<StoredRequest> find(const domain::RequestId& id);

    // When a round ends that shares are or were stored of, closed or not. Throws StorageError.
    [[nodiscard]] std::optional<domain::Timestamp> vote_end(const domain::Bytes32& round_id);

    // The rounds that are not closed and have shares, in the order they end. Throws StorageError.
    [[nodiscard]] std::vector<RoundCounts> round_queues();

    // Costs O(rows in work). Throws StorageError.
    [[nodiscard]] Backlog backlog();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
