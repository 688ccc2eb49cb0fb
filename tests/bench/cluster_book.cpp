#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/bodies.hpp"
#include "bench/cluster_nodes.hpp"
#include "bench/http_load.hpp"
#include "bench/load.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/seeding.hpp"
#include "support/postgres_server.hpp"

// What a book costs: the owner's memory with many rows, and the journal's size while it is trimmed.
namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr double mebibyte = 1U << 20U;
constexpr unsigned snapshot_every_mib = 4;
constexpr double journaled_mib = 2.0 * snapshot_every_mib;
// Two snapshots stay, and the entries since the older one.
constexpr double journal_mib_max = 1.5 * journaled_mib;
constexpr std::uint64_t accepts_per_look = 500;
// Nodes look after this each half minute.
constexpr auto upkeep_patience = 120s;
constexpr auto look_every = 100ms;

void measure_memory(const Options& options, const Body& share, const ClusterChains& chains,
                    const support::PostgresServer& postgres, Report& report) {
    const std::uint64_t rows = options.amount.scheduled;
    const Scratch scratch(options.directory);
    const std::filesystem::path place = ClusterNodes::first_place(scratch.path());
    std::filesystem::create_directories(place);
    seed_shares(data_directory(place), share, rows, [](std::uint64_t number) {
        return domain::Timestamp{std::chrono::seconds(far_second(number))};
    });
    ClusterNodes nodes(options,
                       {"memory", postgres.database(), scratch.path(), chains.settings(), true});
    Posts posts(share, many_clients, rows);
    std::uint64_t answers = 0;
    {
        HttpLoad load(
            {.host = "127.0.0.1", .port = nodes.owner().port(), .connections = many_clients},
            far_shares(posts));
        Expectation expectation = share_accepted;
        expectation.watch(load);
        const HttpLoad::Outcome outcome = load.run_for(options.amount.slice);
        expectation.check(outcome);
        answers = outcome.answers;
    }
    const auto memory = [](const Posthouse& node) {
        return Series({static_cast<double>(node.resident_bytes()) / mebibyte});
    };
    report.note("cluster, scheduled shares in the book", "rows",
                Series({static_cast<double>(rows)}));
    report.bounded(96, "cluster, the owner's memory after the load", "MiB", memory(nodes.owner()));
    report.note("cluster, a follower's memory", "MiB", memory(nodes.follower()));
    nodes.end(rows + answers);
}

const std::string of_book = " where book = 'journal'";

class JournalTable {
public:
    explicit JournalTable(const support::PostgresServer& postgres) : postgres_(postgres) {}

    [[nodiscard]] double mebibytes() const {
        return number("select coalesce(sum(octet_length(entry)), 0) from posthouse.journal" +
                      of_book) /
               mebibyte;
    }
    // With indexes, and what was deleted and not swept yet.
    [[nodiscard]] double disk_mebibytes() const {
        return number("select pg_total_relation_size('posthouse.journal')") / mebibyte;
    }
    [[nodiscard]] double last_entry() const {
        return number("select max(seq) from posthouse.journal" + of_book);
    }
    [[nodiscard]] double newest_snapshot() const {
        return number("select max(seq) from posthouse.snapshot" + of_book);
    }

private:
    [[nodiscard]] double number(const std::string& sql) const {
        return std::stod(postgres_.ask(sql));
    }

    const support::PostgresServer& postgres_;
};

template <class Ready>
bool becomes(const Ready& ready) {
    const auto begin = Stopwatch::now();
    while (!ready()) {
        if (Stopwatch::now() - begin > upkeep_patience) return false;
        std::this_thread::sleep_for(look_every);
    }
    return true;
}

// Each time more than a snapshot waits for; then nothing comes until there is one.
void measure_journal(const Options& options, const Body& share, const ClusterChains& chains,
                     const support::PostgresServer& postgres, Report& report) {
    const Scratch scratch(options.directory);
    Settings settings = chains.settings();
    settings["cluster.snapshot_every"] = std::to_string(snapshot_every_mib);
    ClusterNodes nodes(options, {"journal", postgres.database(), scratch.path(), settings});
    const JournalTable journal(postgres);
    Posts posts(share, many_clients);
    HttpLoad load({.host = "127.0.0.1", .port = nodes.owner().port(), .connections = many_clients},
                  far_shares(posts));
    Expectation expectation = share_accepted;
    expectation.watch(load);
    std::uint64_t answers = 0;
    double written = 0;
    double most = 0;
    for (std::size_t snapshot = 0; snapshot < options.amount.snapshots; ++snapshot) {
        const double before = journal.mebibytes();
        while (journal.mebibytes() < before + journaled_mib) {
            const HttpLoad::Outcome outcome = load.run(accepts_per_look);
            expectation.check(outcome);
            answers += outcome.answers;
        }
        most = std::max(most, journal.mebibytes());
        written += journaled_mib;
        const double last = journal.last_entry();
        if (!becomes([&] { return journal.newest_snapshot() >= last; })) {
            throw std::runtime_error("no node puts a snapshot");
        }
    }
    static_cast<void>(becomes([&] { return journal.mebibytes() <= journal_mib_max; }));
    report.note("cluster, entries written meanwhile", "MiB", Series({written}));
    report.note("cluster, the journal meanwhile, at most", "MiB", Series({most}));
    report.bounded(journal_mib_max, "cluster, the journal, a snapshot each 4 MiB", "MiB",
                   Series({journal.mebibytes()}));
    report.note("cluster, the journal's table on disk", "MiB", Series({journal.disk_mebibytes()}));
    nodes.end(answers);
}

}  // namespace

void measure_cluster_book(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    const Scratch scratch(options.directory);
    const ClusterChains chains(options, scratch.path(), share);
    const support::PostgresServer postgres(options.directory);
    measure_memory(options, share, chains, postgres, report);
    measure_journal(options, share, chains, postgres, report);
}

}  // namespace bench
