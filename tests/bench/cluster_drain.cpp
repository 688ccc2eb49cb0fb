#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/bodies.hpp"
#include "bench/cluster_nodes.hpp"
#include "bench/inspection.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/seeding.hpp"
#include "support/postgres_server.hpp"

// As the drain of one machine: shares that lie in the file, all for the same second. A chain of its
// own takes them as fast as it is told of them, and costs both the same.
namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 2ms;
constexpr auto patience = 300s;
// From seeding to a book that two nodes have read from the database.
constexpr auto start_at_least = 30s;
constexpr std::uint64_t started_per_ms = 2;

std::uint64_t leaves_for(const Options& options) {
    return options.amount.drained / seeded_per_leaf + 1;
}

domain::Timestamp seed(const Options& options, const std::filesystem::path& place,
                       const Body& share, std::chrono::milliseconds start) {
    const domain::Timestamp opening = std::chrono::ceil<std::chrono::seconds>(wall_now() + start);
    seed_shares(data_directory(place), share, options.amount.drained,
                [opening](std::uint64_t) { return opening; });
    return opening;
}

double drained_rate_of(const Options& options, const std::filesystem::path& place,
                       const ClusterChains& chains, domain::Timestamp opening) {
    const std::uint64_t shares = options.amount.drained;
    if (wall_now() >= opening) throw std::runtime_error("starting took too long for the drain");
    Inspection inspection(data_directory(place), ledger_file(place));
    std::this_thread::sleep_until(opening);
    const auto begin = Stopwatch::now();
    while (!inspection.all_ended()) {
        if (Stopwatch::now() - begin > patience) throw std::runtime_error("the drain stands still");
        std::this_thread::sleep_for(look_every);
    }
    const double seconds = seconds_since(begin);

    const std::uint64_t completed = inspection.completed();
    const VoteChain::Reveals reveals = chains.reveals();
    if (completed != shares || reveals.different != shares || reveals.repeated > 0) {
        throw std::runtime_error("of " + std::to_string(shares) + " shares " +
                                 std::to_string(completed) + " completed, " +
                                 std::to_string(reveals.different) + " were revealed and " +
                                 std::to_string(reveals.repeated) + " once more");
    }
    return static_cast<double>(shares) / seconds;
}

double drain_alone(const Options& options, const Body& share) {
    const Scratch scratch(options.directory);
    const ClusterChains chains(options, scratch.path(), share, leaves_for(options));
    const domain::Timestamp opening =
        seed(options, scratch.path(), share,
             10s + std::chrono::milliseconds(options.amount.drained / started_per_ms));
    Posthouse posthouse(options, {scratch.path(), {}}, chains.settings());
    const double rate = drained_rate_of(options, scratch.path(), chains, opening);
    posthouse.stop();
    return rate;
}

struct Figures {
    Series alone;
    Series cluster;
    Series journal_bytes;  // of each share, from its moment to its end
};

double journal_bytes(const support::PostgresServer& postgres, const std::string& book) {
    return std::stod(
        postgres.ask("select coalesce(sum(octet_length(entry)), 0) from posthouse.journal"
                     " where book = '" +
                     book + "'"));
}

void drain_nodes(const Options& options, const Body& share, const support::PostgresServer& postgres,
                 const std::string& book, Figures& figures) {
    const Scratch scratch(options.directory);
    const ClusterChains chains(options, scratch.path(), share, leaves_for(options));
    const std::filesystem::path place = ClusterNodes::first_place(scratch.path());
    std::filesystem::create_directories(place);
    const domain::Timestamp opening =
        seed(options, place, share,
             start_at_least + std::chrono::milliseconds(options.amount.drained / started_per_ms));
    ClusterNodes nodes(options,
                       {book, postgres.database(), scratch.path(), chains.settings(), true});
    const double before = journal_bytes(postgres, book);
    figures.cluster.add(drained_rate_of(options, place, chains, opening));
    figures.journal_bytes.add((journal_bytes(postgres, book) - before) /
                              static_cast<double>(options.amount.drained));
    nodes.end(options.amount.drained);
}

}  // namespace

void measure_cluster_drain(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    const support::PostgresServer postgres(options.directory);
    Figures figures;
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        figures.alone.add(drain_alone(options, share));
        drain_nodes(options, share, postgres, "drain-" + std::to_string(round), figures);
    }
    report.at_least(0.4, "cluster, drain, vote shares", "/s", figures.cluster, "one machine",
                    figures.alone);
    report.note("cluster, entries of a share that is drained", "B", figures.journal_bytes);
}

}  // namespace bench
