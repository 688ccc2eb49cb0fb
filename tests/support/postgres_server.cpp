#include "support/postgres_server.hpp"

#include <libpq-fe.h>
#include <pwd.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

namespace support {

namespace {

using namespace std::chrono_literals;

// For a machine that has much else to do.
constexpr auto patience = 120s;

constexpr const char* for_tests =
    "listen_addresses = ''\n"
    "fsync = off\n"
    "full_page_writes = off\n"
    "autovacuum = off\n"
    "dynamic_shared_memory_type = mmap\n"  // in its directory
    "max_connections = 40\n"
    "shared_buffers = 16MB\n"
    "wal_receiver_status_interval = 1s\n"
    "wal_retrieve_retry_interval = 50ms\n"
    "wal_keep_size = 64MB\n";

// The rest is Debian's.
constexpr const char* for_operation =
    "listen_addresses = ''\n"
    "max_connections = 200\n"
    "shared_buffers = 256MB\n"
    "wal_receiver_status_interval = 1s\n"
    "wal_keep_size = 64MB\n";

std::string programs() {
    return POSTGRES_PROGRAMS;
}

// The server refuses to run as root.
const passwd* other_user() {
    return ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
}

std::vector<std::string> as_other_user(std::vector<std::string> program) {
    if (other_user() == nullptr) return program;
    const std::vector<std::string> prefix{"setpriv",        "--reuid=postgres", "--regid=postgres",
                                          "--clear-groups", "--pdeathsig=KILL", "--"};
    program.insert(program.begin(), prefix.begin(), prefix.end());
    return program;
}

template <class Ready>
void wait_for(const char* what, const Ready& ready) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!ready()) {
        if (std::chrono::steady_clock::now() > end) throw std::runtime_error(what);
        std::this_thread::sleep_for(5ms);
    }
}

}  // namespace

bool PostgresServer::is_installed() {
    return std::filesystem::exists(programs() + "/postgres") &&
           (::geteuid() != 0 || other_user() != nullptr);
}

PostgresServer::PostgresServer() {
    make(for_tests);
}

PostgresServer::PostgresServer(const std::filesystem::path& parent)
    : home_(std::filesystem::absolute(parent)) {
    make(for_operation);
}

void PostgresServer::make(const char* settings) {
    if (const passwd* user = other_user()) {
        if (::chown(home_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
            throw std::runtime_error("chown " + directory());
        }
    }
    run({programs() + "/initdb", "-D", home_.file("a"), "-U", "posthouse", "--auth=trust",
         "--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"});
    configure(primary_, settings);
    start(primary_);
    run({programs() + "/pg_basebackup", "-h", socket_of(primary_), "-U", "posthouse", "-D",
         home_.file("b"), "-R", "-X", "stream", "--checkpoint=fast", "--no-sync"});
    configure(standby_, "cluster_name = 'standby'\n");
    ask("alter system set synchronous_standby_names = 'standby'");
    ask("select pg_reload_conf()");
    return_standby();
}

PostgresServer::~PostgresServer() {
    stop(primary_);
    stop(standby_);
}

std::string PostgresServer::database() const {
    return "host=" + socket_of(primary_) + "," + socket_of(standby_) +
           " user=posthouse dbname=postgres";
}

std::string PostgresServer::ask(const std::string& sql, const std::string& database) const {
    const std::string place = "host=" + socket_of(primary_) + " user=posthouse dbname=" + database;
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(place.c_str()),
                                                                  PQfinish);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexec(connection.get(), sql.c_str()), PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_COMMAND_OK) return {};
    if (status != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(connection.get()));
    return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

void PostgresServer::lose_standby() {
    standby_.process->kill_hard();
    wait_for("the primary keeps its standby",
             [this] { return ask("select count(*) from pg_stat_replication") == "0"; });
}

void PostgresServer::return_standby() {
    start(standby_);
    wait_for("no standby follows", [this] {
        return ask("select count(*) from pg_stat_replication where sync_state = 'sync'") == "1";
    });
}

void PostgresServer::stop_waiting_for_standbys() {
    ask("alter system set synchronous_standby_names = ''");
    ask("select pg_reload_conf()");
    wait_for("the settings stay", [this] { return ask("show synchronous_standby_names").empty(); });
}

bool PostgresServer::has_waiting() const {
    return ask("select count(*) from pg_stat_activity where wait_event = 'SyncRep'") != "0";
}

void PostgresServer::cancel_waits() const {
    ask("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
}

void PostgresServer::crash() {
    primary_.process->kill_hard();
    start(primary_);
}

void PostgresServer::promote() {
    primary_.process->kill_hard();
    std::swap(primary_.name, standby_.name);
    primary_.process.swap(standby_.process);
    if (!primary_.process || !primary_.process->is_running()) start(primary_);
    ask("select pg_promote()");
    wait_for("the standby is none the less",
             [this] { return ask("select pg_is_in_recovery()") == "f"; });
}

std::string PostgresServer::socket_of(const Host& host) const {
    return home_.file("socket-" + host.name);
}

bool PostgresServer::answers(const Host& host) const {
    const std::string place = "host=" + socket_of(host) + " user=posthouse dbname=postgres";
    return PQping(place.c_str()) == PQPING_OK;
}

void PostgresServer::run(const std::vector<std::string>& program) const {
    bench::run_to_end({.arguments = as_other_user(program),
                       .environment = {"TZ=UTC"},
                       .output = home_.path() / "programs.output"},
                      patience);
}

void PostgresServer::configure(const Host& host, const std::string& lines) const {
    const std::filesystem::path socket = socket_of(host);
    std::filesystem::create_directory(socket);
    if (const passwd* user = other_user()) {
        if (::chown(socket.c_str(), user->pw_uid, user->pw_gid) != 0) {
            throw std::runtime_error("chown " + socket.string());
        }
    }
    std::ofstream file(home_.path() / host.name / "postgresql.conf", std::ios::app);
    file << lines << "unix_socket_directories = '" << socket.string() << "'\n";
}

// After a crash some process of the old server may still be ending; then the next try finds none.
void PostgresServer::start(Host& host) {
    const bench::Child::Command command{
        .arguments = as_other_user({programs() + "/postgres", "-D", home_.file(host.name)}),
        .environment = {"TZ=UTC"},
        .output = home_.path() / (host.name + ".output")};
    wait_for("the server does not start", [&] {
        if (!host.process || !host.process->is_running()) {
            host.process = std::make_unique<bench::Child>(command);
        }
        return answers(host);
    });
}

void PostgresServer::stop(Host& host) const {
    if (host.process) static_cast<void>(host.process->stop(10s));
    // One that was killed leaves a segment of shared memory behind, and its number in line 7.
    std::ifstream left(home_.path() / host.name / "postmaster.pid");
    std::string line;
    for (int skipped = 0; skipped < 6; ++skipped) std::getline(left, line);
    long key = 0;
    int segment = 0;
    if (left >> key >> segment) ::shmctl(segment, IPC_RMID, nullptr);
}

}  // namespace support
