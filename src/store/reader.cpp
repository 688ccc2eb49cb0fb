#include "store/reader.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
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
                "select " + row_columns +
                    ", reason, detail, selector from request where id = ? and random = ?"),
          result_(*database_, "select body from result where id = ?") {}

    std::optional<View> find(const domain::RequestId& id) {
        std::optional<View> view;
        if (find_.with(id.sequence, id.random).next()) {
            view = View{read_row(find_), read_failure(), {}};
            // Read before find_ is finished: a purge between the two could take the result alone.
            if (view->row.status == domain::Status::completed) view->result = read_result(id);
        }
        find_.finish();
        return view;
    }

private:
    std::optional<domain::Bytes> read_result(const domain::RequestId& id) {
        std::optional<domain::Bytes> result;
        if (result_.with(id.sequence).next()) {
            const domain::ByteView body = result_.blob(0);
            result.emplace(body.begin(), body.end());
        }
        result_.finish();
        return result;
    }

    std::optional<domain::Failure> read_failure() const {
        if (find_.is_null(row_column_count)) return std::nullopt;
        domain::Failure failure;
        failure.reason = domain::reason_from(find_.text(row_column_count))
                             .value_or(domain::Reason::internal_error);
        failure.text = std::string(find_.text(row_column_count + 1));
        if (!find_.is_null(row_column_count + 2)) {
            failure.selector = static_cast<std::uint32_t>(find_.integer(row_column_count + 2));
        }
        return failure;
    }

    std::unique_ptr<SQLite::Database> database_;
    Statement find_;
    Statement result_;
};

}  // namespace

class Reader::Impl {
public:
    Impl(Options options, std::size_t connections_max)
        : options_(std::move(options)), connections_max_(connections_max) {}

    std::optional<View> find(const domain::RequestId& id) {
        std::unique_ptr<Connection> connection = borrow();
        try {
            std::optional<View> view = connection->find(id);
            give_back(std::move(connection));
            return view;
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

std::optional<View> Reader::find(const domain::RequestId& id) {
    return impl_->find(id);
}

}  // namespace store
