#include "store/digest.hpp"

#include "store/database.hpp"
#include "store/journaled_tables.hpp"
#include "store/slices.hpp"
#include "store/statement.hpp"

namespace store {

domain::Bytes32 digest_of_rows(const Options& options) {
    const auto database = open_for_reading(options);
    require_known(*database, options);
    try {
        SQLite::Transaction one_moment(*database);
        const domain::Bytes32 digest =
            Slices(*database, journaled_tables(*database)).digest_of_all();
        one_moment.commit();
        return digest;
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "reading " + database_path(options).string());
    }
}

}  // namespace store
