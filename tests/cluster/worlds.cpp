#include "cluster/worlds.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "cluster/postgres.hpp"

namespace cluster_test {

namespace {

std::unique_ptr<support::PostgresServer>& shared_server() {
    static std::unique_ptr<support::PostgresServer> server;
    return server;
}

}  // namespace

bool PostgresWorld::is_here() {
    const bool is_installed = support::PostgresServer::is_installed();
    if (!is_installed) MESSAGE("skipped: PostgreSQL is not installed");
    return is_installed;
}

PostgresWorld::PostgresWorld() {
    static int count = 0;
    prefix_ = "test " + std::to_string(++count) + ' ';
}

PostgresWorld::~PostgresWorld() {
    if (!is_as_before_) shared_server().reset();
}

support::PostgresServer& PostgresWorld::server() {
    auto& server = shared_server();
    if (!server) server = std::make_unique<support::PostgresServer>();
    return *server;
}

std::unique_ptr<cluster::Database> PostgresWorld::open(domain::Milliseconds timeout,
                                                       const std::string& book,
                                                       std::int64_t shard) {
    return std::make_unique<cluster::PostgresDatabase>(
        cluster::PostgresOptions{.database = server().database(),
                                 .book = name_of(book),
                                 .shard = shard,
                                 .timeout = timeout},
        stop_);
}

void PostgresWorld::lose_standby() {
    is_as_before_ = false;
    server().lose_standby();
}

void PostgresWorld::return_standby() {
    server().return_standby();
    is_as_before_ = true;
}

void PostgresWorld::stop_waiting_for_standbys() {
    is_as_before_ = false;
    server().stop_waiting_for_standbys();
}

void PostgresWorld::promote() {
    is_as_before_ = false;
    server().promote();
}

void PostgresWorld::while_waiting(const std::function<void()>& call,
                                  const std::function<void()>& event) {
    const std::jthread caller(call);
    let_it_arrive();
    event();
}

void PostgresWorld::let_it_arrive() {
    const auto end = std::chrono::steady_clock::now() + long_time;
    while (!server().has_waiting()) {
        if (std::chrono::steady_clock::now() > end) throw std::runtime_error("nobody waits");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace cluster_test
