#include "cluster/postgres.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/chain.hpp"
#include "cluster/postgres_connection.hpp"
#include "cluster/worlds.hpp"
#include "support/contains.hpp"
#include "support/pooler_stub.hpp"
#include "support/temp_directory.hpp"

// What PostgreSQL alone brings along: connection strings, settings of roles, sockets.

using cluster::Appended;
using cluster::Done;
using cluster::PostgresDatabase;
using cluster::PostgresOptions;
using cluster::Unavailable;
using cluster::Unknown;
using cluster_test::begin_book;
using cluster_test::first_link;
using cluster_test::genesis;
using cluster_test::is_a;
using cluster_test::long_time;
using cluster_test::PostgresWorld;

namespace {

std::unique_ptr<PostgresDatabase> database_at(PostgresWorld& world, const std::string& place,
                                              domain::Milliseconds timeout = long_time) {
    return std::make_unique<PostgresDatabase>(
        PostgresOptions{.database = place, .book = world.name_of("main"), .timeout = timeout},
        world.stop());
}

}  // namespace

TEST_CASE("how many standbys have it is read from the server's settings") {
    struct Row {
        std::string_view commit;
        std::string_view names;
        unsigned standbys;
    };
    for (const Row& row : {
             Row{"on", "", 0},
             Row{"on", "  ", 0},
             Row{"on", "b", 1},
             Row{"on", "*", 1},
             Row{"on", "b, c, d", 1},
             Row{"on", "FIRST 1 (b, c)", 1},
             Row{"on", "first 2 (b, c, d)", 2},
             Row{"on", "ANY 2 (b, c, d)", 2},
             Row{"on", "ANY 3(b, c, d)", 3},
             Row{"on", "2 (b, c, d)", 2},
             Row{"remote_apply", "b", 1},
             Row{"remote_write", "b", 0},
             Row{"local", "b", 0},
             Row{"off", "b", 0},
             Row{"", "b", 0},
         }) {
        CAPTURE(row.commit);
        CAPTURE(row.names);
        CHECK(cluster::postgres::standbys_in(row.commit, row.names) == row.standbys);
    }
}

TEST_CASE("hosts of a connection string are tried one by one") {
    using Settings = std::vector<std::pair<std::string, std::string>>;
    const auto hosts = [](const std::string& text) {
        auto found = cluster::postgres::hosts_in(text);
        for (Settings& settings : found) std::ranges::sort(settings);
        return found;
    };
    CHECK(hosts("host=a,b port=1 user=u") ==
          std::vector<Settings>{{{"host", "a"}, {"port", "1"}, {"user", "u"}},
                                {{"host", "b"}, {"port", "1"}, {"user", "u"}}});
    CHECK(hosts("postgresql://u@a:1,b:2/d") ==
          std::vector<Settings>{{{"dbname", "d"}, {"host", "a"}, {"port", "1"}, {"user", "u"}},
                                {{"dbname", "d"}, {"host", "b"}, {"port", "2"}, {"user", "u"}}});
    CHECK(hosts("host=/run/postgresql") == std::vector<Settings>{{{"host", "/run/postgresql"}}});
    CHECK(hosts("user=u") == std::vector<Settings>{{{"user", "u"}}});
    CHECK(hosts("host=a,b,c port=1,2").empty());
    CHECK(hosts("no connection string").empty());
}

TEST_CASE("each address of a host is a place of its own, and the name stays") {
    using Settings = std::vector<std::pair<std::string, std::string>>;
    using cluster::postgres::places_of;
    CHECK(places_of({{"user", "u"}, {"host", "127.0.0.1"}}) ==
          std::vector<Settings>{{{"user", "u"}, {"host", "127.0.0.1"}, {"hostaddr", "127.0.0.1"}}});
    for (const Settings& host :
         {Settings{{"host", "/run/postgresql"}}, Settings{{"host", "@socket"}},
          Settings{{"user", "u"}}, Settings{{"host", "db"}, {"hostaddr", "192.0.2.1"}}}) {
        CHECK(places_of(host) == std::vector<Settings>{host});
    }
    for (const Settings& place : places_of({{"host", "localhost"}})) {
        REQUIRE(place.size() == 2);
        CHECK(place[0].second == "localhost");
        CHECK(place[1].first == "hostaddr");
    }
}

TEST_CASE("a connection string is never shown") {
    const base::StopToken stop;
    for (const char* const text :
         {"host=a swordfish", "postgresql://user:password@swordfish@db/x"}) {
        CAPTURE(text);
        try {
            const PostgresDatabase database({.database = text, .book = "main"}, stop);
            FAIL("taken");
        } catch (const std::invalid_argument& error) {
            CHECK_FALSE(support::contains(error.what(), "swordfish"));
            CHECK_FALSE(support::contains(error.what(), "host=a"));
        }
    }
}

TEST_CASE("nobody there is told without the password") {
    const base::StopToken stop;
    PostgresDatabase database(
        {.database = "host=/nonexistent/swordfish user=u password=swordfish", .book = "main"},
        stop);
    const auto answer = std::get<Unavailable>(database.read_owner());
    CHECK_FALSE(answer.reason.empty());
    CHECK_FALSE(support::contains(answer.reason, "swordfish"));
    CHECK_FALSE(support::contains(answer.reason, "\n"));
    CHECK(is_a<Unavailable>(database.append(first_link(1, {1}).entry())));
    CHECK(database.connections() == 0);
}

TEST_CASE("a stop ends a call that waits, and every later one") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    base::StopToken stop;
    PostgresDatabase database({.database = world.server().database(),
                               .book = world.name_of("main"),
                               .timeout = long_time},
                              stop);
    begin_book(database);
    world.lose_standby();
    cluster::Outcome<Appended, cluster::Fenced> outcome = Appended{};
    world.while_waiting([&] { outcome = database.append(first_link(1, {1}).entry()); },
                        [&] { stop.request_stop(); });
    CHECK(is_a<Unknown>(outcome));
    CHECK(is_a<Unavailable>(database.read_owner()));
    world.return_standby();
}

TEST_CASE("what a role or a database sets does not weaken a session of ours") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    support::PostgresServer& server = world.server();
    server.ask("create role weak superuser login");
    for (const char* setting :
         {"synchronous_commit = off", "client_min_messages = error", "lock_timeout = 0",
          "statement_timeout = '1ms'", "default_transaction_isolation = 'repeatable read'"}) {
        server.ask(std::string("alter role weak set ") + setting);
    }
    const std::string place = "host=" + server.directory() + "/socket-a user=weak dbname=postgres";
    const auto database = database_at(world, place);
    begin_book(*database);
    CHECK(std::get<Appended>(database->append(first_link(1, {1}).entry())).standbys == 1);

    world.lose_standby();
    std::optional<cluster::Outcome<Appended, cluster::Fenced>> outcome;
    world.while_waiting([&] { outcome = database->append(first_link(1, {1}).next({2}).entry()); },
                        [&] { world.cancel_waits(); });
    world.return_standby();
    CHECK(is_a<Unknown>(*outcome));
}

TEST_CASE("who asks learns how many standbys would have a write, without one") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    const auto database = database_at(world, world.server().database());
    CHECK(std::get<0>(database->standbys()) == 1);
    world.stop_waiting_for_standbys();
    CHECK(std::get<0>(database->standbys()) == 0);

    PostgresDatabase nowhere({.database = "host=/nonexistent user=u", .book = "main"},
                             world.stop());
    CHECK(is_a<Unavailable>(nowhere.standbys()));
}

TEST_CASE("a connection that was closed while nobody asked is made again") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    const auto database = database_at(world, world.server().database());
    begin_book(*database);
    world.server().ask(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
        " where application_name = 'posthouse'");
    CHECK(is_a<Appended>(database->append(first_link(1, {1}).entry())));
    CHECK(database->connections() == 2);
}

TEST_CASE("a host that is not there does not hide the one that is") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    const std::string sockets = world.server().directory();
    const auto database =
        database_at(world, "host=" + sockets + "/none," + sockets + "/socket-b," + sockets +
                               "/socket-a user=posthouse dbname=postgres");
    begin_book(*database);
    CHECK(database->connections() == 1);
}

TEST_CASE("a pooler before the server is refused") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    const support::TempDirectory directory;
    const std::string sockets = directory.file("pooler");
    const support::PoolerStub pooler(sockets, world.server().directory() + "/socket-a");
    const auto database = database_at(world, "host=" + sockets + " user=posthouse dbname=postgres");
    const auto answer = std::get<Unavailable>(database->initialise(genesis));
    CHECK(support::contains(answer.reason, "a pooler such as PgBouncer stands before the server"));
    CHECK(database->connections() == 0);
}

TEST_CASE("a standby alone is no database") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    const auto database = database_at(
        world, "host=" + world.server().directory() + "/socket-b user=posthouse dbname=postgres");
    const auto answer = std::get<Unavailable>(database->read_owner());
    CHECK(support::contains(answer.reason, "read-only"));
}

TEST_CASE("tables of somebody else are not taken for ours") {
    if (!PostgresWorld::is_here()) return;
    PostgresWorld world;
    support::PostgresServer& server = world.server();
    server.ask("create database elsewhere");
    server.ask("create schema posthouse", "elsewhere");
    server.ask(
        "create table posthouse.node"
        " (book text, shard bigint, name text, url text, seq text, seen_ms bigint)",
        "elsewhere");
    const std::string row = "'" + world.name_of("main") + "', 0, 'a', 'u', '1', ";
    server.ask("insert into posthouse.node values (" + row + "1)", "elsewhere");
    const auto database = database_at(
        world, "host=" + server.directory() + "/socket-a user=posthouse dbname=elsewhere");
    const auto answer = std::get<Unavailable>(database->nodes());
    CHECK(support::contains(answer.reason, "tables"));
    CHECK(is_a<Unavailable>(
        database->register_node({.name = "b", .url = "u"})));  // the server's own error
}
