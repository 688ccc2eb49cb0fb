#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "domain/failure.hpp"
#include "domain/time.hpp"
#include "store/rows.hpp"

namespace store {

// What is kept of a request that has ended, without what was asked and what was answered.
struct EndedRequest {
    Row row;                                   // `since`: when it ended
    std::optional<domain::Failure> failure;    // timed_out and failure
    std::optional<domain::Bytes32> reference;  // the id the chain gave it
    std::vector<Attempt> attempts;             // without their bytes
    std::optional<domain::Bytes32> round_id;   // shares
};

// Reads the requests that ended at `since` or later: one family after the other, each in order of
// their end; shares only when asked for, in the order in which their rounds end. In short reads, so
// that a process may go on writing meanwhile; what ends meanwhile may be in or not. Throws
// OpenError or StorageError.
class EndedRequests {
public:
    EndedRequests(const std::filesystem::path& database, domain::Timestamp since, bool with_shares);
    ~EndedRequests();
    EndedRequests(const EndedRequests&) = delete;
    EndedRequests& operator=(const EndedRequests&) = delete;

    // The next ones; none: that was all.
    [[nodiscard]] std::vector<EndedRequest> next();
    // How many there are, as of now.
    [[nodiscard]] std::uint64_t count();
    // Rows that could not be read so far.
    [[nodiscard]] std::uint64_t unreadable() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
