#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>

#include "api/application.hpp"
#include "api/http_server.hpp"
#include "api/metrics/metrics.hpp"
#include "api/metrics/metrics_server.hpp"
#include "build_info.hpp"
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

// Signals that end the program; every thread inherits the block, one waits for them.
sigset_t stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);  // the terminal is gone
    return signals;
}

void block_signals() {
    const sigset_t signals = stop_signals();
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

void wait_for_stop_signal() {
    const sigset_t signals = stop_signals();
    int signal = 0;
    sigwait(&signals, &signal);
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
    api::Application application(settings.api, {service, service, gateway, contracts, service,
                                                clock, random, log, long_polls, metrics});
    api::HttpServer server(settings.http, application);
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
              "listening http=" + settings.http.host + ":" + std::to_string(server.port()));
    service_manager.ready();

    wait_for_stop_signal();
    service_manager.stopping();
    log.write(engine::Level::info, "stopping");
    long_polls.stop();
    // Answers that wait for a commit still get it: the processor goes on until they are out.
    static_cast<void>(server.drain(drain_patience));
    thread.stop();
    gateway.stop();
    counting.request_stop();
    counting.join();  // its snapshot would keep the log from being cut
    if (!thread.failed()) store.truncate_wal();
    log.write(engine::Level::info, "stopped");
    return thread.failed() ? EXIT_FAILURE : EXIT_SUCCESS;
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
    return serve(found);
}

int run(const config::Check& command) {
    const auto loaded =
        config::load({command.file, config::process_environment(), std::nullopt, std::nullopt});
    if (const auto* refused = std::get_if<config::Refused>(&loaded)) return refuse(*refused);
    const auto& found = std::get<config::Loaded>(loaded);
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
