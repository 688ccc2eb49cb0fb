#include "store/verify.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <system_error>

#include "store/database.hpp"
#include "store/errors.hpp"
#include "store/row_checks.hpp"
#include "store/statement.hpp"
#include "store/statement_watch.hpp"

namespace store {

namespace {

// Pages read so far; some are read again, so it may be more than there are.
std::uint64_t pages_read(SQLite::Database& database) {
    int now = 0;
    int highest = 0;
    sqlite3_db_status(database.getHandle(), SQLITE_DBSTATUS_CACHE_MISS, &now, &highest, 0);
    return static_cast<std::uint64_t>(now);
}

class Verification {
public:
    Verification(const std::filesystem::path& file, const ports::Progress& progress,
                 const FaultSink& found)
        : progress_(progress), found_(found), database_(open_for_checking(file)) {}

    Verified run() {
        verified_.schema = schema_of(*database_);
        Statement begin(*database_, "begin");
        begin.run();  // one state, should somebody write after all
        check_pages();
        check_foreign_keys();
        verified_.with_rows = verified_.schema == newest_schema();
        if (verified_.with_rows) {
            RowChecks checks(*database_, [this](const Fault& fault) { note(fault); });
            verified_.requests = checks.run(progress_);
        }
        return verified_;
    }

    // Reading came to an end in the middle.
    Verified broke_off(const StorageError& error) {
        note({"file", error.what()});
        verified_.damaged = true;
        return verified_;
    }

private:
    void note(const Fault& fault) {
        ++verified_.faults;
        found_(fault);
    }

    void check_pages() {
        Statement pages(*database_, "pragma page_count");
        const auto total =
            pages.with().next() ? static_cast<std::uint64_t>(pages.integer(0)) : std::uint64_t{0};
        pages.finish();
        const auto look = [&] {
            progress_({"pages", std::min(pages_read(*database_), total), total});
        };
        const StatementWatch watch(*database_, look);
        try {
            look();
            Statement check(*database_, "pragma integrity_check(100)");
            while (check.next()) {
                if (check.text(0) == "ok") continue;
                note({"file", std::string(check.text(0))});
                verified_.damaged = true;
            }
        } catch (const StorageError&) {
            watch.rethrow();
            throw;
        }
    }

    void check_foreign_keys() {
        Statement check(*database_, "pragma foreign_key_check");
        while (check.next()) {
            note({"table " + std::string(check.text(0)),
                  "row " + (check.is_null(1) ? "without a number" : std::string(check.text(1))) +
                      " belongs to a row of " + std::string(check.text(2)) + " that is not there"});
        }
    }

    const ports::Progress& progress_;
    const FaultSink& found_;
    const std::unique_ptr<SQLite::Database> database_;
    Verified verified_;
};

}  // namespace

Verified verify(const std::filesystem::path& file, const ports::Progress& progress,
                const FaultSink& found) {
    std::error_code missing;
    if (!std::filesystem::is_regular_file(file, missing)) {
        throw OpenError(file.string() + " is no file");
    }
    std::unique_ptr<Verification> verification;
    try {
        verification = std::make_unique<Verification>(file, progress, found);
        return verification->run();
    } catch (const StorageError& error) {
        if (error.kind() != StorageErrorKind::corrupt) throw;
        if (verification) return verification->broke_off(error);
        found({"file", error.what()});
        return {.faults = 1, .damaged = true};
    }
}

}  // namespace store
