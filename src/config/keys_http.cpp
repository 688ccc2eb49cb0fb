#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/secret_values.hpp"
#include "net/url.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

template <typename Access>
Key endpoint_key(std::string name, std::string doc, Access access) {
    const ValueType<Endpoint> type = endpoint();
    Key out = described(std::move(name), type.allowed, std::move(doc));
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
    Key out =
        endpoint_key("metrics.endpoint", "Where metrics are served, apart from everything else.",
                     SETTING(metrics));
    out.allowed += "; empty: metrics are not served";
    out.read = [read = out.read, none = text("", 0, 0)](
                   Settings& s, std::size_t index, const Node& node) -> std::optional<Problem> {
        if (!std::holds_alternative<std::string>(none.read(node))) return read(s, index, node);
        s.metrics.host.clear();
        return std::nullopt;
    };
    out.show = [show = out.show](const Settings& s, std::size_t index) {
        return s.metrics.host.empty() ? toml_text("") : show(s, index);
    };
    return out;
}

// As browsers write one, which compare it letter by letter: in lower case, without the scheme's own
// port.
bool is_origin(std::string_view text) {
    const std::size_t separator = text.find("://");
    if (separator == std::string_view::npos || separator == 0) return false;
    const std::string_view place = text.substr(separator + 3);
    const bool is_web = text.starts_with("http://") || text.starts_with("https://");
    const auto url = net::parse_url(text);
    return !place.empty() && place.find_first_of("/?#@,*") == std::string_view::npos &&
           std::ranges::all_of(text, base::is_visible) && base::lower_case(text) == text &&
           (!is_web || (url && url->authority() == place));
}

ValueType<std::string> cors_origin() {
    ValueType<std::string> type = text(
        "an origin as browsers write it, such as https://app.example.org (lower case, no path), "
        "null, or *; empty: no CORS headers",
        0, 1'000);
    type.read = [read = type.read](const Node& node) -> Reading<std::string> {
        Reading<std::string> reading = read(node);
        const auto* origin = std::get_if<std::string>(&reading);
        if (origin == nullptr || origin->empty() || *origin == "*" || *origin == "null" ||
            is_origin(*origin)) {
            return reading;
        }
        return Problem{in_quotes(*origin) + " is no origin", {}, {}};
    };
    return type;
}

template <typename Access>
Key nominal(std::string name, milliseconds unit, Access access, std::string doc) {
    return key("http.retry_after.nominal_times." + std::move(name),
               count_of(unit, 0, milliseconds{24h} / unit), access, std::move(doc),
               unit == 1ms ? "milliseconds" : "seconds");
}

}  // namespace

std::vector<Key> http_keys() {
    return {
        endpoint_key("http.endpoint", "Where requests come in.", SETTING(http)),
        key("http.app_name", text("1 to 100 characters", 1, 100), SETTING(api.app_name),
            "The name in GET /version. The variable APP_NAME is understood as well."),
        // Both the submitter and the routes answer 429.
        copied(key("http.api_retry_after_seconds", whole_number(1, 86'400),
                   SETTING(api.api_retry_after_seconds), "Retry-After of every 429.", "seconds"),
               [](Settings& s, std::size_t) {
                   s.engine.api_retry_after_seconds = s.api.api_retry_after_seconds;
               }),
        key("http.enable_admin_endpoint", boolean(), SETTING(api.admin_enabled),
            "Serve the page of operators and /admin/config, where settings are changed while it "
            "runs; needs a token."),
        endpoint_key("http.admin_endpoint",
                     "Where /admin/config is served; not where requests come in.", SETTING(admin)),
        hidden(key("http.admin_token", secret(admin_token_allowed), SETTING(admin.token),
                   "What a client of /admin/config shows, as Authorization: Bearer TOKEN. Better "
                   "kept in admin_token_file or in the environment.")),
        key("http.admin_token_file", secret("a path, or credential:NAME of systemd"),
            SETTING(admin.token_file),
            "A file with the token in its place, closed to other users."),
        key("http.cors_allow_origin", cors_origin(), SETTING(api.cors_allow_origin),
            "Access-Control-Allow-Origin of every answer."),
        key("http.client_keys_file",
            secret("a path or credential:NAME, at most 4096 bytes; empty: everybody may come in"),
            SETTING(api.access.client_keys_file),
            "Who may use the relayer routes: a file of lines NAME KEY [RATE [BURST]], which others "
            "than its owner and group may not use. SIGHUP reads it again."),
        key("http.tls_certificate_file", text("a path or credential:NAME; empty: no TLS", 0, 4'096),
            SETTING(http.tls_certificate_file),
            "Serve HTTPS with this certificate and what leads to its authority, as PEM. SIGHUP "
            "reads it again."),
        key("http.tls_key_file", secret("a path or credential:NAME; empty: no TLS"),
            SETTING(http.tls_key_file),
            "The key of that certificate, as PEM; others than its owner and group may not use it."),
        key("http.body_bytes_max", whole_number(1'024, 64 * mebibyte),
            SETTING(api.relayer_body_bytes_max), "The largest body of a relayer request.", "bytes"),
        key("http.workers", whole_number(1, 1'024), SETTING(http.workers),
            "Threads that answer requests.", "threads"),
        key("http.head_bytes_max", whole_number(1'024, mebibyte), SETTING(http.head_bytes_max),
            "The largest request line with its headers.", "bytes"),
        key("http.headers_max", whole_number(1, 10'000), SETTING(http.headers_max),
            "Headers of one request.", "headers"),
        key("http.buffered_bytes_max", whole_number(mebibyte, 65'536 * mebibyte),
            SETTING(http.buffered_bytes_max),
            "Memory for requests that arrive or are being answered, all together; as much again "
            "for answers under way. At least twice the largest body with two heads.",
            "bytes"),
        key("http.idle_timeout", duration(1s, 1h, 1s), SETTING(http.idle_timeout),
            "A connection without a request is closed after this time."),
        key("http.request_deadline", duration(100ms, 1h), SETTING(http.request_deadline),
            "For a request to arrive whole, and again for its answer to be taken."),
        key("http.connections_max", whole_number(1, 1'000'000), SETTING(http.connections_max),
            "Open connections; less where the limit of open files is near.", "connections"),
        key("http.connections_per_address_max", whole_number(1, 1'000'000),
            SETTING(http.connections_per_address_max), "Open connections of one client address.",
            "connections"),
        key("http.descriptors_reserved", whole_number(0, 100'000),
            SETTING(http.descriptors_reserved),
            "Open files the connections leave to everything else.", "files"),
        key("http.long_polls_max", whole_number(0, 100'000), SETTING(api.long_polls_max),
            "Polls that may wait for the end of their job at the same time; others are answered at "
            "once.",
            "polls"),
        key("http.long_poll_wait_max", duration(1s, 10min, 1s), SETTING(api.long_poll_wait_max),
            "The longest wait a poll may ask for."),
        key("http.metrics.histogram_buckets", histogram_buckets(), SETTING(metrics.http_seconds),
            "Buckets of the duration of HTTP requests.", "seconds"),

        key("http.retry_after.min_seconds", whole_number(1, 86'400),
            SETTING(engine.retry_after.min_seconds),
            "The shortest Retry-After of a pending job; below max_seconds.", "seconds"),
        key("http.retry_after.max_seconds", whole_number(1, 86'400),
            SETTING(engine.retry_after.max_seconds), "The longest Retry-After of a pending job.",
            "seconds"),
        key("http.retry_after.safety_margin", fraction(),
            SETTING(engine.retry_after.safety_margin_permille),
            "Added to each estimate, as a share of it."),
        key("http.retry_after.copro_kms_backoff_intervals", backoff_intervals(),
            SETTING(engine.retry_after.copro_kms_backoff_intervals),
            "Retry-After once the transaction is in: from so many seconds on, so many seconds.",
            "seconds"),
        nominal("readiness_check_seconds", 1s, SETTING(engine.retry_after.readiness_check),
                "How long a readiness check usually takes."),
        nominal("input_proof_processing_seconds", 1s,
                SETTING(engine.retry_after.input_proof_processing),
                "How long an input proof usually takes."),
        nominal("user_decrypt_processing_seconds", 1s,
                SETTING(engine.retry_after.user_decrypt_processing),
                "How long a user decryption usually takes."),
        nominal("public_decrypt_processing_seconds", 1s,
                SETTING(engine.retry_after.public_decrypt_processing),
                "How long a public decryption usually takes."),
        nominal("tx_confirmation_ms", 1ms, SETTING(engine.retry_after.tx_confirmation),
                "How long a transaction usually takes to be included."),

        key("log.format",
            choice<platform::LogFormat>({{"compact", platform::LogFormat::compact},
                                         {"pretty", platform::LogFormat::pretty},
                                         {"json", platform::LogFormat::json}}),
            SETTING(log.format), "How log lines look."),
        key("log.level",
            choice<ports::LogLevel>({{"debug", ports::LogLevel::debug},
                                     {"info", ports::LogLevel::info},
                                     {"warning", ports::LogLevel::warning},
                                     {"error", ports::LogLevel::error}}),
            SETTING(log.level), "Lines below it are dropped."),
        unused("log.show_file_line", boolean(), "false", Effect::superseded,
               "Source file and line; log lines here have none."),
        key("log.show_thread_ids", boolean(), SETTING(log.show_thread_ids),
            "Begin log lines with the thread."),
        key("log.show_timestamp", boolean(), SETTING(log.show_timestamp),
            "Begin log lines with the time; text goes without in the journal, which has its own."),
        key("log.show_target", boolean(), SETTING(log.show_target),
            "Begin log lines with the program's name."),

        metrics_endpoint_key(),
        key("metrics.query_duration_histogram_bucket", histogram_buckets(),
            SETTING(metrics.query_seconds), "Buckets of the duration of database queries.",
            "seconds"),
        key("metrics.request_status_duration_histogram_bucket", histogram_buckets(),
            SETTING(metrics.status_seconds), "Buckets of the time spent in a status.", "seconds"),
        key("metrics.transaction_duration_secs_histogram_bucket", histogram_buckets(),
            SETTING(metrics.transaction_seconds), "Buckets of the duration of transactions.",
            "seconds"),
        key("metrics.retry_after_raw_eta_histogram_bucket", histogram_buckets(),
            SETTING(metrics.estimate_seconds), "Buckets of estimates before margin and clamp.",
            "seconds"),
    };
}

}  // namespace config
