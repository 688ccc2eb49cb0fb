#include <sqlite3.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "bench/busy.hpp"
#include "bench/empty_handler.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"

namespace {

using Scenario = void (*)(const bench::Options&, bench::Report&);

const std::vector<std::pair<std::string, Scenario>> scenarios{
    {"accepts", bench::measure_accepts},     {"chain", bench::measure_chain},
    {"cluster", bench::measure_cluster},     {"drain", bench::measure_drain},
    {"latency", bench::measure_latency},     {"lateness", bench::measure_lateness},
    {"scheduled", bench::measure_scheduled}, {"stored", bench::measure_stored},
};

constexpr std::chrono::seconds busy_over{2};
constexpr int exit_status_usage = 2;

std::set<std::string> scenario_names() {
    std::set<std::string> names;
    for (const auto& [name, scenario] : scenarios) names.insert(name);
    return names;
}

std::vector<std::pair<std::string, std::string>> facts(bool quick) {
    utsname system{};
    ::uname(&system);
    return {{"amount", quick ? "quick" : "full"},
            {"cores", std::to_string(std::thread::hardware_concurrency())},
            {"kernel", std::string(system.sysname) + " " + system.release},
            {"sqlite", sqlite3_libversion()}};
}

void run(const bench::Options& options, const std::vector<std::string>& only,
         bench::Report& report) {
    if (bench::is_in_memory(options.directory)) {
        throw std::runtime_error(options.directory.string() +
                                 " lies in memory, where a flush costs nothing; use --dir with a "
                                 "directory on a disk");
    }
    for (const auto& [name, measure] : scenarios) {
        const bool wanted = only.empty() || std::ranges::find(only, name) != only.end();
        if (!wanted) continue;
        report.begin(name, bench::busy_percent(busy_over));
        measure(options, report);
    }
}

}  // namespace

int main(int count, char** words) {
    CLI::App app("Measures posthouse, each figure beside what limits it, in turns in one run.");
    bench::Options options;
    options.bench = std::filesystem::read_symlink("/proc/self/exe");
    std::filesystem::path json = "bench-results.json";
    std::vector<std::string> only;
    bool quick = false;
    std::size_t rounds = 0;
    int empty_handler_port = 0;
    app.add_option("--posthouse", options.posthouse, "The binary to measure")->take_last();
    app.add_option("--slow-sync", options.slow_sync, "The library that delays syncs")->take_last();
    app.add_option("--bodies", options.bodies, "Folder of the sample bodies")->take_last();
    app.add_option("--anvil", options.anvil, "The program of the development chain")->take_last();
    app.add_option("--contracts", options.contracts, "Its contracts, compiled")->take_last();
    app.add_option("--dir", options.directory, "Where to keep data while measuring; on a disk")
        ->default_val(".")
        ->take_last();
    app.add_option("--peers", options.peers, "The script that fills queues on PostgreSQL")
        ->take_last();
    app.add_option("--json", json, "Where to write the figures")
        ->capture_default_str()
        ->take_last();
    app.add_option("--only", only, "Scenarios to run; default: all")
        ->check(CLI::IsMember(scenario_names()));
    app.add_flag("--quick", quick, "Small counts: shows that it works, proves nothing");
    app.add_option("--rounds", rounds, "Turns of every comparison; default: three to five")
        ->check(CLI::PositiveNumber);
    app.add_flag("--alone", options.alone, "accepts and drain without their peers");
    app.add_option("--empty-handler", empty_handler_port)->group("");
    try {
        app.parse(count, words);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? EXIT_SUCCESS : exit_status_usage;
    }
    if (quick) options.amount = bench::quick_amount();
    if (rounds != 0) options.amount.rounds = options.amount.drain_rounds = rounds;

    bench::Report report;
    int status = EXIT_SUCCESS;
    try {
        if (empty_handler_port != 0) bench::EmptyHandler::serve(empty_handler_port);
        run(options, only, report);
    } catch (const std::exception& error) {
        std::cerr << "bench: " << error.what() << '\n';
        status = EXIT_FAILURE;
    }
    report.print(std::cout);
    report.write_json(json, facts(quick));
    return status;
}
