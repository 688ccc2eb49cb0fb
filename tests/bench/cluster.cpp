#include <stdexcept>

#include "bench/scenarios.hpp"
#include "support/postgres_server.hpp"

namespace bench {

void measure_cluster(const Options& options, Report& report) {
    if (!support::PostgresServer::is_installed()) {
        throw std::runtime_error("PostgreSQL's server is not installed; scripts/bench installs it");
    }
    measure_cluster_accepts(options, report);
    measure_cluster_drain(options, report);
    measure_cluster_book(options, report);
}

}  // namespace bench
