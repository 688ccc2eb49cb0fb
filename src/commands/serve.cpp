#include "commands/serve.hpp"

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "commands/alarm.hpp"
#include "api/access/gatekeeper.hpp"
#include "api/admin/admin_application.hpp"
#include "api/application.hpp"
#include "net/http_server.hpp"
#include "api/metrics/metrics.hpp"
#include "api/metrics/metrics_server.hpp"
#include "commands/build_info.hpp"
#include "commands/chain.hpp"
#include "engine/gates.hpp"
#include "engine/inbox.hpp"
#include "engine/processor.hpp"
#include "engine/service.hpp"
#include "engine/stored_rounds.hpp"
#include "commands/reload.hpp"
#include "commands/remembered.hpp"
#include "commands/service_threads.hpp"
#include "commands/signals.hpp"
#include "store/census.hpp"
#include "store/reader.hpp"
#include "store/store.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "platform/secure_random.hpp"
#include "platform/service_manager.hpp"
#include "platform/worker_pool.hpp"
#include "commands/votes.hpp"

namespace commands {

namespace {

constexpr std::size_t reader_connections_max = 8;
// Look-ups wait for the vote chain more than they work.
constexpr std::size_t share_lookup_workers = 12;
constexpr std::size_t share_query_workers = 8;
constexpr domain::Milliseconds drain_patience{2'000};
constexpr domain::Milliseconds start_extension{30'000};

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

// The listener of the admin interface.
struct Admin {
    Admin(const api::admin::AdminOptions& options, api::admin::AdminChanges& changes, engine::Journal& journal,
          const engine::Clock& clock)
        : application(options.token, changes, journal, clock),
          server(api::admin::http_options_of(options), application) {}

    api::admin::AdminApplication application;
    net::HttpServer server;
};

// Counts what is stored now, beside everything else: a million requests must not delay the start.
std::jthread count_requests(const store::Options& options, api::metrics::Metrics& metrics,
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
std::unique_ptr<api::metrics::MetricsServer> serve_metrics(const api::metrics::MetricsOptions& options,
                                                  const api::metrics::Metrics& metrics,
                                                  api::metrics::Samples& samples, engine::Journal& journal,
                                                  const engine::Clock& clock) {
    if (options.host.empty()) return nullptr;
    auto server = std::make_unique<api::metrics::MetricsServer>(options, metrics, samples, journal, clock);
    journal.write(engine::Level::info,
                  "listening metrics=" + options.host + ":" + std::to_string(server->port()));
    return server;
}

}  // namespace

int serve(const config::Loaded& loaded) {
    const config::Settings& settings = loaded.settings;
    platform::Log log(settings.log);
    platform::ServiceManager service_manager;
    for (const std::string& line : loaded.warnings) log.write(engine::Level::warning, line);
    for (const std::string& line : loaded.notes) log.write(engine::Level::info, line);

    platform::RealClock clock;
    platform::SecureRandom random;
    // Before anything is on disk: with bad keys there is no start.
    api::access::Gatekeeper gatekeeper(settings.api, clock);
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

    api::metrics::Metrics metrics(settings.metrics, {build_version, build_commit});
    const std::unique_ptr<Chain> chain = make_chain(settings, clock, log);
    const std::unique_ptr<Votes> votes =
        make_votes(settings, chain->gateway(), chain->rounds(), clock, log, metrics);
    engine::Gateway& gateway = votes->gateway();

    engine::Gates gates(settings.engine, clock.monotonic());
    const engine::Tuning base = gates.tuning();
    const api::admin::RestoredTuning restored = restore_tuning(store, base, log);
    gates.retune(restored.tuning, clock.monotonic());
    engine::Inbox inbox(settings.engine.inbox_capacity);
    api::LongPolls long_polls(clock, settings.api.long_polls_max);
    engine::Observers observers;
    observers.add(long_polls);
    observers.add(metrics);
    const std::unique_ptr<Alarm> alarm = make_alarm(settings.webhook, inbox, clock, log);
    engine::Processor processor(settings.engine, store, gates, gateway, inbox, clock, random, log,
                                observers, alarm ? &alarm->sink() : nullptr);
    const StopAtEnd end_of_events{gateway};
    engine::Service service(inbox, processor, gates, gateway, reader, clock);
    engine::VoteChain vote_chain = votes->chain();
    engine::StoredRounds rounds(reader, vote_chain.rounds);

    const auto extend = [&] { service_manager.extend_timeout(start_extension); };
    log.write(engine::Level::info,
              recovered_line(processor.recover(extend), settings.engine.shares.expose_timing));

    std::jthread counting = count_requests(settings.store, metrics, log);

    platform::WorkerPool share_lookups(share_lookup_workers);
    platform::WorkerPool share_queries(share_query_workers);
    api::Application application(
        settings.api, {service,
                       service,
                       {rounds, vote_chain.trees, vote_chain.nullifiers, vote_chain.commitments},
                       chain->contracts(),
                       service,
                       chain->keys(),
                       clock,
                       random,
                       log,
                       long_polls,
                       metrics,
                       gatekeeper,
                       share_lookups,
                       share_queries,
                       &service});
    net::HttpServer server(settings.http, application);
    api::admin::AdminChanges changes(service, log, base, restored);
    std::optional<Admin> admin;
    if (settings.api.admin_enabled) admin.emplace(settings.admin, changes, log, clock);
    api::metrics::Samples samples(clock, settings.engine.clock_leap, settings.engine.clock_leap_hold,
                         settings.metrics,
                         {.depths = [&] { return gates.depths(); },
                          .inbox_size = [&] { return inbox.size(); },
                          .backlog = [&] { return reader.backlog(); },
                          .http = [&] { return server.counts(); },
                          .long_polls_waiting = [&] { return long_polls.waiting(); },
                          .long_polls_turned_away = [&] { return long_polls.turned_away(); },
                          .chain = [&] { return gateway.readings(); },
                          .process = api::metrics::process_facts});
    const auto metrics_server = serve_metrics(settings.metrics, metrics, samples, log, clock);
    ProcessorThread thread(processor, inbox, log, settings.stop_grace);
    const LongPollThread waiting(long_polls);
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
    inbox.stop();  // what ends early from now on counts for nothing
    gateway.wind_down();
    thread.stop();
    votes->stop_lookups();
    gateway.stop();
    if (alarm) alarm->stop();
    counting.request_stop();
    counting.join();  // its snapshot would keep the log from being cut
    if (!thread.failed()) {
        try {
            store.truncate_wal();
        } catch (const store::StorageError& error) {
            // The log stays and is read at the next start.
            log.write(engine::Level::warning,
                      std::string("checkpoint_skipped error=\"") + error.what() + "\"");
        }
    }
    log.write(engine::Level::info, "stopped");
    return thread.failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace commands
