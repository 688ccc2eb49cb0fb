#include "store/row_counter.hpp"

#include <cassert>

#include "store/database.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

constexpr std::uint64_t rows_between_looks = 4'096;

}  // namespace

class RowCounter::Impl {
public:
    explicit Impl(const Options& options)
        : database_(open_for_reading(options)),
          begin_(*database_, "begin"),
          // No `group by`: it would sort all rows before it counts them.
          all_(*database_, "select kind, status from request") {
        begin_.run();
        // SQLite takes the snapshot with the first row it reads.
        Statement last(*database_, "select max(id) from request");
        [[maybe_unused]] const bool found = last.with().next();
        last.finish();
    }

    std::optional<RowCounts> count(const std::stop_token& stop) {
        RowCounts counts;
        all_.with();
        for (std::uint64_t row = 0; all_.next(); ++row) {
            if (row % rows_between_looks == 0 && stop.stop_requested()) return std::nullopt;
            const auto kind = domain::kind_from(all_.text(0));
            const auto status = domain::status_from(all_.text(1));
            if (!kind || !status) {
                throw StorageError(StorageErrorKind::corrupt,
                                   "a request of a kind or status unknown");
            }
            ++counts.at(*kind, *status);
        }
        return counts;
    }

private:
    std::unique_ptr<SQLite::Database> database_;
    Statement begin_;
    Statement all_;
};

RowCounter::RowCounter(const Options& options) {
    try {
        impl_ = std::make_unique<Impl>(options);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "counting the requests");
    }
}

RowCounter::~RowCounter() = default;

std::optional<RowCounts> RowCounter::count(const std::stop_token& stop) {
    const std::unique_ptr<Impl> once = std::move(impl_);  // closed whatever happens
    assert(once);
    return once->count(stop);
}

}  // namespace store
