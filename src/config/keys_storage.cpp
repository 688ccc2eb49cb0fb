#include "config/keys.hpp"

#include <array>

namespace config {
namespace {

using namespace std::chrono_literals;

std::vector<Key> pool_keys(const std::string& name, const std::array<std::string, 5>& samples) {
    const auto number = [&](const std::string& member, std::int64_t min, const std::string& sample,
                            std::string doc, std::string unit) {
        return unused("storage." + name + "." + member, whole_number(min, 1'000'000), sample,
                      Effect::needs_postgresql, std::move(doc), std::move(unit));
    };
    return {
        number("max_connections", 1, samples[0], "Connections to PostgreSQL.", "connections"),
        number("min_connections", 0, samples[1], "Connections kept open.", "connections"),
        number("acquire_timeout_secs", 0, samples[2], "How long to wait for a connection.",
               "seconds"),
        number("idle_timeout_secs", 0, samples[3], "Idle connections are closed after this time.",
               "seconds"),
        number("max_lifetime_secs", 0, samples[4], "Connections are renewed after this time.",
               "seconds"),
    };
}

template <typename Access>
Key span(std::string name, Access access, std::string doc) {
    return key("storage.cron." + std::move(name), duration(1ms, ten_years), access, std::move(doc));
}

std::vector<Key> database_keys() {
    return {
        key("storage.data_dir", text("a path; made when missing", 1, 4'000),
            SETTING(store.directory),
            "Where everything durable lives; one process at a time. Local disks only."),
        key("storage.synchronous",
            choice<store::Synchronous>(
                {{"full", store::Synchronous::full}, {"normal", store::Synchronous::normal}}),
            SETTING(store.synchronous),
            "full: an accepted request survives a power cut. normal: it survives a crash of the "
            "program, a power cut may take the newest."),
        key("storage.wal_bytes_max", whole_number(mebibyte, 16'384 * mebibyte),
            SETTING(store.wal_bytes_max),
            "The write-ahead log is written back even under load beyond this.", "bytes"),
        key("storage.cache_bytes", whole_number(mebibyte, 16'384 * mebibyte),
            SETTING(store.cache_bytes), "Page cache of the writer.", "bytes"),
        key("storage.reserve_bytes", whole_number(0, 16'384 * mebibyte),
            SETTING(store.reserve_bytes),
            "Kept free, so that running requests end well on a full disk.", "bytes"),
        key("storage.early_answers_max", whole_number(1, 10'000'000),
            SETTING(store.early_answers_max),
            "Answers kept that came before their receipt; the oldest go first.", "answers"),
        key("storage.allow_network_filesystem", boolean(), SETTING(store.allow_network_filesystem),
            "Start on a network file system, where nothing can be promised."),
        hidden(unused("storage.sql_database_url", url({"postgres", "postgresql"}),
                      "\"postgres://HOST/NAME\"", Effect::needs_postgresql,
                      "Database of the reference.")),
        unused("storage.sql_health_check_timeout_secs", whole_number(0, 86'400), "5",
               Effect::needs_postgresql, "For the health check of PostgreSQL.", "seconds"),
    };
}

std::vector<Key> cron_keys() {
    return {
        unused("storage.cron.timeout_cron_interval", duration(1ms, ten_years), "\"60s\"",
               Effect::superseded, "How often time-outs are looked for; here they happen on time."),
        span("public_decrypt_timeout", SETTING(engine.response_timeout.public_decrypt),
             "From the receipt to the answer of a public decryption."),
        span("user_decrypt_timeout", SETTING(engine.response_timeout.user_decrypt),
             "From the receipt to the last share of a user decryption."),
        span("input_proof_timeout", SETTING(engine.response_timeout.input_proof),
             "From the receipt to the answer of an input proof."),
        key("storage.cron.expiry_enabled", boolean(), SETTING(engine.retention.expiry_enabled),
            "Delete finished requests after the times below."),
        unused("storage.cron.expiry_cron_interval", duration(1ms, ten_years), "\"5m\"",
               Effect::superseded,
               "How often old requests are looked for; engine.maintenance_interval says it here."),
        span("public_decrypt_expiry", SETTING(engine.retention.public_decrypt),
             "Age at which a finished public decryption is deleted."),
        span("user_decrypt_expiry", SETTING(engine.retention.user_decrypt),
             "Age at which a finished user decryption is deleted."),
        span("input_proof_expiry", SETTING(engine.retention.input_proof),
             "Age at which a finished input proof is deleted."),

        unused("storage.cron.cron_startup_delay_after_recovery", duration(0ms, ten_years),
               "\"30s\"", Effect::superseded,
               "Pause of the reference after a start; not needed here. Below 10 % of the shortest "
               "time-out, and of the shortest expiry when expiry is enabled."),
    };
}

}  // namespace

std::vector<Key> storage_keys() {
    return joined({database_keys(), pool_keys("app_pool", {"10", "2", "10", "300", "900"}),
                   pool_keys("cron_pool", {"5", "1", "30", "600", "1800"}), cron_keys()});
}

std::vector<Key> engine_keys() {
    return {
        key("engine.workers", whole_number(1, 1'024), SETTING(workers),
            "Threads for outside work: checks, proofs, sends.", "threads"),
        key("engine.stop_grace", duration(0ms, 1h), SETTING(stop_grace),
            "How long running work may report after SIGTERM."),
        key("engine.fair_queues", boolean(), SETTING(engine.fair_queues),
            "Clients with keys of their own take turns in each queue, instead of first come, first "
            "served."),
        key("engine.inbox_capacity", whole_number(1, 1'000'000), SETTING(engine.inbox_capacity),
            "Requests that wait for their commit; beyond, POSTs get 503.", "requests"),
        key("engine.maintenance_interval", duration(100ms, 1h),
            SETTING(engine.maintenance_interval),
            "How often to purge, to look for expired rounds, and at the latest to wake up."),
        key("engine.readiness_timeout.public_decrypt", duration(1ms, ten_years),
            SETTING(engine.readiness_timeout.public_decrypt),
            "From the first readiness check of a public decryption until it times out."),
        key("engine.readiness_timeout.user_decrypt", duration(1ms, ten_years),
            SETTING(engine.readiness_timeout.user_decrypt),
            "From the first readiness check of a user decryption until it times out."),
        key("engine.sending_timeout", duration(1ms, ten_years), SETTING(engine.sending_timeout),
            "From the first trouble, before anything was signed, until the request fails."),
        key("engine.trouble_pause_max", duration(1ms, 24h), SETTING(engine.unreachable_pause.max),
            "The longest pause between two tries while the chain can not be reached; the first is "
            "gateway.tx_engine.retry.retry_interval_ms."),
        key("engine.lease", duration(1s, 24h), SETTING(engine.lease),
            "Outside work that has not reported by then is started again."),
        key("engine.early_answer_lifetime", duration(1s, ten_years),
            SETTING(engine.early_answer_lifetime),
            "Answers to requests nobody here knows are forgotten after this time."),
        key("engine.crashes_max", whole_number(1, 100), SETTING(engine.crashes_max),
            "A request that was in work at so many crashes of the program is failed; kills do not "
            "count.",
            "crashes"),
        key("clock.leap", duration(1s, 24h), SETTING(engine.clock_leap),
            "A wall clock that leaps ahead by more than this is not believed before leap_hold."),
        key("clock.leap_hold", duration(1s, 24h), SETTING(engine.clock_leap_hold),
            "How long a wall clock must stay where it leapt before it is believed."),
    };
}

}  // namespace config
