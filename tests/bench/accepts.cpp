#include <stdexcept>
#include <string>

#include "bench/bare.hpp"
#include "bench/beanstalk.hpp"
#include "bench/bodies.hpp"
#include "bench/empty_handler.hpp"
#include "bench/http_load.hpp"
#include "bench/inspection.hpp"
#include "bench/load.hpp"
#include "bench/posthouse.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"

namespace bench {

namespace {

struct Figures {
    Series syncs;
    Series bare_groups;
    Series bare_rows;
    Series bare_proofs;
    Series empty_handler;
    Series beanstalkd;
    Series beanstalkd_of_one;
    Series shares;
    Series shares_p99_ms;
    Series shares_of_one;
    Series slow_shares;  // every sync delayed
    Series slow_shares_of_crowd;
    Series proofs;
};

HttpLoad::Request all_from(Posts& posts) {
    return [&posts](std::size_t connection, std::uint64_t) { return posts.next(connection); };
}

// What was answered must be there after a kill.
void check_durable(Posthouse& posthouse, const std::filesystem::path& directory,
                   std::uint64_t answers) {
    posthouse.kill_hard();
    Inspection inspection(data_directory(directory), ledger_file(directory));
    if (const std::uint64_t rows = inspection.requests(); rows < answers) {
        throw std::runtime_error("only " + std::to_string(rows) + " rows for " +
                                 std::to_string(answers) + " answers");
    }
}

double empty_handler_rate(const Options& options, const Body& share) {
    const Scratch scratch(options.directory);
    const EmptyHandler handler(options.bench, scratch.path());
    Posts posts(share, many_clients);
    return load_for(handler.port(), many_clients, far_shares(posts), options.amount.slice,
                    {"the empty handler", 200, ""})
        .per_second();
}

double beanstalkd_rate(const Options& options, const Body& share, std::size_t clients) {
    const std::uint64_t jobs_per_ms = clients == 1 ? 1 : 10;
    const Scratch scratch(options.directory);
    const Beanstalkd beanstalkd(scratch.path());
    BeanstalkLoad load(beanstalkd.port(), clients);
    const auto slice_ms = static_cast<std::uint64_t>(options.amount.slice.count());
    return load.put(share, slice_ms * jobs_per_ms);
}

void measure_shares(const Options& options, const Body& share, Figures& figures) {
    const Scratch scratch(options.directory);
    Posthouse posthouse(options, {scratch.path(), {}}, standing_still());
    Posts posts(share, many_clients);
    const auto many = load_for(posthouse.port(), many_clients, far_shares(posts),
                               options.amount.slice, share_accepted);
    const auto one =
        load_for(posthouse.port(), 1, far_shares(posts), options.amount.slice, share_accepted);
    figures.shares.add(many.per_second());
    figures.shares_p99_ms.add(many.latency_ms(990));
    figures.shares_of_one.add(one.per_second());
    check_durable(posthouse, scratch.path(), many.answers + one.answers);
}

void measure_slow_shares(const Options& options, const Body& share, Figures& figures) {
    const Scratch scratch(options.directory);
    Posthouse posthouse(options, {scratch.path(), slow_syncs(options)}, standing_still());
    Posts posts(share, crowd_clients);
    const auto many = load_for(posthouse.port(), many_clients, far_shares(posts),
                               options.amount.slice, share_accepted);
    const auto crowd = load_for(posthouse.port(), crowd_clients, far_shares(posts),
                                options.amount.slice, share_accepted);
    figures.slow_shares.add(many.per_second());
    figures.slow_shares_of_crowd.add(crowd.per_second());
    check_durable(posthouse, scratch.path(), many.answers + crowd.answers);
}

void measure_proofs(const Options& options, const Body& proof, Figures& figures) {
    const Scratch scratch(options.directory);
    Posthouse posthouse(options, {scratch.path(), {}}, standing_still());
    Posts posts(proof, many_clients);
    const auto outcome = load_for(posthouse.port(), many_clients, all_from(posts),
                                  options.amount.slice, job_accepted);
    figures.proofs.add(outcome.per_second());
    check_durable(posthouse, scratch.path(), outcome.answers);
}

template <typename Measure>
double in_scratch(const Options& options, Measure measure) {
    const Scratch scratch(options.directory);
    return measure(scratch.path());
}

void measure_peers(const Options& options, const Body& share, Figures& figures) {
    const auto slice = options.amount.slice;
    figures.syncs.add(
        in_scratch(options, [&](const auto& path) { return sync_rate(path, slice / 3); }));
    figures.beanstalkd.add(beanstalkd_rate(options, share, many_clients));
    figures.beanstalkd_of_one.add(beanstalkd_rate(options, share, 1));
    figures.empty_handler.add(empty_handler_rate(options, share));
}

void measure_bare(const Options& options, const Body& share, const Body& proof, Figures& figures) {
    const auto slice = options.amount.slice;
    figures.bare_rows.add(in_scratch(
        options, [&](const auto& path) { return bare_share_rate(path, share, 1, slice); }));
    figures.bare_groups.add(in_scratch(options, [&](const auto& path) {
        return bare_share_rate(path, share, many_clients, slice);
    }));
    figures.bare_proofs.add(
        in_scratch(options, [&](const auto& path) { return bare_proof_rate(path, proof, slice); }));
}

}  // namespace

void measure_accepts(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    const Body proof = Body::input_proof(options.bodies);
    Figures figures;
    for (std::size_t round = 0; round < options.amount.rounds; ++round) {
        if (!options.alone) measure_peers(options, share, figures);
        measure_shares(options, share, figures);
        if (!options.alone) measure_bare(options, share, proof, figures);
        measure_proofs(options, proof, figures);
        measure_slow_shares(options, share, figures);
    }
    const std::string many = "accepts, vote shares, 64 clients";
    const std::string one = "accepts, vote shares, one client";
    report.note("fdatasync, 4 KiB appends", "/s", figures.syncs);
    report.at_least(1.2, many, "/s", figures.shares, "bare commits of 64", figures.bare_groups);
    report.at_least(1.4, many, "/s", figures.shares, "beanstalkd -f0 put", figures.beanstalkd);
    report.at_least(0.5, many, "/s", figures.shares, "empty handler", figures.empty_handler);
    report.bounded(10, many + ", p99", "ms", figures.shares_p99_ms);
    report.reaches(15'000, many + ", every sync +2 ms", "/s", figures.slow_shares);
    report.reaches(15'000, "accepts, vote shares, 256 clients, every sync +2 ms", "/s",
                   figures.slow_shares_of_crowd);
    report.at_least(0.7, "accepts, input proofs, 64 clients", "/s", figures.proofs,
                    "parse+hash+bare commits of 64", figures.bare_proofs);
    report.at_least(0.8, one, "/s", figures.shares_of_one, "bare one-row commits",
                    figures.bare_rows);
    report.at_least(1.0, one, "/s", figures.shares_of_one, "beanstalkd -f0 put, one client",
                    figures.beanstalkd_of_one);
}

}  // namespace bench
