#include "bench/cluster_nodes.hpp"

#include <httplib.h>

#include <array>
#include <chrono>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>

#include "bench/child.hpp"
#include "bench/inspection.hpp"
#include "bench/measure.hpp"
#include "domain/bytes.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::array names{"a", "b", "c"};
// A book of gigabytes is put into the database and read from there.
constexpr auto patience = 600s;
constexpr auto look_every = 20ms;

std::string quoted(const std::string& text) {
    return '"' + text + '"';
}

void write_key(const std::filesystem::path& file) {
    std::random_device random;
    domain::Bytes32 key{};
    for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random());
    std::ofstream(file) << domain::to_hex(key) << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
}

// As the node says itself: it owns the book, or has the file and follows.
bool is_well(int port, const std::string& role) {
    httplib::Client client("127.0.0.1", port);
    const auto answer = client.Get("/healthz");
    return answer && answer->status == 200 && answer->body.find(role) != std::string::npos;
}

template <class Ready>
void wait_for(const std::string& what, const Ready& ready) {
    const auto begin = Stopwatch::now();
    while (!ready()) {
        if (Stopwatch::now() - begin > patience) throw std::runtime_error(what);
        std::this_thread::sleep_for(look_every);
    }
}

Settings settings_of(const ClusterNodes::Book& book, const std::string& node, int port) {
    Settings settings = book.settings;
    settings["cluster.database"] = quoted(book.database);
    settings["cluster.name"] = quoted(book.name);
    settings["cluster.node"] = quoted(node);
    settings["cluster.url"] = quoted("http://127.0.0.1:" + std::to_string(port));
    settings["cluster.key_file"] = quoted((book.directory / "key").string());
    return settings;
}

void make_book(const Options& options, const ClusterNodes::Book& book, const Settings& settings) {
    const std::filesystem::path place = ClusterNodes::first_place(book.directory);
    Child::Command command{.arguments = {options.posthouse.string(), "cluster", "init", "--config",
                                         write_config(place, settings).string(), "--data-dir",
                                         data_directory(place).string()},
                           .environment = {},
                           .output = place / "init.output"};
    if (book.is_seeded) {
        command.arguments.insert(command.arguments.end(),
                                 {"--from", data_directory(place).string()});
    }
    run_to_end(command, patience);
}

}  // namespace

ClusterChains::ClusterChains(const Options& options, const std::filesystem::path& directory,
                             const Body& share, std::uint64_t leaves)
    : anvil_(options, directory), votes_(share, leaves) {}

Settings ClusterChains::settings() const {
    Settings settings = on_chain(anvil_, anvil_.port());
    votes_.put_into(settings);
    return settings;
}

std::filesystem::path ClusterNodes::first_place(const std::filesystem::path& directory) {
    return directory / names.front();
}

ClusterNodes::ClusterNodes(const Options& options, const Book& book) : directory_(book.directory) {
    write_key(directory_ / "key");
    for (const std::string name : names) {
        const std::filesystem::path place = directory_ / name;
        std::filesystem::create_directories(place);
        const int port = free_port();
        const Settings settings = settings_of(book, name, port);
        const bool is_first = nodes_.empty();
        if (is_first) make_book(options, book, settings);
        nodes_.emplace_back(options, Posthouse::DataPlace{place, {}, port}, settings);
        const std::string role = is_first ? R"("role":"owner")" : R"("role":"follower")";
        wait_for("node " + name + " does not say " + role, [&] { return is_well(port, role); });
    }
}

void ClusterNodes::end(std::uint64_t requests) {
    for (const std::string name : names) {
        const std::filesystem::path place = directory_ / name;
        Inspection inspection(data_directory(place), ledger_file(place));
        wait_for("node " + name + " lacks requests that were answered",
                 [&] { return inspection.requests() >= requests; });
    }
    for (Posthouse& node : nodes_) node.kill_hard();
}

}  // namespace bench
