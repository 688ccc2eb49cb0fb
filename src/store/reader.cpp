#include "store/reader.hpp"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "store/database.hpp"
#include "store/row_columns.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

// One read-only connection with its statements.
class Connection {
public:
    explicit Connection(const Options& options)
        : database_(open_for_reading(options)),
          find_(*database_,
                "select " + row_columns + ", " + failure_columns +
                    ", exists (select 1 from hold where hold.id = "
                    "request.id and released = 0) from request where id = ? and random = ?"),
          result_(*database_, "select body from result where id = ?"),
          vote_end_(*database_, "select vote_end_ms from round where round_id = ?"),
          round_queues_(*database_,
                        "select round_id, submitted, failed, total - timed_out from round "
                        "where closed = 0 and total > timed_out order by vote_end_ms, id"),
          in_work_(*database_,
                   "select kind, status, status_ms, lane, client from request where lane in (" +
                       number_of(Lane::gate) + ", " + number_of(Lane::timer) + ")"),
          held_(*database_,
                "select count(*) from hold join request using (id) "
                "where released = 0 and lane < 8"),
          earliest_wake_(*database_, "select min(wake_ms) from request where lane = ?") {}

    std::optional<StoredRequest> find(const domain::RequestId& id) {
        std::optional<StoredRequest> stored;
        if (find_.with(id.sequence, id.random).next()) {
            stored = StoredRequest{row(), decode_failure(find_, row_column_count), {}, false};
            stored->held = find_.integer(row_column_count + failure_column_count) != 0;
            // Read before find_ is finished: a purge between the two could take the result alone.
            if (stored->row.status == domain::Status::completed) stored->result = read_result(id);
        }
        find_.finish();
        return stored;
    }

    std::optional<domain::Timestamp> vote_end(const domain::Bytes32& round_id) {
        std::optional<domain::Timestamp> end;
        if (vote_end_.with(round_id).next()) end = domain::from_unix_ms(vote_end_.integer(0));
        vote_end_.finish();
        return end;
    }

    std::vector<RoundCounts> round_queues() {
        std::vector<RoundCounts> rounds;
        round_queues_.with();
        while (round_queues_.next()) {
            RoundCounts& round = rounds.emplace_back();
            round.round_id = round_queues_.bytes32(0);
            round.submitted = static_cast<std::uint64_t>(round_queues_.integer(1));
            round.failed = static_cast<std::uint64_t>(round_queues_.integer(2));
            round.total = static_cast<std::uint64_t>(round_queues_.integer(3));
            const std::uint64_t ended = round.submitted + round.failed;
            round.pending = round.total - std::min(round.total, ended);
        }
        round_queues_.finish();
        return rounds;
    }

    Backlog backlog() {
        Backlog backlog;
        in_work_.with();
        while (in_work_.next()) note_in_work(backlog);
        in_work_.finish();
        if (held_.with().next()) backlog.held = static_cast<std::uint64_t>(held_.integer(0));
        held_.finish();
        backlog.earliest_scheduled = earliest_wake(Lane::schedule);
        backlog.earliest_timer = earliest_wake(Lane::timer);
        return backlog;
    }

private:
    static std::string number_of(Lane lane) { return std::to_string(static_cast<int>(lane)); }

    static void keep_earlier(std::optional<domain::Timestamp>& kept, domain::Timestamp time) {
        kept = std::min(kept.value_or(time), time);
    }

    void note_in_work(Backlog& backlog) const {
        const auto kind = domain::kind_from(in_work_.text(0));
        const auto status = domain::status_from(in_work_.text(1));
        if (!kind || !status) return;
        const domain::Timestamp since = domain::from_unix_ms(in_work_.integer(2));
        ++backlog.count.at(*kind, *status);
        if (*kind != domain::Kind::share) ++backlog.of_client[in_work_.integer(4)];
        keep_earlier(backlog.oldest.at(*kind, *status), since);
        if (in_work_.integer(3) == static_cast<std::int64_t>(Lane::gate)) {
            keep_earlier(backlog.oldest_at_gate, since);
        }
    }

    [[nodiscard]] Row row() const {
        std::variant<Row, BrokenRow> decoded = decode_row(find_);
        if (auto* row = std::get_if<Row>(&decoded)) return *row;
        // The writer ends it when it comes upon it.
        throw StorageError(StorageErrorKind::other, "a stored request can not be read: " +
                                                        std::get<BrokenRow>(decoded).problem);
    }

    std::optional<domain::Timestamp> earliest_wake(Lane lane) {
        std::optional<domain::Timestamp> wake;
        earliest_wake_.with(static_cast<std::int64_t>(lane));
        if (earliest_wake_.next() && !earliest_wake_.is_null(0)) {
            wake = domain::from_unix_ms(earliest_wake_.integer(0));
        }
        earliest_wake_.finish();
        return wake;
    }

    std::optional<domain::Bytes> read_result(const domain::RequestId& id) {
        std::optional<domain::Bytes> result;
        if (result_.with(id.sequence).next()) result = result_.bytes(0);
        result_.finish();
        return result;
    }

    std::unique_ptr<SQLite::Database> database_;
    Statement find_;
    Statement result_;
    Statement vote_end_;
    Statement round_queues_;
    Statement in_work_;
    Statement held_;
    Statement earliest_wake_;
};

}  // namespace

class Reader::Impl {
public:
    Impl(Options options, std::size_t connections_max)
        : options_(std::move(options)), connections_max_(connections_max) {
        assert(connections_max_ > 0);  // or every call would wait for ever
    }

    // Lends a connection to one call.
    template <typename Call>
    auto lend(Call call) {
        std::unique_ptr<Connection> connection = borrow();
        try {
            auto answer = call(*connection);
            give_back(std::move(connection));
            return answer;
        } catch (...) {
            give_back(nullptr);  // a connection that failed is not trusted again
            throw;
        }
    }

private:
    std::unique_ptr<Connection> borrow() {
        std::unique_lock lock(mutex_);
        returned_.wait(lock, [&] { return !idle_.empty() || lent_ < connections_max_; });
        ++lent_;
        assert(lent_ <= connections_max_);
        if (!idle_.empty()) {
            std::unique_ptr<Connection> connection = std::move(idle_.back());
            idle_.pop_back();
            return connection;
        }
        lock.unlock();
        try {
            return std::make_unique<Connection>(options_);
        } catch (...) {
            give_back(nullptr);
            throw;
        }
    }

    void give_back(std::unique_ptr<Connection> connection) {
        {
            const std::lock_guard lock(mutex_);
            assert(lent_ > 0);
            --lent_;
            if (connection) idle_.push_back(std::move(connection));
        }
        returned_.notify_one();
    }

    const Options options_;
    const std::size_t connections_max_;
    std::mutex mutex_;  // guards what follows; any thread
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Connection>> idle_;
    std::size_t lent_ = 0;
};

Reader::Reader(const Options& options, std::size_t connections_max)
    : impl_(std::make_unique<Impl>(options, connections_max)) {}
Reader::~Reader() = default;

std::optional<StoredRequest> Reader::find(const domain::RequestId& id) {
    return impl_->lend([&](Connection& connection) { return connection.find(id); });
}

std::optional<domain::Timestamp> Reader::vote_end(const domain::Bytes32& round_id) {
    return impl_->lend([&](Connection& connection) { return connection.vote_end(round_id); });
}

std::vector<RoundCounts> Reader::round_queues() {
    return impl_->lend([](Connection& connection) { return connection.round_queues(); });
}

Backlog Reader::backlog() {
    return impl_->lend([](Connection& connection) { return connection.backlog(); });
}

}  // namespace store
