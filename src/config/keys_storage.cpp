#include "config/keys.hpp"

#include <filesystem>

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr milliseconds ten_years = hours{24 * 3'650};

Key directory_key() {
    const ValueType<std::string> type = text("a path; made when missing", 1, 4'000);
    Key out;
    out.name = "storage.data_dir";
    out.allowed = type.allowed;
    out.doc = "Where everything durable lives; one process at a time. Local disks only.";
    out.read = [type](Settings& s, std::size_t, const Node& node) -> std::optional<Problem> {
        const auto reading = type.read(node);
        if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
        s.store.directory = std::get<std::string>(reading);
        return std::nullopt;
    };
    out.show = [type](const Settings& s, std::size_t) {
        return type.show(s.store.directory.string());
    };
    return out;
}

Key number_of_pool(const std::string& pool, std::string name, std::int64_t min, std::string sample,
                   std::string doc, std::string unit) {
    return unused("storage." + pool + "." + std::move(name), whole_number(min, 1'000'000),
                  std::move(sample), Effect::needs_postgresql, std::move(doc), std::move(unit));
}

void add_pool(std::vector<Key>& all, const std::string& pool,
              const std::array<std::string, 5>& samples) {
    all.push_back(number_of_pool(pool, "max_connections", 1, samples[0],
                                 "Connections to PostgreSQL.", "connections"));
    all.push_back(number_of_pool(pool, "min_connections", 0, samples[1], "Connections kept open.",
                                 "connections"));
    all.push_back(number_of_pool(pool, "acquire_timeout_secs", 0, samples[2],
                                 "How long to wait for a connection.", "seconds"));
    all.push_back(number_of_pool(pool, "idle_timeout_secs", 0, samples[3],
                                 "Idle connections are closed after this time.", "seconds"));
    all.push_back(number_of_pool(pool, "max_lifetime_secs", 0, samples[4],
                                 "Connections are renewed after this time.", "seconds"));
}

template <typename Access>
Key span(std::string name, Access access, std::string doc) {
    return key("storage.cron." + std::move(name), duration(milliseconds{1}, ten_years), access,
               std::move(doc));
}

}  // namespace

std::vector<Key> storage_keys() {
    std::vector<Key> all;
    all.push_back(directory_key());
    all.push_back(key(
        "storage.synchronous",
        choice<store::Synchronous>(
            {{"full", store::Synchronous::full}, {"normal", store::Synchronous::normal}}),
        [](auto& s) -> auto& { return s.store.synchronous; },
        "full: an accepted request survives a power cut. normal: it survives a crash of the "
        "program, a power cut may take the newest."));
    all.push_back(key(
        "storage.wal_bytes_max", whole_number(mebibyte, 16'384 * mebibyte),
        [](auto& s) -> auto& { return s.store.wal_bytes_max; },
        "The write-ahead log is written back even under load beyond this.", "bytes"));
    all.push_back(key(
        "storage.cache_bytes", whole_number(mebibyte, 16'384 * mebibyte),
        [](auto& s) -> auto& { return s.store.cache_bytes; }, "Page cache of the writer.",
        "bytes"));
    all.push_back(key(
        "storage.reserve_bytes", whole_number(0, 16'384 * mebibyte),
        [](auto& s) -> auto& { return s.store.reserve_bytes; },
        "Kept free, so that running requests end well on a full disk.", "bytes"));
    all.push_back(key(
        "storage.early_answers_max", whole_number(1, 10'000'000),
        [](auto& s) -> auto& { return s.store.early_answers_max; },
        "Answers kept that came before their receipt; the oldest go first.", "answers"));
    all.push_back(key(
        "storage.allow_network_filesystem", boolean(),
        [](auto& s) -> auto& { return s.store.allow_network_filesystem; },
        "Start on a network file system, where nothing can be promised."));
    all.push_back(hidden(unused("storage.sql_database_url", url({"postgres", "postgresql"}),
                                "\"postgres://HOST/NAME\"", Effect::needs_postgresql,
                                "Database of the reference.")));
    all.push_back(unused("storage.sql_health_check_timeout_secs", whole_number(0, 86'400), "5",
                         Effect::needs_postgresql, "For the health check of PostgreSQL.",
                         "seconds"));
    add_pool(all, "app_pool", {"10", "2", "10", "300", "900"});
    add_pool(all, "cron_pool", {"5", "1", "30", "600", "1800"});

    all.push_back(unused("storage.cron.timeout_cron_interval", duration(milliseconds{1}, ten_years),
                         "\"60s\"", Effect::superseded,
                         "How often time-outs are looked for; here they happen on time."));
    all.push_back(span(
        "public_decrypt_timeout",
        [](auto& s) -> auto& { return s.engine.response_timeout.public_decrypt; },
        "From the receipt to the answer of a public decryption."));
    all.push_back(span(
        "user_decrypt_timeout",
        [](auto& s) -> auto& { return s.engine.response_timeout.user_decrypt; },
        "From the receipt to the last share of a user decryption."));
    all.push_back(span(
        "input_proof_timeout",
        [](auto& s) -> auto& { return s.engine.response_timeout.input_proof; },
        "From the receipt to the answer of an input proof."));
    all.push_back(key(
        "storage.cron.expiry_enabled", boolean(),
        [](auto& s) -> auto& { return s.engine.retention.expiry_enabled; },
        "Delete finished requests after the times below."));
    all.push_back(unused("storage.cron.expiry_cron_interval", duration(milliseconds{1}, ten_years),
                         "\"5m\"", Effect::superseded,
                         "How often old requests are looked for; engine.maintenance_interval "
                         "says it here."));
    all.push_back(span(
        "public_decrypt_expiry", [](auto& s) -> auto& { return s.engine.retention.public_decrypt; },
        "Age at which a finished public decryption is deleted."));
    all.push_back(span(
        "user_decrypt_expiry", [](auto& s) -> auto& { return s.engine.retention.user_decrypt; },
        "Age at which a finished user decryption is deleted."));
    all.push_back(span(
        "input_proof_expiry", [](auto& s) -> auto& { return s.engine.retention.input_proof; },
        "Age at which a finished input proof is deleted."));
    all.push_back(
        unused("storage.cron.cron_startup_delay_after_recovery",
               duration(milliseconds{0}, ten_years), "\"30s\"", Effect::superseded,
               "Pause of the reference after a start; not needed here. Below 10 % of the shortest "
               "time-out, and of the shortest expiry when expiry is enabled."));
    return all;
}

std::vector<Key> engine_keys() {
    std::vector<Key> all;
    all.push_back(key(
        "engine.workers", whole_number(1, 1'024), [](auto& s) -> auto& { return s.workers; },
        "Threads for outside work: checks, proofs, sends.", "threads"));
    all.push_back(key(
        "engine.stop_grace", duration(milliseconds{0}, hours{1}),
        [](auto& s) -> auto& { return s.stop_grace; },
        "How long running work may report after SIGTERM."));
    all.push_back(key(
        "engine.fair_queues", boolean(), [](auto& s) -> auto& { return s.engine.fair_queues; },
        "Clients with keys of their own take turns in each queue, instead of first come, first "
        "served."));
    all.push_back(key(
        "engine.inbox_capacity", whole_number(1, 1'000'000),
        [](auto& s) -> auto& { return s.engine.inbox_capacity; },
        "Requests that wait for their commit; beyond, POSTs get 503.", "requests"));
    all.push_back(key(
        "engine.maintenance_interval", duration(milliseconds{100}, hours{1}),
        [](auto& s) -> auto& { return s.engine.maintenance_interval; },
        "How often to purge, to look for expired rounds, and at the latest to wake up."));
    all.push_back(key(
        "engine.readiness_timeout.public_decrypt", duration(milliseconds{1}, ten_years),
        [](auto& s) -> auto& { return s.engine.readiness_timeout.public_decrypt; },
        "From the first readiness check of a public decryption until it times out."));
    all.push_back(key(
        "engine.readiness_timeout.user_decrypt", duration(milliseconds{1}, ten_years),
        [](auto& s) -> auto& { return s.engine.readiness_timeout.user_decrypt; },
        "From the first readiness check of a user decryption until it times out."));
    all.push_back(key(
        "engine.sending_timeout", duration(milliseconds{1}, ten_years),
        [](auto& s) -> auto& { return s.engine.sending_timeout; },
        "From the first trouble, before anything was signed, until the request fails."));
    all.push_back(key(
        "engine.trouble_pause_max", duration(milliseconds{1}, hours{24}),
        [](auto& s) -> auto& { return s.engine.unreachable_pause.max; },
        "The longest pause between two tries while the chain can not be reached; the first "
        "is gateway.tx_engine.retry.retry_interval_ms."));
    all.push_back(key(
        "engine.lease", duration(seconds{1}, hours{24}),
        [](auto& s) -> auto& { return s.engine.lease; },
        "Outside work that has not reported by then is started again."));
    all.push_back(key(
        "engine.early_answer_lifetime", duration(seconds{1}, ten_years),
        [](auto& s) -> auto& { return s.engine.early_answer_lifetime; },
        "Answers to requests nobody here knows are forgotten after this time."));
    all.push_back(key(
        "engine.crashes_max", whole_number(1, 100),
        [](auto& s) -> auto& { return s.engine.crashes_max; },
        "A request the program died on so often is failed.", "crashes"));
    all.push_back(key(
        "clock.leap", duration(seconds{1}, hours{24}),
        [](auto& s) -> auto& { return s.engine.clock_leap; },
        "A wall clock that leaps ahead by more than this is not believed before leap_hold."));
    all.push_back(key(
        "clock.leap_hold", duration(seconds{1}, hours{24}),
        [](auto& s) -> auto& { return s.engine.clock_leap_hold; },
        "How long a wall clock must stay where it leapt before it is believed."));
    return all;
}

}  // namespace config
