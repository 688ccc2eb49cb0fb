#include "bench/posthouse.hpp"

#include <httplib.h>

#include <fstream>
#include <stdexcept>

#include "bench/load.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

std::filesystem::path log_file(const std::filesystem::path& directory) {
    return directory / "posthouse.output";
}

constexpr const char* queue_capacity = "10000000";

// A minute: a slow start is a figure, not an accident.
constexpr auto start_patience = 60s;
constexpr auto stop_patience = 20s;

Child::Command command(const Options& options, const Posthouse::DataPlace& place, Settings settings,
                       int port, int metrics_port) {
    settings["metrics.endpoint"] = "\"127.0.0.1:" + std::to_string(metrics_port) + '"';
    return {.arguments = {options.posthouse.string(), "serve", "--config",
                          write_config(place.directory, settings).string(), "--data-dir",
                          data_directory(place.directory).string(), "--listen",
                          "127.0.0.1:" + std::to_string(port)},
            .environment = place.environment,
            .output = log_file(place.directory)};
}

}  // namespace

Settings unlimited() {
    Settings settings{{"gateway.tx_engine.max_concurrency", "100000"},
                      {"helper.max_concurrent_proofs", "1000"}};
    for (const char* stage : {"readiness", "prepare", "proof", "confirmation", "response"}) {
        settings[std::string("gateway.loopback.") + stage] = "\"0ms\"";
    }
    for (const char* family : {"input_proof", "public_decrypt", "user_decrypt"}) {
        const std::string gate = std::string("gateway.tx_engine.tx_throttlers.") + family;
        settings[gate + ".per_seconds"] = "1000000";
        settings[gate + ".capacity"] = queue_capacity;
    }
    for (const char* family : {"public_decrypt", "user_decrypt"}) {
        const std::string gate = std::string("gateway.readiness_checker.") + family;
        settings[gate + ".max_concurrency"] = "100000";
        settings[gate + ".capacity"] = queue_capacity;
    }
    return settings;
}

Settings standing_still() {
    return {{"gateway.loopback.readiness", "\"1d\""},
            {"gateway.tx_engine.tx_throttlers.input_proof.per_seconds", "1"},
            {"gateway.tx_engine.tx_throttlers.input_proof.capacity", queue_capacity}};
}

std::vector<std::string> slow_syncs(const Options& options) {
    return {"LD_PRELOAD=" + options.slow_sync.string(), "SLOW_SYNC_US=2000"};
}

std::filesystem::path write_config(const std::filesystem::path& directory,
                                   const Settings& settings) {
    std::filesystem::path config = directory / "config.toml";
    std::ofstream stream(config);
    // It may name a key.
    std::filesystem::permissions(
        config, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    for (const auto& [key, value] : settings) stream << key << " = " << value << '\n';
    if (!stream.flush()) throw std::runtime_error("can not write " + config.string());
    return config;
}

std::filesystem::path data_directory(const std::filesystem::path& directory) {
    return directory / "data";
}

std::filesystem::path ledger_file(const std::filesystem::path& directory) {
    return data_directory(directory) / "loopback.db";
}

Posthouse::Posthouse(const Options& options, const DataPlace& place, const Settings& settings)
    : port_(place.port == 0 ? free_port() : place.port),
      metrics_port_(free_port()),
      started_(Stopwatch::now()),
      child_(command(options, place, settings, port_, metrics_port_)) {
    wait_until(
        child_, log_file(place.directory), [this] { return is_alive(port_); }, start_patience);
    seconds_to_ready_ = seconds_since(started_);
}

double Posthouse::metric(const std::string& series) const {
    const auto answer = httplib::Client("127.0.0.1", metrics_port_).Get("/metrics");
    if (!answer || answer->status != 200) throw std::runtime_error("posthouse serves no metrics");
    const std::string line = '\n' + series + ' ';
    const std::size_t at = answer->body.find(line);
    if (at == std::string::npos) throw std::runtime_error("posthouse does not serve " + series);
    return std::stod(answer->body.substr(at + line.size()));
}

void Posthouse::stop() {
    if (!child_.stop(stop_patience)) throw std::runtime_error("posthouse did not stop well");
}

}  // namespace bench
