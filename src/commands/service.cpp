#include "commands/service.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/admin/admin_application.hpp"
#include "api/admin/approval_route.hpp"
#include "api/admin/backup_routes.hpp"
#include "api/admin/cluster_route.hpp"
#include "api/admin/job_commands.hpp"
#include "api/admin/job_routes.hpp"
#include "api/admin/page/page_routes.hpp"
#include "api/admin/pause_routes.hpp"
#include "api/admin/release_route.hpp"
#include "api/application.hpp"
#include "api/forwarding/owner_application.hpp"
#include "api/metrics/metrics_server.hpp"
#include "base/sanitize.hpp"
#include "commands/admin_client.hpp"
#include "commands/backup_job.hpp"
#include "commands/build_info.hpp"
#include "commands/chain_identities.hpp"
#include "commands/exit_status.hpp"
#include "commands/listening.hpp"
#include "commands/reload.hpp"
#include "commands/role.hpp"
#include "engine/operations.hpp"
#include "net/http_server.hpp"
#include "net/listener.hpp"
#include "platform/worker_pool.hpp"
#include "store/job_reader.hpp"
#include "store/row_counter.hpp"

namespace commands {

namespace {

constexpr std::size_t reader_connections_max = 8;
// Look-ups wait for the vote chain, or a host chain, more than they work.
constexpr std::size_t share_lookup_workers = 12;
constexpr std::size_t share_query_workers = 8;
constexpr std::size_t tree_query_workers = 2;  // one of them reads
constexpr std::size_t contract_lookup_workers = 8;
constexpr domain::Milliseconds drain_patience{2'000};
constexpr domain::Milliseconds start_extension{30'000};
constexpr domain::Milliseconds stop_extension{10'000};  // for all but drain and grace

// How many shares were in work tells when votes are revealed.
std::string recovered_line(const engine::recovery::Report& report, bool with_shares) {
    return "recovered in_flight=" + std::to_string(report.in_flight) +
           " processing=" + std::to_string(report.processing) +
           " queued=" + std::to_string(report.queued) +
           (with_shares ? " shares=" + std::to_string(report.shares) : "") +
           " waiting=" + std::to_string(report.waiting) +
           " suspects=" + std::to_string(report.suspects) +
           " quarantined=" + std::to_string(report.quarantined);
}

// Gives the options back, so that the line comes before those of what is made next.
const store::Options& report_opened(const store::Options& options, ports::Logger& logger) {
    logger.write(ports::LogLevel::info,
                 "store_opened file=" + base::log_value(store::database_path(options).string()) +
                     " version=" + base::log_value(store::Store::version()));
    if (options.synchronous == store::Synchronous::normal) {
        logger.write(ports::LogLevel::warning,
                     "durability_relaxed storage.synchronous=normal hint=\"a power cut may take "
                     "the newest accepted requests; a crash of the process does not\"");
    }
    return options;
}

store::Store open_store(const store::Options& options, OwnedBook* book) {
    if (book == nullptr) return store::Store(options);
    return {options, book->sink};
}

// Before a chain is made of the settings: it may leave traces beside a database that is not its
// own.
const store::Options& claim(store::Store& store, const config::Settings& settings) {
    for (const engine::ChainIdentity& identity : chain_identities(settings)) {
        engine::claim(store, identity);
    }
    return settings.store;
}

// A listener of the admin interface.
struct Admin {
    Admin(const net::HttpOptions& options, std::optional<std::string_view> token,
          api::admin::AdminChanges& changes, ports::Logger& logger, const ports::Clock& clock,
          std::vector<api::admin::AdminRoute> routes)
        : application(token, changes, logger, clock, std::move(routes)),
          server(options, application) {}

    api::admin::AdminApplication application;
    net::HttpServer server;
};

// For requests: on the sockets the service manager holds for it, or on its own.
net::HttpServer make_server(const net::HttpOptions& options, net::HttpApplication& application,
                            std::vector<base::Descriptor> sockets, ports::Logger& logger) {
    if (sockets.empty()) return {options, application};
    logger.write(ports::LogLevel::info,
                 "sockets_taken_over count=" + std::to_string(sockets.size()));
    try {
        return {options, application, std::move(sockets)};
    } catch (const net::ForeignSocket& error) {
        throw BadSettings(error.what());
    }
}

// Counts what is stored now, beside everything else: a million requests must not delay the start.
std::jthread count_requests(const store::Options& options, api::metrics::Metrics& metrics,
                            ports::Logger& logger) {
    return std::jthread([&metrics, &logger, counter = std::make_unique<store::RowCounter>(options)](
                            const std::stop_token& stop) {
        try {
            if (const auto counts = counter->count(stop)) metrics.add(*counts);
        } catch (const std::exception& error) {
            logger.write(ports::LogLevel::warning,
                         std::string("census_failed action=\"metrics go without the counts of "
                                     "requests\" error=") +
                             base::log_value(error.what()));
        }
    });
}

}  // namespace

// What clients, operators and scrapers see, and the threads that answer them.
class Service::Frontend {
public:
    explicit Frontend(Service& service);

    void start();
    [[nodiscard]] int wait();
    // Answers that wait for a commit still get it: the processor goes on until they are out.
    void drain(domain::Milliseconds patience = drain_patience);
    void stop_processor() { processor_.stop(); }
    // Its snapshot would keep the log from being cut.
    void stop_counting();

    [[nodiscard]] int exit_status() const { return processor_.exit_status(); }
    [[nodiscard]] std::optional<std::string> lost_book() const { return processor_.lost_book(); }

private:
    [[nodiscard]] std::unique_ptr<api::forwarding::OwnerApplication> make_owner_application();
    [[nodiscard]] net::HttpApplication& outermost();
    [[nodiscard]] api::metrics::Sources sources();
    [[nodiscard]] api::admin::JobSources job_sources();
    [[nodiscard]] api::admin::StatusSources status_sources();
    [[nodiscard]] std::function<cluster::NodeState()> node_state() const;
    [[nodiscard]] std::vector<api::admin::AdminRoute> admin_routes();
    [[nodiscard]] std::unique_ptr<Admin> make_admin();
    void open_admin_socket();

    Service& service_;
    const std::function<std::string(std::int64_t)> client_name_;
    std::jthread counting_;
    platform::WorkerPool share_lookups_{share_lookup_workers};
    platform::WorkerPool share_queries_{share_query_workers};
    platform::WorkerPool tree_queries_{tree_query_workers};
    platform::WorkerPool contract_lookups_{contract_lookup_workers};
    api::Application application_;
    const std::unique_ptr<api::forwarding::OwnerApplication> owner_application_;
    net::HttpServer server_;
    Reloads reloads_;
    api::admin::AdminChanges changes_;
    store::JobReader job_reader_;
    api::admin::JobAnswers jobs_;
    const api::admin::StatusSources status_;
    api::admin::JobCommands job_commands_;
    api::admin::ApprovalRoute approval_route_;
    BackupJob backup_job_;
    const std::unique_ptr<Admin> admin_;
    std::optional<Admin> local_admin_;  // for the commands of this machine
    api::metrics::Samples samples_;
    const std::unique_ptr<api::metrics::MetricsServer> metrics_server_;
    ProcessorThread processor_;
    const LongPollThread long_polls_;
};

Service::Frontend::Frontend(Service& service)
    : service_(service),
      client_name_([&service](std::int64_t id) { return service.authenticator_.client_name(id); }),
      counting_(count_requests(service.settings_.store, service.metrics_, service.log_)),
      application_(service.settings_.api,
                   {service.engine_,
                    service.engine_,
                    {service.rounds_, service.vote_chain_.trees, service.vote_chain_.nullifiers,
                     service.vote_chain_.commitments},
                    service.chain_->contracts(),
                    service.engine_,
                    service.chain_->keys(),
                    service.clock_,
                    service.random_,
                    service.log_,
                    service.long_polls_,
                    service.metrics_,
                    service.authenticator_,
                    share_lookups_,
                    share_queries_,
                    tree_queries_,
                    contract_lookups_,
                    &service.engine_,
                    service.book_ ? &service.book_->node : nullptr}),
      owner_application_(make_owner_application()),
      server_(make_server(service.settings_.http, outermost(), std::move(service.sockets_),
                          service.log_)),
      reloads_(reloads_of(service.settings_, service.authenticator_, server_), service.log_),
      changes_(service.engine_, service.log_, service.configured_, service.restored_),
      job_reader_(service.settings_.store),
      jobs_(job_reader_, job_sources()),
      status_(status_sources()),
      job_commands_({service.engine_, job_reader_, service.chain_->contracts(), contract_lookups_,
                     service.clock_, service.settings_.api.decryption_address,
                     service.settings_.engine.shares.expose_timing}),
      approval_route_(service.chain_->approvals(), contract_lookups_, service.clock_),
      backup_job_(service.settings_.store, service.clock_, service.random_, service.log_),
      admin_(make_admin()),
      samples_(service.clock_, service.settings_.engine.clock_leap,
               service.settings_.engine.clock_leap_hold, service.settings_.metrics, sources()),
      metrics_server_(api::metrics::serve_metrics(
          service.settings_.metrics,
          [this] { return api::metrics::exposition(service_.metrics_, samples_); }, service.log_,
          service.clock_)),
      processor_(service.processor_, service.inbox_, service.log_, service.settings_.stop_grace),
      long_polls_(service.long_polls_) {
    open_admin_socket();
}

// Null: a single machine has nobody who passes requests on.
std::unique_ptr<api::forwarding::OwnerApplication> Service::Frontend::make_owner_application() {
    if (service_.book_ == nullptr) return nullptr;
    const OwnedBook& book = *service_.book_;
    using api::forwarding::OwnerApplication;
    return std::make_unique<OwnerApplication>(
        OwnerApplication::Parts{application_, book.node, book.options.keys, service_.clock_,
                                service_.random_, service_.log_},
        OwnerApplication::Identity{book.options.node, book.instance},
        service_.settings_.api.cors_allow_origin);
}

net::HttpApplication& Service::Frontend::outermost() {
    if (owner_application_) return *owner_application_;
    return application_;
}

api::admin::JobSources Service::Frontend::job_sources() {
    const auto position = [this](const store::Row& row) {
        const auto in_status = service_.clock_.wall() - row.since;
        return service_.gates_.position_of(
            row, std::chrono::floor<std::chrono::seconds>(in_status).count());
    };
    const auto is_paused = [this](const store::Row& row) {
        const auto paused = service_.gates_.paused();
        return engine::operations::waits_for_gates(row) &&
               std::ranges::find(paused, domain::family_of(row.kind)) != paused.end();
    };
    return {.clock = service_.clock_,
            .with_shares = service_.settings_.engine.shares.expose_timing,
            .client_name = client_name_,
            .position = position,
            .is_paused = is_paused};
}

// Empty: a single machine.
std::function<cluster::NodeState()> Service::Frontend::node_state() const {
    if (service_.book_ == nullptr) return {};
    return [&node = service_.book_->node] { return node.state(); };
}

api::admin::StatusSources Service::Frontend::status_sources() {
    return {.clock = service_.clock_,
            .version = build_version,
            .role = role_of(service_.settings_),
            .with_shares = service_.settings_.engine.shares.expose_timing,
            .directory = service_.settings_.store.directory,
            .backlog = [this] { return service_.reader_.backlog(); },
            .client_name = client_name_,
            .live = api::admin::LiveSources{
                .depths = [this] { return service_.gates_.depths(); },
                .tuning = [this] { return service_.gates_.tuning(); },
                .dependencies = [this] { return service_.engine_.dependencies(); },
                .chain_problem = [this] { return service_.gateway_.problem(); },
                .chain = [this] { return service_.gateway_.readings(); },
                .paused = [this] { return service_.gates_.paused(); },
                .log_level = [this] { return api::admin::name_of(service_.log_.level()); },
                .rates = service_.rates_,
                .clients = service_.client_traffic_,
                .started = service_.clock_.monotonic()},
            .node = node_state()};
}

std::vector<api::admin::AdminRoute> Service::Frontend::admin_routes() {
    std::vector<api::admin::AdminRoute> routes = api::admin::job_routes(jobs_, status_);
    const auto append = [&routes](std::vector<api::admin::AdminRoute> more) {
        for (api::admin::AdminRoute& route : more) routes.push_back(std::move(route));
    };
    append(job_commands_.routes());
    append(api::admin::backup_routes(backup_job_));
    routes.push_back(api::admin::release_route(service_.engine_));
    routes.push_back(approval_route_.route());
    append(api::admin::pause_routes(service_.engine_, [this](ports::LogLevel level) {
        service_.log_.write(
            ports::LogLevel::info,
            "log_level_changed level=" + std::string(api::admin::name_of(level)) + " by=operator");
        service_.log_.set_level(level);
    }));
    routes.push_back(api::admin::reload_route([this] { return reloads_.run(); }));
    routes.push_back(
        api::admin::step_down_route(service_.book_ != nullptr ? service_.book_->step_down : [] {
            return "this process is no node of a cluster";
        }));
    return routes;
}

// Null: it is off.
std::unique_ptr<Admin> Service::Frontend::make_admin() {
    if (!service_.settings_.api.admin_enabled) return nullptr;
    const api::admin::AdminOptions& admin = service_.settings_.admin;
    std::vector<api::admin::AdminRoute> routes = admin_routes();
    std::ranges::move(api::admin::page::page_routes(routes, admin.token, service_.clock_,
                                                    service_.random_, service_.log_),
                      std::back_inserter(routes));
    return std::make_unique<Admin>(api::admin::http_options_of(admin), admin.token, changes_,
                                   service_.log_, service_.clock_, std::move(routes));
}

// Requests are more important than what steers them: without it the service still starts.
void Service::Frontend::open_admin_socket() {
    const std::filesystem::path file = admin_socket(service_.settings_.store);
    try {
        local_admin_.emplace(api::admin::http_options_at(file), std::nullopt, changes_,
                             service_.log_, service_.clock_, admin_routes());
    } catch (const std::runtime_error& error) {
        log_no_admin_socket(service_.log_, error);
    }
}

api::metrics::Sources Service::Frontend::sources() {
    return {.depths = [this] { return service_.gates_.depths(); },
            .inbox_size = [this] { return service_.inbox_.size(); },
            .backlog = [this] { return service_.engine_.backlog(); },
            .http = [this] { return server_.counts(); },
            .long_polls_waiting = [this] { return service_.long_polls_.waiting(); },
            .long_polls_turned_away = [this] { return service_.long_polls_.turned_away(); },
            .chain = [this] { return service_.gateway_.readings(); },
            .process = api::metrics::process_facts,
            .clients =
                [this](const auto& in_work) {
                    return api::client_activity(&service_.client_traffic_, in_work, client_name_);
                },
            .node = node_state()};
}

void Service::Frontend::start() {
    const config::Settings& settings = service_.settings_;
    server_.start();
    log_listening(service_.log_, settings.http, server_.port());
    if (local_admin_) local_admin_->server.start();
    if (!admin_) return;
    admin_->server.start();
    service_.log_.write(ports::LogLevel::info, "listening admin=" + settings.admin.host + ":" +
                                                   std::to_string(admin_->server.port()));
}

int Service::Frontend::wait() {
    return wait_for_stop_signal(reloads_, service_.service_manager_);
}

// All at once: what one takes is not added to what another takes.
void Service::Frontend::drain(domain::Milliseconds patience) {
    std::vector<std::jthread> drains;
    const auto begin = [&](net::HttpServer& server) {
        drains.emplace_back([&server, patience] { static_cast<void>(server.drain(patience)); });
    };
    begin(server_);
    if (admin_) begin(admin_->server);
    if (local_admin_) begin(local_admin_->server);
}

void Service::Frontend::stop_counting() {
    counting_.request_stop();
    counting_.join();
}

Service::Service(const config::Settings& settings, platform::Log& log, OwnedBook* book)
    : settings_(settings),
      log_(log),
      book_(book),
      sockets_(book ? std::move(book->sockets) : service_manager_.take_sockets()),
      clock_(book ? book->clock_behind : domain::Nanoseconds{}),
      authenticator_(settings_.api.access, clock_),
      store_(open_store(settings_.store, book)),
      reader_(report_opened(claim(store_, settings_), log_), reader_connections_max),
      client_traffic_(clock_, [this](auto id) { return authenticator_.client_name(id); }),
      metrics_(settings_.metrics, {build_version, build_commit}, &client_traffic_),
      rates_(clock_, settings_.engine.shares.expose_timing),
      chain_(make_relayer_chain(settings_, clock_, log_)),
      votes_(make_vote_service(settings_, chain_->gateway(), chain_->rounds(), clock_, log_,
                               metrics_)),
      gateway_(votes_->gateway()),
      gates_(settings_.engine, clock_.monotonic()),
      configured_(gates_.tuning()),
      restored_(restore_tuning(store_, configured_, log_)),
      inbox_(settings_.engine.inbox_capacity),
      long_polls_(clock_, settings_.api.long_polls_max),
      round_alerts_(make_round_alerts(settings_.webhook, inbox_, clock_, log_)),
      status_(service_manager_, [this] { return status_line(); }),
      processor_(settings_.engine, store_, gates_, gateway_, inbox_, clock_, random_, log_,
                 observers_, round_alerts_ ? &round_alerts_->sink() : nullptr,
                 service_manager_.exists() ? &status_ : nullptr),
      end_of_events_(gateway_),
      engine_(inbox_, processor_, gates_, gateway_, reader_, clock_),
      vote_chain_(votes_->chain()),
      rounds_(reader_, vote_chain_.rounds) {
    processor_.name_clients(
        [this](std::int64_t client) { return authenticator_.client_name(client); });
    gates_.retune(restored_.tuning, clock_.monotonic());
    restore_steering(store_, gates_, log_);
    if (book == nullptr) crash_mark_.emplace(settings_.store.directory / "posthouse.crashed");
    observers_.add(long_polls_);
    observers_.add(metrics_);
    observers_.add(rates_);
}

Service::~Service() = default;

void Service::recover() {
    service_manager_.status("recovering");
    const auto extend = [this] { service_manager_.extend_timeout(start_extension); };
    // Of another machine's owner nobody knows how it ended.
    const bool ended_by_itself = crash_mark_ ? crash_mark_->is_there() : !book_->succeeds_itself;
    if (crash_mark_ && ended_by_itself) {
        log_.write(ports::LogLevel::warning,
                   "last_process_crashed hint=\"a request that was in work at engine.crashes_max "
                   "such ends is failed\"");
    }
    const auto report =
        processor_.recover(ended_by_itself ? engine::recovery::LastEnd::by_itself
                                           : engine::recovery::LastEnd::from_outside,
                           extend);
    if (crash_mark_) crash_mark_->remove();
    log_.write(ports::LogLevel::info,
               recovered_line(report, settings_.engine.shares.expose_timing));
}

void Service::listen() {
    frontend_ = std::make_unique<Frontend>(*this);
    frontend_->start();
    service_manager_.ready();
}

int Service::wait() {
    return frontend_->wait();
}

void Service::stop() {
    stopping_ = true;
    service_manager_.stopping();
    service_manager_.extend_timeout(drain_patience + settings_.stop_grace + stop_extension);
    service_manager_.status("stopping");
    log_.write(ports::LogLevel::info, "stopping");
    long_polls_.stop();
    frontend_->drain();
    inbox_.stop();  // what ends early from now on counts for nothing
    gateway_.wind_down();
    frontend_->stop_processor();
    votes_->stop_lookups();
    gateway_.stop();
    if (round_alerts_) round_alerts_->stop();
    frontend_->stop_counting();
    if (exit_status() == EXIT_SUCCESS) {
        try {
            store_.truncate_wal();
        } catch (const store::StorageError& error) {
            // The log stays and is read at the next start.
            log_.write(ports::LogLevel::warning,
                       "checkpoint_skipped error=" + base::log_value(error.what()));
        }
    } else if (crash_mark_) {
        crash_mark_->leave();
    }
    log_.write(ports::LogLevel::info, "stopped");
}

void Service::hand_over() {
    stopping_ = true;
    long_polls_.stop();
    processor_.hurry();
    frontend_->stop_processor();
}

std::optional<std::string> Service::lost_book() const {
    return frontend_->lost_book();
}

void Service::abandon() {
    // The margin is what there is until another node may own the book.
    const auto moment = std::min(domain::Milliseconds{200}, book_->options.lease.margin() / 2);
    stopping_ = true;
    gateway_.wind_down();
    long_polls_.stop();
    inbox_.stop();
    frontend_->drain(moment);
}

// Nothing of vote shares: how many wait tells when votes are revealed.
std::string Service::status_line() const {
    if (stopping_) return "stopping";
    const auto [readiness, sending] = gates_.depths();
    const std::size_t waiting = readiness.public_decrypt + readiness.user_decrypt +
                                sending.input_proof + sending.public_decrypt + sending.user_decrypt;
    std::string unwell;
    for (const engine::Dependency& dependency : engine_.dependencies()) {
        if (!dependency.ok) unwell += (unwell.empty() ? "" : ", ") + dependency.name;
    }
    return "in service, " + std::to_string(waiting) + " requests wait" +
           (unwell.empty() ? "" : "; not well: " + unwell);
}

int Service::exit_status() const {
    return frontend_->exit_status();
}

}  // namespace commands
