#include "store/job_reader.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "store/database.hpp"
#include "store/row_columns.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

constexpr int sequence_counter_bits = 12;  // of RequestId, below the milliseconds

bool fits(const Job& job, const JobFilter& filter) {
    const Row& row = job.row;
    return (filter.with_shares || row.kind != domain::Kind::share) &&
           (!filter.kind || row.kind == *filter.kind) &&
           (!filter.status || row.status == *filter.status) &&
           (!filter.unfinished || !domain::is_terminal(row.status)) &&
           (!filter.client || row.client == *filter.client) &&
           (!filter.reason || (job.failure && job.failure->reason == *filter.reason));
}

bool is_in_work_only(const JobFilter& filter) {
    return filter.unfinished || (filter.status && !domain::is_terminal(*filter.status));
}

// The first sequence that the page may not have.
std::int64_t end_of(const JobFilter& filter) {
    std::int64_t end = filter.below.value_or(std::numeric_limits<std::int64_t>::max());
    if (filter.accepted_before) {
        end = std::min(end, domain::unix_ms(*filter.accepted_before) << sequence_counter_bits);
    }
    return end;
}

// A connection with its statements.
class JobConnection {
public:
    explicit JobConnection(const Options& options)
        : database_(newest(options)),
          begin_(*database_, "begin"),
          end_(*database_, "rollback"),
          newest_(*database_,
                  "select " + columns() + " from request where id < ? order by id desc"),
          one_(*database_, "select " + columns() + ", reference from request where id = ?"),
          in_work_(*database_, "select id from request where lane = ? limit ?"),
          attempts_(*database_,
                    "select " + attempt_columns + " from attempt where id = ? order by ordinal"),
          history_(
              *database_,
              "select stage, at_ms, cause, note, times from history where id = ? order by ordinal"),
          payload_(*database_,
                   "select body from payload join request using (id) where id = ? and random = ?"),
          held_(*database_, "select count(*) from answer where reference = ?"),
          result_(*database_, "select length(body) from result where id = ?") {}

    JobPage list(const JobFilter& filter) {
        const Snapshot snapshot(*this);
        if (is_in_work_only(filter)) {
            if (auto sequences = in_work(filter)) return pick(filter, *sequences);
        }
        return scan(filter);
    }

    std::optional<JobDetails> find(const domain::RequestId& id) {
        const Snapshot snapshot(*this);
        JobDetails details;
        std::optional<Job> job;
        if (one_.with(id.sequence).next()) {
            job = read_job(one_);
            if (!one_.is_null(reference_column)) details.reference = one_.bytes32(reference_column);
        }
        one_.finish();
        if (!job || job->row.id != id) return std::nullopt;
        details.job = std::move(*job);
        attempts_.with(id.sequence);
        while (attempts_.next()) details.attempts.push_back(decode_attempt(attempts_));
        attempts_.finish();
        history_.with(id.sequence);
        while (history_.next()) {
            details.history.push_back({std::string(history_.text(0)),
                                       domain::from_unix_ms(history_.integer(1)),
                                       std::string(history_.text(2)), std::string(history_.text(3)),
                                       static_cast<std::uint64_t>(history_.integer(4))});
        }
        history_.finish();
        if (details.reference) details.answers_held = number(held_.with(*details.reference), held_);
        details.result_bytes = number(result_.with(id.sequence), result_);
        return details;
    }

    std::optional<domain::Bytes> payload(const domain::RequestId& id) {
        std::optional<domain::Bytes> payload;
        if (payload_.with(id.sequence, id.random).next()) payload = payload_.bytes(0);
        payload_.finish();
        return payload;
    }

private:
    static constexpr int kind_column = 2;
    static constexpr int held_column = row_column_count + failure_column_count;
    static constexpr int reference_column = held_column + 1;

    static std::unique_ptr<SQLite::Database> newest(const Options& options) {
        auto database = open_for_reading(options);
        require_newest(*database, options);
        return database;
    }

    static std::string columns() {
        return row_columns + ", " + failure_columns +
               ", exists (select 1 from hold where hold.id = request.id and "
               "released = 0)";
    }

    // All statements of a call see the same commit.
    class Snapshot {
    public:
        explicit Snapshot(JobConnection& connection) : connection_(connection) {
            connection_.begin_.with().run();
        }
        ~Snapshot() {
            try {
                connection_.end_.with().run();
            } catch (const StorageError&) {
                // The connection is thrown away for what went wrong before.
            }
        }
        Snapshot(const Snapshot&) = delete;
        Snapshot& operator=(const Snapshot&) = delete;

    private:
        JobConnection& connection_;
    };

    static std::size_t number(Statement& bound, Statement& statement) {
        const std::size_t found =
            bound.next() ? static_cast<std::size_t>(statement.integer(0)) : std::size_t{0};
        statement.finish();
        return found;
    }

    // Nothing: a row that this program never writes; whoever comes upon it in the step ends it.
    static std::optional<Job> read_job(const Statement& statement) {
        std::variant<Row, BrokenRow> decoded = decode_row(statement);
        auto* row = std::get_if<Row>(&decoded);
        if (row == nullptr) return std::nullopt;
        return Job{*row, decode_failure(statement, row_column_count),
                   statement.integer(held_column) != 0};
    }

    // What is not final, the newest first; nothing when that is more than a page may look at.
    std::optional<std::vector<std::int64_t>> in_work(const JobFilter& filter) {
        std::vector<std::int64_t> sequences;
        for (const Lane lane : {Lane::schedule, Lane::gate, Lane::timer}) {
            if (lane == Lane::schedule && !filter.with_shares) continue;
            const std::size_t room = JobReader::rows_max - sequences.size();
            in_work_.with(static_cast<std::int64_t>(lane), room + 1);
            while (in_work_.next()) sequences.push_back(in_work_.integer(0));
            in_work_.finish();
            if (sequences.size() > JobReader::rows_max) return std::nullopt;
        }
        std::ranges::sort(sequences, std::ranges::greater{});
        return sequences;
    }

    JobPage pick(const JobFilter& filter, const std::vector<std::int64_t>& sequences) {
        JobPage page;
        const std::int64_t end = end_of(filter);
        for (const std::int64_t sequence : sequences) {
            if (sequence >= end) continue;
            if (page.jobs.size() == filter.limit) {
                page.further = page.jobs.back().row.id.sequence;
                break;
            }
            std::optional<Job> job;
            if (one_.with(sequence).next()) job = read_job(one_);
            one_.finish();
            if (job && job->row.kind == domain::Kind::share && !filter.with_shares) continue;
            ++page.looked_at;
            if (job && fits(*job, filter)) page.jobs.push_back(std::move(*job));
        }
        return page;
    }

    JobPage scan(const JobFilter& filter) {
        JobPage page;
        std::int64_t last = 0;
        std::size_t passed = 0;
        newest_.with(end_of(filter));
        while (newest_.next()) {
            if (page.jobs.size() == filter.limit || page.looked_at == JobReader::rows_max ||
                passed == JobReader::shares_passed_max) {
                page.further = last;
                break;
            }
            last = newest_.integer(0);
            if (!filter.with_shares && newest_.text(kind_column) == "share") {
                ++passed;
                continue;
            }
            ++page.looked_at;
            std::optional<Job> job = read_job(newest_);
            if (job && fits(*job, filter)) page.jobs.push_back(std::move(*job));
        }
        newest_.finish();
        return page;
    }

    std::unique_ptr<SQLite::Database> database_;
    Statement begin_;
    Statement end_;
    Statement newest_;
    Statement one_;
    Statement in_work_;
    Statement attempts_;
    Statement history_;
    Statement payload_;
    Statement held_;
    Statement result_;
};

}  // namespace

class JobReader::Impl {
public:
    explicit Impl(Options options) : options_(std::move(options)) {}

    template <typename Call>
    auto lend(Call call) {
        const std::lock_guard lock(mutex_);
        try {
            if (!connection_) connection_ = std::make_unique<JobConnection>(options_);
            return call(*connection_);
        } catch (...) {
            connection_.reset();  // what failed is not trusted again
            throw;
        }
    }

private:
    const Options options_;
    std::mutex mutex_;  // guards what follows
    std::unique_ptr<JobConnection> connection_;
};

JobReader::JobReader(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
JobReader::~JobReader() = default;

JobPage JobReader::list(const JobFilter& filter) {
    return impl_->lend([&](JobConnection& connection) { return connection.list(filter); });
}

std::optional<JobDetails> JobReader::find(const domain::RequestId& id) {
    return impl_->lend([&](JobConnection& connection) { return connection.find(id); });
}

std::optional<domain::Bytes> JobReader::payload(const domain::RequestId& id) {
    return impl_->lend([&](JobConnection& connection) { return connection.payload(id); });
}

}  // namespace store
