#include "store/snapshot.hpp"

#include <string>

#include "store/backup_file.hpp"
#include "store/database.hpp"
#include "store/statement.hpp"
#include "store/statement_watch.hpp"

namespace store {

std::uint64_t take_snapshot(const Options& options, const std::filesystem::path& file,
                            const std::function<void()>& look) {
    BackupFile written(file, Leftover::wiped);
    const std::string unfinished = written.unfinished().string();
    {
        const auto database = open_for_reading(options);
        require_known(*database, options);
        // It writes to the other file only.
        database->exec("pragma query_only = off");
        look();
        const StatementWatch watch(*database, look);
        try {
            Statement(*database, "vacuum into ?").with(unfinished).run();
        } catch (const StorageError&) {
            watch.rethrow();
            throw;
        }
    }
    look();
    const std::uint64_t bytes = written.flush();
    written.keep();
    return bytes;
}

}  // namespace store
