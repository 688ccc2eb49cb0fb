#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "api/admin_application.hpp"
#include "api/application.hpp"
#include "api/gatekeeper.hpp"
#include "api/http_server.hpp"
#include "api/metrics/metrics.hpp"
#include "api/metrics/metrics_server.hpp"
#include "api/secret_file.hpp"
#include "api/tls.hpp"
#include "build_info.hpp"
#include "config/admin_token.hpp"
#include "config/command_line.hpp"
#include "config/load.hpp"
#include "engine/gates.hpp"
#include "engine/inbox.hpp"
#include "engine/processor.hpp"
#include "engine/service.hpp"
#include "gateway/loopback/loopback_gateway.hpp"
#include "store/census.hpp"
#include "store/reader.hpp"
#include "store/store.hpp"
#include "system/log.hpp"
#include "system/real_clock.hpp"
#include "system/secure_random.hpp"
#include "system/service_manager.hpp"
#include "system/worker_pool.hpp"

namespace {

constexpr std::size_t reader_connections_max = 8;
constexpr domain::Milliseconds drain_patience{2'000};
constexpr domain::Milliseconds start_extension{30'000};

// Signals the program acts upon; every thread inherits the block, one waits for them.
sigset_t awaited_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return signals;
}

void block_signals() {
    const sigset_t signals = awaited_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a full disk
}

// A file opened while a standard stream is closed would take its place, and its output.
void fill_standard_streams() {
    int descriptor = 0;
    do {
        descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO) ::close(descriptor);
}

int wait_for_signal() {
    const sigset_t signals = awaited_signals();
    int signal = 0;
    sigwait(&signals, &signal);
    return signal;
}

// Something SIGHUP reads again. `read` gives fields for the log; it throws and leaves everything as
// it was when what it finds is no good.
struct Reload {
    std::string what;
    std::function<std::string()> read;
};

std::vector<Reload> reloads_of(api::Gatekeeper& gatekeeper, api::HttpServer& server,
                               bool with_tls) {
    std::vector<Reload> reloads;
    for (api::KeyRing& ring : gatekeeper.reloadable()) {
        reloads.push_back({ring.name(), [&ring] {
                               if (const auto problem = ring.reload()) {
                                   throw std::runtime_error(*problem);
                               }
                               return "keys=" + std::to_string(ring.size());
                           }});
    }
    if (with_tls) {
        reloads.push_back({"tls", [&server] {
                               if (const auto problem = server.reload_tls()) {
                                   throw std::runtime_error(*problem);
                               }
                               return std::string("certificate=new");
                           }});
    }
    return reloads;
}

void reload(const Reload& reload, engine::Journal& journal) {
    try {
        journal.write(engine::Level::info, "reloaded what=" + reload.what + " " + reload.read());
    } catch (const std::exception& error) {
        journal.write(engine::Level::error, "reload_failed what=" + reload.what +
                                                " alert=true error=\"" + error.what() +
                                                "\" action=\"the old ones stay\"");
    }
}

// SIGHUP ends the program, as that of a terminal that is gone should, unless there is something to
// read again or a service manager: its reload must never be a stop.
void wait_for_stop_signal(const std::vector<Reload>& reloads, engine::Journal& journal,
                          platform::ServiceManager& service_manager) {
    while (wait_for_signal() == SIGHUP) {
        if (!service_manager.reloading() && reloads.empty()) return;
        if (reloads.empty()) journal.write(engine::Level::info, "nothing_to_reload");
        for (const Reload& each : reloads) reload(each, journal);
        service_manager.ready();
    }
}

std::string recovered_line(const engine::recovery::Report& report) {
    return "recovered in_flight=" + std::to_string(report.in_flight) +
           " processing=" + std::to_string(report.processing) +
           " queued=" + std::to_string(report.queued) + " shares=" + std::to_string(report.shares) +
           " waiting=" + std::to_string(report.waiting) +
           " suspects=" + std::to_string(report.suspects) +
           " quarantined=" + std::to_string(report.quarantined);
}

// Runs the processor; a file that can not be trusted ends the program.
class ProcessorThread {
public:
    ProcessorThread(engine::Processor& processor, engine::Inbox& inbox, engine::Journal& journal,
                    domain::Milliseconds grace)
        : inbox_(inbox), thread_([this, &processor, &journal, grace] {
              try {
                  processor.run(grace);
              } catch (const std::exception& error) {
                  failed_ = true;
                  journal.write(
                      engine::Level::error,
                      std::string("processor_stopped alert=true error=\"") + error.what() + "\"");
                  ::kill(::getpid(), SIGTERM);
              }
          }) {}
    ~ProcessorThread() { stop(); }
    ProcessorThread(const ProcessorThread&) = delete;
    ProcessorThread& operator=(const ProcessorThread&) = delete;

    void stop() {
        inbox_.stop();
        if (thread_.joinable()) thread_.join();
    }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    engine::Inbox& inbox_;
    std::atomic<bool> failed_{false};
    std::thread thread_;
};

void report(const api::RestoredTuning& restored, engine::Journal& journal) {
    for (const std::string& line : restored.warnings) journal.write(engine::Level::warning, line);
    if (restored.overridden.empty()) return;
    std::string names;
    for (const std::string& name : restored.overridden) names += (names.empty() ? "" : ",") + name;
    journal.write(engine::Level::info, "settings_restored names=" + names);
}

// The listener of the admin interface.
struct Admin {
    Admin(const api::AdminOptions& options, api::AdminChanges& changes, engine::Journal& journal,
          const engine::Clock& clock)
        : application(options.token, changes, journal, clock),
          server(api::http_options_of(options), application) {}

    api::AdminApplication application;
    api::HttpServer server;
};

// Counts what is stored now, beside everything else: a million requests must not delay the start.
std::jthread count_requests(const store::Options& options, api::Metrics& metrics,
                            engine::Journal& journal) {
    return std::jthread([&metrics, &journal, census = std::make_unique<store::Census>(options)](
                            const std::stop_token& stop) {
        try {
            if (const auto counts = census->count(stop)) metrics.add(*counts);
        } catch (const std::exception& error) {
            journal.write(engine::Level::warning,
                          std::string("census_failed action=\"metrics go without the counts of "
                                      "requests\" error=\"") +
                              error.what() + "\"");
        }
    });
}

// Serves metrics while it lives; nothing when they are not wanted.
std::unique_ptr<api::MetricsServer> serve_metrics(const api::MetricsOptions& options,
                                                  const api::Metrics& metrics,
                                                  api::Samples& samples, engine::Journal& journal,
                                                  const engine::Clock& clock) {
    if (options.host.empty()) return nullptr;
    auto server = std::make_unique<api::MetricsServer>(options, metrics, samples, journal, clock);
    journal.write(engine::Level::info,
                  "listening metrics=" + options.host + ":" + std::to_string(server->port()));
    return server;
}

int serve(const config::Loaded& loaded) {
    const config::Settings& settings = loaded.settings;
    block_signals();
    platform::Log log(settings.log);
    platform::ServiceManager service_manager;
    for (const std::string& line : loaded.warnings) log.write(engine::Level::warning, line);
    for (const std::string& line : loaded.notes) log.write(engine::Level::info, line);

    platform::RealClock clock;
    platform::SecureRandom random;
    // Before anything is on disk: with bad keys there is no start.
    api::Gatekeeper gatekeeper(settings.api, clock);
    store::Store store(settings.store);
    log.write(engine::Level::info,
              "store_opened file=" + store::database_path(settings.store).string() + " version=\"" +
                  store::Store::version() + "\"");
    if (settings.store.synchronous == store::Synchronous::normal) {
        log.write(engine::Level::warning,
                  "durability_relaxed storage.synchronous=normal hint=\"a power cut may take the "
                  "newest accepted requests; a crash of the process does not\"");
    }
    store::Reader reader(settings.store, reader_connections_max);

    platform::WorkerPool workers(settings.workers);
    std::optional<gateway::LoopbackGateway> loopback;
    try {
        loopback.emplace(settings.loopback, clock, workers, log);
    } catch (const std::exception& error) {
        throw std::runtime_error("the ledger " + settings.loopback.ledger +
                                 " of the loopback gateway: " + error.what());
    }
    gateway::LoopbackGateway& gateway = *loopback;

    engine::Gates gates(settings.engine, clock.monotonic());
    const engine::Tuning base = gates.tuning();
    const api::RestoredTuning restored = api::restore(base, store.settings());
    report(restored, log);
    gates.retune(restored.tuning, clock.monotonic());
    engine::Inbox inbox(settings.engine.inbox_capacity);
    api::LongPolls long_polls(clock, settings.api.long_polls_max);
    api::Metrics metrics(settings.metrics, {build_version, build_commit});
    engine::Observers observers;
    observers.add(long_polls);
    observers.add(metrics);
    engine::Processor processor(settings.engine, store, gates, gateway, inbox, clock, random, log,
                                observers);
    engine::Service service(inbox, processor, gates, gateway, reader, clock);

    const auto extend = [&] { service_manager.extend_timeout(start_extension); };
    log.write(engine::Level::info, recovered_line(processor.recover(extend)));

    std::jthread counting = count_requests(settings.store, metrics, log);

    api::NoContractSignatures contracts;
    api::Application application(
        settings.api, {service, service, gateway, contracts, service, gateway, clock, random, log,
                       long_polls, metrics, gatekeeper});
    api::HttpServer server(settings.http, application);
    api::AdminChanges changes(service, log, base, restored);
    std::optional<Admin> admin;
    if (settings.api.admin_enabled) admin.emplace(settings.admin, changes, log, clock);
    api::Samples samples(clock, settings.engine.clock_leap, settings.engine.clock_leap_hold,
                         {.depths = [&] { return gates.depths(); },
                          .inbox_size = [&] { return inbox.size(); },
                          .backlog = [&] { return reader.backlog(); },
                          .http = [&] { return server.counts(); },
                          .long_polls_waiting = [&] { return long_polls.waiting(); },
                          .long_polls_turned_away = [&] { return long_polls.turned_away(); },
                          .chain = [&] { return gateway.readings(); },
                          .process = api::process_facts});
    const auto metrics_server = serve_metrics(settings.metrics, metrics, samples, log, clock);
    ProcessorThread thread(processor, inbox, log, settings.stop_grace);
    std::jthread waiting([&long_polls] { long_polls.run(); });
    server.start();
    log.write(engine::Level::info,
              std::string("listening ") +
                  (settings.http.tls_certificate_file.empty() ? "http=" : "https=") +
                  settings.http.host + ":" + std::to_string(server.port()));
    if (admin) {
        admin->server.start();
        log.write(engine::Level::info, "listening admin=" + settings.admin.host + ":" +
                                           std::to_string(admin->server.port()));
    }
    service_manager.ready();

    const bool with_tls = !settings.http.tls_certificate_file.empty();
    wait_for_stop_signal(reloads_of(gatekeeper, server, with_tls), log, service_manager);
    service_manager.stopping();
    log.write(engine::Level::info, "stopping");
    long_polls.stop();
    // Answers that wait for a commit still get it: the processor goes on until they are out.
    static_cast<void>(server.drain(drain_patience));
    if (admin) static_cast<void>(admin->server.drain(drain_patience));
    thread.stop();
    gateway.stop();
    counting.request_stop();
    counting.join();  // its snapshot would keep the log from being cut
    if (!thread.failed()) store.truncate_wal();
    log.write(engine::Level::info, "stopped");
    return thread.failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

std::string credentials_directory() {
    for (const auto& [name, value] : config::process_environment()) {
        if (name == "CREDENTIALS_DIRECTORY") return value;
    }
    return {};
}

// TLS files by their paths. Throws what is wrong with the name of a credential.
void find_tls_files(api::HttpOptions& http, const std::string& credentials) {
    for (std::string* file : {&http.tls_certificate_file, &http.tls_key_file}) {
        auto place = api::place_of(*file, credentials);
        if (const auto* problem = std::get_if<api::FileProblem>(&place)) {
            throw std::runtime_error(problem->text);
        }
        *file = std::get<std::string>(std::move(place));
    }
}

// What only the running service can read is left out; each name of one gets a line.
std::vector<std::string> leave_out_credentials(config::Settings& settings) {
    std::vector<std::string> lines;
    if (!settings.api.credentials_directory.empty()) return lines;
    for (std::string* file : {&settings.api.client_keys_file, &settings.api.share_tokens_file,
                              &settings.http.tls_certificate_file, &settings.http.tls_key_file}) {
        if (!api::is_credential(*file)) continue;
        lines.push_back("not_checked file=\"" + *file + "\" reason=\"only the service has it\"");
        file->clear();
    }
    return lines;
}

int refuse(const config::Refused& refused) {
    for (const std::string& error : refused.errors) std::cerr << error << "\n";
    return config::exit_usage;
}

int run(const config::Serve& command) {
    auto loaded = config::load(
        {command.file, config::process_environment(), command.data_dir, command.listen});
    if (const auto* refused = std::get_if<config::Refused>(&loaded)) return refuse(*refused);
    auto& found = std::get<config::Loaded>(loaded);
    found.settings.api.version = build_version;
    found.settings.api.build = build_commit;
    found.settings.api.credentials_directory = credentials_directory();
    find_tls_files(found.settings.http, found.settings.api.credentials_directory);
    if (found.settings.api.admin_enabled && !found.settings.admin.token_file.empty()) {
        found.settings.admin.token = config::read_token_file(
            found.settings.admin.token_file, found.settings.api.credentials_directory);
    }
    return serve(found);
}

int run(const config::Check& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), std::nullopt, std::nullopt});
    if (const auto* refused = std::get_if<config::Refused>(&loaded)) return refuse(*refused);
    auto& found = std::get<config::Loaded>(loaded);
    found.settings.api.credentials_directory = credentials_directory();
    for (std::string& line : leave_out_credentials(found.settings)) {
        found.notes.push_back(std::move(line));
    }
    try {
        const platform::RealClock clock;
        const api::Gatekeeper gatekeeper(found.settings.api, clock);
        api::HttpOptions& http = found.settings.http;
        find_tls_files(http, found.settings.api.credentials_directory);
        if (!http.tls_key_file.empty() && !http.tls_certificate_file.empty()) {
            const api::Tls tls({http.tls_certificate_file, http.tls_key_file});
        }
    } catch (const std::exception& error) {
        return refuse({{error.what()}});
    }
    for (const std::string& line : found.warnings) std::cout << "warning: " << line << "\n";
    for (const std::string& line : found.notes) std::cout << "note: " << line << "\n";
    std::cout << "configuration ok\n";
    return EXIT_SUCCESS;
}

int run(const config::Version&) {
    std::cout << "posthouse " << build_version << " " << build_commit << "\n"
              << store::Store::version() << "\n";
    return EXIT_SUCCESS;
}

int run(const config::Help& help) {
    std::cout << help.text;
    return EXIT_SUCCESS;
}

int run(const config::BadUsage& usage) {
    std::cerr << usage.text;
    return config::exit_usage;
}

}  // namespace

int main(int argc, char** argv) {
    fill_standard_streams();
    try {
        return std::visit([](const auto& command) { return run(command); },
                          config::parse_command_line(argc, argv));
    } catch (const std::exception& error) {
        std::cerr << "posthouse: " << error.what() << "\n";
        return EXIT_FAILURE;
    }
}
