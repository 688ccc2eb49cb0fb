#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "bench/bare_journal.hpp"
#include "bench/bodies.hpp"
#include "bench/cluster_nodes.hpp"
#include "bench/http_load.hpp"
#include "bench/load.hpp"
#include "bench/queue_peers.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "support/postgres_server.hpp"

// Vote shares for a second far ahead: nothing is done with them but to store them. Each is accepted
// when the database has it on two disks. Queues and the bare insert use the same pair of servers,
// one after the other, and the queues while no node runs.
namespace bench {

namespace {

struct Figures {
    std::array<Series, queue_peers.size()> queues;
    Series alone;
    Series alone_one_us;
    Series owner;
    Series follower;
    Series owner_one_us;
    Series follower_one_us;
    Series bare_one_us;
    Series paused_one_us;
    Series entry_bytes;
};

struct Stage {
    const Options& options;
    const support::PostgresServer& postgres;
    const Settings& settings;
    const Body& share;
};

HttpLoad::Outcome accept(const Posthouse& posthouse, std::size_t clients, Posts& posts,
                         std::chrono::milliseconds slice) {
    HttpLoad load({.host = "127.0.0.1", .port = posthouse.port(), .connections = clients},
                  far_shares(posts));
    Expectation expectation = share_accepted;
    expectation.watch(load);
    HttpLoad::Outcome outcome = load.run_for(slice);
    expectation.check(outcome);
    return outcome;
}

double median_us(const HttpLoad::Outcome& outcome) {
    return static_cast<double>(outcome.latency(500).count());
}

void measure_queues(const Stage& stage, Figures& figures) {
    const Scratch scratch(stage.options.directory);
    for (std::size_t peer = 0; peer < queue_peers.size(); ++peer) {
        figures.queues[peer].add(queue_rate(stage.options, queue_peers[peer],
                                            stage.postgres.socket(), stage.share, scratch.path()));
    }
}

void measure_alone(const Stage& stage, Figures& figures) {
    const Scratch scratch(stage.options.directory);
    Posthouse posthouse(stage.options, {scratch.path(), {}}, stage.settings);
    Posts posts(stage.share, many_clients);
    const auto slice = stage.options.amount.slice;
    figures.alone.add(accept(posthouse, many_clients, posts, slice).per_second());
    figures.alone_one_us.add(median_us(accept(posthouse, 1, posts, slice)));
    posthouse.stop();
}

// Of those that one client's requests made: each is alone in its entry.
double entry_bytes(const support::PostgresServer& postgres, const std::string& book) {
    return std::stod(
        postgres.ask("select avg(size) from (select octet_length(entry) as size"
                     " from posthouse.journal where book = '" +
                     book + "' order by seq desc limit 20) latest"));
}

void measure_nodes(const Stage& stage, const std::string& book, Figures& figures) {
    const Scratch scratch(stage.options.directory);
    ClusterNodes nodes(stage.options,
                       {book, stage.postgres.database(), scratch.path(), stage.settings});
    Posts posts(stage.share, many_clients);
    const auto slice = stage.options.amount.slice;
    std::uint64_t answers = 0;
    const auto counted = [&answers](HttpLoad::Outcome outcome) {
        answers += outcome.answers;
        return outcome;
    };
    figures.owner.add(counted(accept(nodes.owner(), many_clients, posts, slice)).per_second());
    figures.follower.add(
        counted(accept(nodes.follower(), many_clients, posts, slice)).per_second());

    figures.owner_one_us.add(median_us(counted(accept(nodes.owner(), 1, posts, slice))));
    figures.entry_bytes.add(std::round(entry_bytes(stage.postgres, book)));
    const auto bytes = static_cast<std::size_t>(figures.entry_bytes.samples().back());
    BareJournal bare(stage.postgres.database(), bytes);
    const double bare_us = bare.insert_for(slice).median();
    figures.bare_one_us.add(bare_us);
    // As long as the database has nothing to do between two requests of one client.
    const double pause_us = std::max(figures.owner_one_us.samples().back() - bare_us, 0.0);
    figures.paused_one_us.add(
        bare.insert_for(slice, std::chrono::microseconds(std::llround(pause_us))).median());
    figures.follower_one_us.add(median_us(counted(accept(nodes.follower(), 1, posts, slice))));
    nodes.end(answers);
}

}  // namespace

void measure_cluster_accepts(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    const Scratch scratch(options.directory);
    const ClusterChains chains(options, scratch.path(), share);
    const Settings settings = chains.settings();
    const support::PostgresServer postgres(options.directory);
    const Stage stage{options, postgres, settings, share};
    Figures figures;
    for (std::size_t round = 0; round < options.amount.rounds; ++round) {
        measure_queues(stage, figures);
        measure_alone(stage, figures);
        measure_nodes(stage, "accepts-" + std::to_string(round), figures);
    }
    const std::string many = "cluster, accepts at the owner, 64 clients";
    for (std::size_t peer = 0; peer < queue_peers.size(); ++peer) {
        report.at_least(8, many, "/s", figures.owner, queue_peers[peer], figures.queues[peer]);
    }
    report.at_least(0.4, many, "/s", figures.owner, "one machine", figures.alone);
    report.beside("cluster, accepts through a follower, 64 clients", "/s", figures.follower,
                  "one machine", figures.alone);
    report.note("cluster, entry of one vote share", "B", figures.entry_bytes);
    report.at_most(2, "cluster, one client at the owner, p50", "us", figures.owner_one_us,
                   "bare insert of an entry", figures.bare_one_us);
    report.beside("cluster, one client at the owner, p50", "us", figures.owner_one_us,
                  "bare insert in the same rhythm", figures.paused_one_us);
    report.at_most(3, "cluster, one client through a follower, p50", "us", figures.follower_one_us,
                   "bare insert of an entry", figures.bare_one_us);
    report.note("one machine, one client, p50", "us", figures.alone_one_us);
}

}  // namespace bench
