#pragma once

#include "bench/options.hpp"
#include "bench/report.hpp"

namespace bench {

// Durable accepts over HTTP, each beside its limit.
void measure_accepts(const Options& options, Report& report);

// From queued to completed on a chain without latency, also with slow syncs.
void measure_drain(const Options& options, Report& report);

// How long after their moment shares reach the chain.
void measure_lateness(const Options& options, Report& report);

// Transactions per second on a real chain: the rate that is configured, without one, and
// with several keys.
void measure_chain(const Options& options, Report& report);
void measure_chain_rate(const Options& options, Report& report);
void measure_chain_unlimited(const Options& options, Report& report);
void measure_chain_keys(const Options& options, Report& report);

// Three nodes on PostgreSQL: beside queues there, beside one machine, and what a big book costs.
void measure_cluster(const Options& options, Report& report);
void measure_cluster_accepts(const Options& options, Report& report);
void measure_cluster_drain(const Options& options, Report& report);
void measure_cluster_book(const Options& options, Report& report);

// How long an accept takes, over how many clients post at once.
void measure_latency(const Options& options, Report& report);

// What accepts cost over how many requests the store holds already.
void measure_stored(const Options& options, Report& report);

// What a big store of scheduled shares costs.
void measure_scheduled(const Options& options, Report& report);

}  // namespace bench
