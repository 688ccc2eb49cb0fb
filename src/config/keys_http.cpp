#include "config/admin_token.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

template <typename Access>
Key endpoint_key(std::string name, std::string doc, Access access) {
    const ValueType<Endpoint> type = endpoint();
    Key out;
    out.name = std::move(name);
    out.allowed = type.allowed;
    out.doc = std::move(doc);
    out.read = [type, access](Settings& s, std::size_t,
                              const Node& node) -> std::optional<Problem> {
        Reading<Endpoint> reading = type.read(node);
        if (auto* problem = std::get_if<Problem>(&reading)) return std::move(*problem);
        auto& [host, port] = std::get<Endpoint>(reading);
        access(s).host = std::move(host);
        access(s).port = port;
        return std::nullopt;
    };
    out.show = [type, access](const Settings& s, std::size_t) {
        return type.show({access(s).host, access(s).port});
    };
    return out;
}

Key metrics_endpoint_key() {
    const ValueType<Endpoint> type = endpoint();
    const ValueType<std::string> none = text("", 0, 0);
    Key out;
    out.name = "metrics.endpoint";
    out.allowed = type.allowed + "; empty: metrics are not served";
    out.doc = "Where metrics are served, apart from everything else.";
    out.read = [type, none](Settings& s, std::size_t, const Node& node) -> std::optional<Problem> {
        if (std::holds_alternative<std::string>(none.read(node))) {
            s.metrics.host.clear();
            return std::nullopt;
        }
        Reading<Endpoint> reading = type.read(node);
        if (auto* problem = std::get_if<Problem>(&reading)) return std::move(*problem);
        auto& [host, port] = std::get<Endpoint>(reading);
        s.metrics.host = std::move(host);
        s.metrics.port = port;
        return std::nullopt;
    };
    out.show = [type](const Settings& s, std::size_t) {
        if (s.metrics.host.empty()) return toml_text("");
        return type.show({s.metrics.host, s.metrics.port});
    };
    return out;
}

// Both the submitter and the routes answer 429.
Key bounce_key() {
    Key out = key(
        "http.api_retry_after_seconds", whole_number(1, 86'400),
        [](auto& s) -> auto& { return s.api.api_retry_after_seconds; }, "Retry-After of every 429.",
        "seconds");
    out.read = [read = out.read](Settings& s, std::size_t index, const Node& node) {
        auto problem = read(s, index, node);
        s.engine.api_retry_after_seconds = s.api.api_retry_after_seconds;
        return problem;
    };
    return out;
}

template <typename Access>
Key nominal(std::string name, milliseconds unit, Access access, std::string doc) {
    return key("http.retry_after.nominal_times." + std::move(name),
               count_of(unit, 0, milliseconds{hours{24}} / unit), access, std::move(doc),
               unit == milliseconds{1} ? "milliseconds" : "seconds");
}

}  // namespace

std::vector<Key> http_keys() {
    std::vector<Key> all;
    all.push_back(endpoint_key(
        "http.endpoint", "Where requests come in.", [](auto& s) -> auto& { return s.http; }));
    all.push_back(key(
        "http.app_name", text("1 to 100 characters", 1, 100),
        [](auto& s) -> auto& { return s.api.app_name; },
        "The name in GET /version. The variable APP_NAME is understood as well."));
    all.push_back(bounce_key());
    all.push_back(key(
        "http.enable_admin_endpoint", boolean(),
        [](auto& s) -> auto& { return s.api.admin_enabled; },
        "Serve /admin/config, where settings are changed while it runs; needs a token."));
    all.push_back(endpoint_key(
        "http.admin_endpoint", "Where /admin/config is served; not where requests come in.",
        [](auto& s) -> auto& { return s.admin; }));
    all.push_back(hidden(key(
        "http.admin_token", secret(admin_token_allowed),
        [](auto& s) -> auto& { return s.admin.token; },
        "What a client of /admin/config shows, as Authorization: Bearer TOKEN. Better kept in "
        "admin_token_file or in the environment.")));
    all.push_back(key(
        "http.admin_token_file", text("a path, or credential:NAME of systemd", 0, 4'096),
        [](auto& s) -> auto& { return s.admin.token_file; },
        "A file with the token in its place, closed to other users."));
    all.push_back(key(
        "http.cors_allow_origin", text("an origin or *; empty: no CORS headers", 0, 1'000),
        [](auto& s) -> auto& { return s.api.cors_allow_origin; },
        "Access-Control-Allow-Origin of every answer."));
    all.push_back(key(
        "http.client_keys_file",
        text("a path or credential:NAME, at most 4096 bytes; empty: everybody may come in", 0,
             4'096),
        [](auto& s) -> auto& { return s.api.access.client_keys_file; },
        "Who may use the relayer routes: a file of lines NAME KEY [RATE [BURST]], which others "
        "than "
        "its owner and group may not use. SIGHUP reads it again."));
    all.push_back(key(
        "http.tls_certificate_file", text("a path or credential:NAME; empty: no TLS", 0, 4'096),
        [](auto& s) -> auto& { return s.http.tls_certificate_file; },
        "Serve HTTPS with this certificate and what leads to its authority, as PEM. SIGHUP reads "
        "it again."));
    all.push_back(key(
        "http.tls_key_file", text("a path or credential:NAME; empty: no TLS", 0, 4'096),
        [](auto& s) -> auto& { return s.http.tls_key_file; },
        "The key of that certificate, as PEM; others than its owner and group may not use it."));
    all.push_back(key(
        "http.body_bytes_max", whole_number(1'024, 64 * mebibyte),
        [](auto& s) -> auto& { return s.api.relayer_body_bytes_max; },
        "The largest body of a relayer request.", "bytes"));
    all.push_back(key(
        "http.workers", whole_number(1, 1'024), [](auto& s) -> auto& { return s.http.workers; },
        "Threads that answer requests.", "threads"));
    all.push_back(key(
        "http.head_bytes_max", whole_number(1'024, mebibyte),
        [](auto& s) -> auto& { return s.http.head_bytes_max; },
        "The largest request line with its headers.", "bytes"));
    all.push_back(key(
        "http.headers_max", whole_number(1, 10'000),
        [](auto& s) -> auto& { return s.http.headers_max; }, "Headers of one request.", "headers"));
    all.push_back(key(
        "http.buffered_bytes_max", whole_number(mebibyte, 65'536 * mebibyte),
        [](auto& s) -> auto& { return s.http.buffered_bytes_max; },
        "Memory for requests that arrive or are being answered, all together.", "bytes"));
    all.push_back(key(
        "http.idle_timeout", duration(seconds{1}, hours{1}, seconds{1}),
        [](auto& s) -> auto& { return s.http.idle_timeout; },
        "A connection without a request is closed after this time."));
    all.push_back(key(
        "http.request_deadline", duration(milliseconds{100}, hours{1}),
        [](auto& s) -> auto& { return s.http.request_deadline; },
        "For a request to arrive whole, and again for its answer to be taken."));
    all.push_back(key(
        "http.connections_max", whole_number(1, 1'000'000),
        [](auto& s) -> auto& { return s.http.connections_max; },
        "Open connections; less where the limit of open files is near.", "connections"));
    all.push_back(key(
        "http.connections_per_address_max", whole_number(1, 1'000'000),
        [](auto& s) -> auto& { return s.http.connections_per_address_max; },
        "Open connections of one client address.", "connections"));
    all.push_back(key(
        "http.descriptors_reserved", whole_number(0, 100'000),
        [](auto& s) -> auto& { return s.http.descriptors_reserved; },
        "Open files the connections leave to everything else.", "files"));
    all.push_back(key(
        "http.long_polls_max", whole_number(0, 100'000),
        [](auto& s) -> auto& { return s.api.long_polls_max; },
        "Polls that may wait for the end of their job at the same time; others are answered at "
        "once.",
        "polls"));
    all.push_back(key(
        "http.long_poll_wait_max", duration(seconds{1}, minutes{10}, seconds{1}),
        [](auto& s) -> auto& { return s.api.long_poll_wait_max; },
        "The longest wait a poll may ask for."));
    all.push_back(key(
        "http.metrics.histogram_buckets", histogram_buckets(),
        [](auto& s) -> auto& { return s.metrics.http_seconds; },
        "Buckets of the duration of HTTP requests.", "seconds"));

    all.push_back(key(
        "http.retry_after.min_seconds", whole_number(1, 86'400),
        [](auto& s) -> auto& { return s.engine.retry_after.min_seconds; },
        "The shortest Retry-After of a pending job; below max_seconds.", "seconds"));
    all.push_back(key(
        "http.retry_after.max_seconds", whole_number(1, 86'400),
        [](auto& s) -> auto& { return s.engine.retry_after.max_seconds; },
        "The longest Retry-After of a pending job.", "seconds"));
    all.push_back(key(
        "http.retry_after.safety_margin", fraction(),
        [](auto& s) -> auto& { return s.engine.retry_after.safety_margin_permille; },
        "Added to each estimate, as a share of it."));
    all.push_back(key(
        "http.retry_after.copro_kms_backoff_intervals", backoff_intervals(),
        [](auto& s) -> auto& { return s.engine.retry_after.copro_kms_backoff_intervals; },
        "Retry-After once the transaction is in: from so many seconds on, so many seconds.",
        "seconds"));
    all.push_back(nominal(
        "readiness_check_seconds", seconds{1},
        [](auto& s) -> auto& { return s.engine.retry_after.readiness_check; },
        "How long a readiness check usually takes."));
    all.push_back(nominal(
        "input_proof_processing_seconds", seconds{1},
        [](auto& s) -> auto& { return s.engine.retry_after.input_proof_processing; },
        "How long an input proof usually takes."));
    all.push_back(nominal(
        "user_decrypt_processing_seconds", seconds{1},
        [](auto& s) -> auto& { return s.engine.retry_after.user_decrypt_processing; },
        "How long a user decryption usually takes."));
    all.push_back(nominal(
        "public_decrypt_processing_seconds", seconds{1},
        [](auto& s) -> auto& { return s.engine.retry_after.public_decrypt_processing; },
        "How long a public decryption usually takes."));
    all.push_back(nominal(
        "tx_confirmation_ms", milliseconds{1},
        [](auto& s) -> auto& { return s.engine.retry_after.tx_confirmation; },
        "How long a transaction usually takes to be included."));

    all.push_back(key(
        "log.format",
        choice<platform::LogFormat>({{"compact", platform::LogFormat::compact},
                                     {"pretty", platform::LogFormat::pretty},
                                     {"json", platform::LogFormat::json}}),
        [](auto& s) -> auto& { return s.log.format; }, "How log lines look."));
    all.push_back(key(
        "log.level",
        choice<ports::LogLevel>({{"debug", ports::LogLevel::debug},
                                 {"info", ports::LogLevel::info},
                                 {"warning", ports::LogLevel::warning},
                                 {"error", ports::LogLevel::error}}),
        [](auto& s) -> auto& { return s.log.level; }, "Lines below it are dropped."));
    all.push_back(unused("log.show_file_line", boolean(), "false", Effect::superseded,
                         "Source file and line; log lines here have none."));
    all.push_back(key(
        "log.show_thread_ids", boolean(), [](auto& s) -> auto& { return s.log.show_thread_ids; },
        "Begin log lines with the thread."));
    all.push_back(key(
        "log.show_timestamp", boolean(), [](auto& s) -> auto& { return s.log.show_timestamp; },
        "Begin log lines with the time."));
    all.push_back(key(
        "log.show_target", boolean(), [](auto& s) -> auto& { return s.log.show_target; },
        "Begin log lines with the program's name."));

    all.push_back(metrics_endpoint_key());
    all.push_back(key(
        "metrics.query_duration_histogram_bucket", histogram_buckets(),
        [](auto& s) -> auto& { return s.metrics.query_seconds; },
        "Buckets of the duration of database queries.", "seconds"));
    all.push_back(key(
        "metrics.request_status_duration_histogram_bucket", histogram_buckets(),
        [](auto& s) -> auto& { return s.metrics.status_seconds; },
        "Buckets of the time spent in a status.", "seconds"));
    all.push_back(key(
        "metrics.transaction_duration_secs_histogram_bucket", histogram_buckets(),
        [](auto& s) -> auto& { return s.metrics.transaction_seconds; },
        "Buckets of the duration of transactions.", "seconds"));
    all.push_back(key(
        "metrics.retry_after_raw_eta_histogram_bucket", histogram_buckets(),
        [](auto& s) -> auto& { return s.metrics.estimate_seconds; },
        "Buckets of estimates before margin and clamp.", "seconds"));
    return all;
}

}  // namespace config
