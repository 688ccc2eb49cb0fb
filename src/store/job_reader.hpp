#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "domain/failure.hpp"
#include "domain/request_id.hpp"
#include "store/options.hpp"
#include "store/rows.hpp"

namespace store {

struct JobFilter {
    std::optional<domain::Kind> kind{};
    std::optional<domain::Status> status{};
    bool unfinished = false;  // any status that is not final
    std::optional<std::int64_t> client{};
    std::optional<domain::Timestamp> accepted_before{};
    std::optional<domain::Reason> reason{};
    bool with_shares = false;
    std::optional<std::int64_t> below{};  // only sequences below this one: a further page
    std::size_t limit = 50;
};

struct Job {
    Row row;
    std::optional<domain::Failure> failure;  // timed_out and failure
    bool is_held = false;                    // until an operator releases it
};

struct JobPage {
    std::vector<Job> jobs;                // the newest first
    std::size_t looked_at = 0;            // rows; shares only when they are asked for
    std::optional<std::int64_t> further;  // `below` of the next page; nothing: there are no more
};

struct JobDetails {
    Job job;
    std::vector<Attempt> attempts;  // without their bytes
    std::vector<HistoryEntry> history;
    std::optional<domain::Bytes32> reference;
    std::size_t answers_held = 0;
    std::size_t result_bytes = 0;
};

// What operators ask about requests, over a connection of its own that only reads and is opened
// when it is needed. Any thread, one call at a time. All throw StorageError, or OpenError where
// there is no database of this version.
class JobReader {
public:
    // No page looks at more rows, nor passes over more shares.
    static constexpr std::size_t rows_max = 20'000;
    static constexpr std::size_t shares_passed_max = 200'000;

    explicit JobReader(const Options& options);
    ~JobReader();
    JobReader(const JobReader&) = delete;
    JobReader& operator=(const JobReader&) = delete;

    [[nodiscard]] JobPage list(const JobFilter& filter);
    // Nothing for an unknown id, also when only its random part is wrong.
    [[nodiscard]] std::optional<JobDetails> find(const domain::RequestId& id);
    // What was asked, as domain::decode_request takes it.
    [[nodiscard]] std::optional<domain::Bytes> payload(const domain::RequestId& id);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
