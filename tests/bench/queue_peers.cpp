#include "bench/queue_peers.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>

#include "bench/child.hpp"
#include "bench/load.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

struct Shape {
    std::size_t threads = 1;
    std::size_t connections = many_clients;
};

constexpr std::array shapes{Shape{1, many_clients}, Shape{2, many_clients / 2},
                            Shape{1, many_clients / 4}};

double number_in(const std::filesystem::path& file) {
    std::ifstream stream(file);
    double number = 0;
    if (stream >> number) return number;
    throw std::runtime_error("no figure in " + file.string());
}

}  // namespace

double queue_rate(const Options& options, const std::string& peer, const std::string& socket,
                  const Body& body, const std::filesystem::path& directory) {
    const std::filesystem::path job = directory / "job.json";
    std::ofstream(job) << body.text();
    const std::filesystem::path output = directory / "peer.output";
    double best = 0;
    for (const Shape& shape : shapes) {
        std::filesystem::remove(output);
        run_to_end({.arguments = {"node", options.peers.string(), peer, socket, job.string(),
                                  std::to_string(options.amount.slice.count()),
                                  std::to_string(many_clients), std::to_string(shape.threads),
                                  std::to_string(shape.connections)},
                    .environment = {},
                    .output = output},
                   options.amount.slice + 60s);
        best = std::max(best, number_in(output));
    }
    return best;
}

}  // namespace bench
