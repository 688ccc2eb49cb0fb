#include "store/ended_requests.hpp"

#include <string>
#include <utility>
#include <variant>

#include "store/database.hpp"
#include "store/errors.hpp"
#include "store/row_columns.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

constexpr std::size_t rows_per_read = 500;

std::vector<Lane> ended_lanes(bool with_shares) {
    std::vector<Lane> lanes{Lane::ended_input_proof, Lane::ended_public_decrypt,
                            Lane::ended_user_decrypt};
    if (with_shares) lanes.push_back(Lane::ended_share);
    return lanes;
}

}  // namespace

class EndedRequests::Impl {
public:
    Impl(const std::filesystem::path& path, domain::Timestamp since, bool with_shares)
        : since_(since),
          lanes_(ended_lanes(with_shares)),
          database_(open_current(path)),
          begin_(*database_, "begin"),
          commit_(*database_, "commit"),
          // Retention counts from the end, or later: nothing that ended since lies before it.
          rows_(*database_, "select " + row_columns + ", " + failure_columns +
                                ", reference from request where lane = "
                                "?1 and (wake_ms, id) > (?2, ?3) order by wake_ms, id limit ?4"),
          attempts_(*database_,
                    "select " + attempt_columns + " from attempt where id = ? order by ordinal"),
          round_(*database_, "select round_id from round where id = ?"),
          count_(*database_, "select count(*) from request where lane = ? and wake_ms >= ?") {
        begin_lane();
    }

    std::vector<EndedRequest> next() {
        std::vector<EndedRequest> requests;
        while (lane_ < lanes_.size() && requests.empty()) {
            begin_.run();
            const std::size_t seen = read(requests);
            commit_.run();
            if (seen < rows_per_read) {
                ++lane_;
                begin_lane();
            }
        }
        return requests;
    }

    std::uint64_t count() {
        std::uint64_t count = 0;
        for (const Lane lane : lanes_) {
            if (count_.with(static_cast<std::int64_t>(lane), since_).next()) {
                count += static_cast<std::uint64_t>(count_.integer(0));
            }
            count_.finish();
        }
        return count;
    }

    [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

private:
    static std::unique_ptr<SQLite::Database> open_current(const std::filesystem::path& path) {
        auto database = open_for_checking(path);
        if (schema_of(*database) == newest_schema()) return database;
        throw OpenError(path.string() + " has an older schema; start the service on it first");
    }

    void begin_lane() {
        last_wake_ = domain::unix_ms(since_) - 1;
        last_id_ = INT64_MAX;
    }

    // How many rows were seen.
    std::size_t read(std::vector<EndedRequest>& requests) {
        std::size_t seen = 0;
        const auto lane = static_cast<std::int64_t>(lanes_[lane_]);
        for (rows_.with(lane, last_wake_, last_id_, rows_per_read); rows_.next(); ++seen) {
            last_id_ = rows_.integer(0);
            last_wake_ = rows_.integer(5);
            std::variant<Row, BrokenRow> decoded = decode_row(rows_);
            auto* row = std::get_if<Row>(&decoded);
            if (row == nullptr) {
                ++unreadable_;
            } else if (row->since >= since_) {
                requests.push_back(request_of(*row));
            }
        }
        return seen;
    }

    EndedRequest request_of(const Row& row) {
        constexpr int reference_column = row_column_count + failure_column_count;
        EndedRequest request{row, {}, {}, {}, {}};
        request.failure = decode_failure(rows_, row_column_count);
        if (!rows_.is_null(reference_column)) request.reference = rows_.bytes32(reference_column);
        for (attempts_.with(request.row.id.sequence); attempts_.next();) {
            request.attempts.push_back(decode_attempt(attempts_));
        }
        if (request.row.round && round_.with(*request.row.round).next()) {
            request.round_id = round_.bytes32(0);
            round_.finish();
        }
        return request;
    }

    const domain::Timestamp since_;
    const std::vector<Lane> lanes_;
    const std::unique_ptr<SQLite::Database> database_;
    Statement begin_;
    Statement commit_;
    Statement rows_;
    Statement attempts_;
    Statement round_;
    Statement count_;
    std::size_t lane_ = 0;
    std::int64_t last_wake_ = 0;
    std::int64_t last_id_ = 0;
    std::uint64_t unreadable_ = 0;
};

EndedRequests::EndedRequests(const std::filesystem::path& database, domain::Timestamp since,
                             bool with_shares)
    : impl_(std::make_unique<Impl>(database, since, with_shares)) {}

EndedRequests::~EndedRequests() = default;

std::vector<EndedRequest> EndedRequests::next() {
    return impl_->next();
}

std::uint64_t EndedRequests::count() {
    return impl_->count();
}

std::uint64_t EndedRequests::unreadable() const {
    return impl_->unreadable();
}

}  // namespace store
