#include "config/cross_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

#include "chains/loopback/options.hpp"
#include "config/quantities.hpp"
#include "config/secret_values.hpp"
#include "config/value_type.hpp"
#include "domain/retry_after.hpp"

namespace config {
namespace {

// Whether who listens on `host` surely listens on `other` as well.
bool includes(const std::string& host, const std::string& other) {
    const bool is_v4 = other.find_first_not_of("0123456789.") == std::string::npos;
    return host == other || host == "::" ||
           (host == "0.0.0.0" && (is_v4 || other == "localhost")) ||
           (host == "localhost" && other == "127.0.0.1");
}

class CrossChecks {
public:
    CrossChecks(const Node& root, const Settings& settings, Findings& findings)
        : root_(root), settings_(settings), findings_(findings) {}
    CrossChecks(const Node& root, Settings&& settings, Findings& findings) = delete;

    void run() {
        const auto& sending = settings_.engine.sending;
        const std::string throttlers = "gateway.tx_engine.tx_throttlers.";
        margin(throttlers + "input_proof", sending.input_proof);
        margin(throttlers + "user_decrypt", sending.user_decrypt);
        margin(throttlers + "public_decrypt", sending.public_decrypt);
        const auto& readiness = settings_.engine.readiness;
        const std::string checker = "gateway.readiness_checker.";
        margin(checker + "public_decrypt", readiness.public_decrypt);
        margin(checker + "user_decrypt", readiness.user_decrypt);
        retry_after();
        tls();
        admin();
        addresses();
        startup_delay();
        chain_ids();
        pool("storage.app_pool");
        pool("storage.cron_pool");
        pauses();
    }

private:
    void error(std::initializer_list<std::string> keys, const std::string& problem,
               const std::string& allowed) {
        findings_.error_where_set(keys, problem, allowed);
    }

    void margin(const std::string& gate, const auto& options) {
        if (options.safety_margin < options.capacity) return;
        error({gate + ".safety_margin", gate + ".capacity"},
              "safety_margin is " + std::to_string(options.safety_margin) + ", capacity is " +
                  std::to_string(options.capacity),
              "safety_margin below capacity");
    }

    void retry_after() {
        const domain::RetryAfterOptions& options = settings_.engine.retry_after;
        if (options.min_seconds < options.max_seconds) return;
        error({"http.retry_after.min_seconds", "http.retry_after.max_seconds"},
              "min_seconds is " + std::to_string(options.min_seconds) + ", max_seconds is " +
                  std::to_string(options.max_seconds),
              "min_seconds below max_seconds");
    }

    void tls() {
        const net::HttpOptions& http = settings_.http;
        if (http.tls_certificate_file.empty() == http.tls_key_file.empty()) return;
        const bool key_missing = http.tls_key_file.empty();
        error({key_missing ? "http.tls_certificate_file" : "http.tls_key_file"},
              std::string("needs ") +
                  (key_missing ? "http.tls_key_file" : "http.tls_certificate_file") + " beside it",
              "both files, or neither for plain HTTP");
    }

    void admin() {
        const std::string& token = settings_.admin.token;
        const std::string& token_file = settings_.admin.token_file;
        const std::string token_key = "http.admin_token";
        const std::string file_key = "http.admin_token_file";
        if (!token.empty()) {
            if (const auto problem = problem_of_token(token)) {
                error({token_key}, *problem, std::string{admin_token_allowed});
            }
            if (!token_file.empty()) error({file_key}, token_key + " is set too", "one of the two");
        }
        if (!settings_.api.admin_enabled) return;
        if (token.empty() && token_file.empty()) {
            error({"http.enable_admin_endpoint"}, "needs a token, and none is set",
                  "true together with " + token_key + " or " + file_key);
        }
    }

    void addresses() {
        const Endpoint requests{settings_.http.host, settings_.http.port};
        const Endpoint admin{settings_.admin.host, settings_.admin.port};
        const Endpoint metrics{settings_.metrics.host, settings_.metrics.port};
        if (settings_.api.admin_enabled) {
            apart("http.admin_endpoint", admin, "http.endpoint", requests);
        }
        if (metrics.host.empty()) return;
        apart("metrics.endpoint", metrics, "http.endpoint", requests);
        if (settings_.api.admin_enabled) {
            apart("metrics.endpoint", metrics, "http.admin_endpoint", admin);
        }
    }

    void apart(const std::string& key, const Endpoint& one, const std::string& other_key,
               const Endpoint& other) {
        if (one.port == 0 || one.port != other.port) return;
        if (!includes(one.host, other.host) && !includes(other.host, one.host)) return;
        error({key, other_key},
              key + " and " + other_key +
                  (one.host == other.host ? " are the same" : " are the same port of one machine"),
              "an address for each");
    }

    void startup_delay() {
        const std::string key = "storage.cron.cron_startup_delay_after_recovery";
        const auto text = text_at(root_, key);
        const auto delay = text ? parse_duration(*text) : std::nullopt;
        if (!delay) return;
        const auto& timeouts = settings_.engine.response_timeout;
        const auto& expiry = settings_.engine.retention;
        shorter_than_tenth(
            key, *delay, "time-out",
            std::min({timeouts.input_proof, timeouts.public_decrypt, timeouts.user_decrypt}));
        if (!expiry.expiry_enabled) return;
        shorter_than_tenth(
            key, *delay, "expiry",
            std::min({expiry.input_proof, expiry.public_decrypt, expiry.user_decrypt}));
    }

    void shorter_than_tenth(const std::string& key, domain::Milliseconds delay,
                            const std::string& what, domain::Milliseconds limit) {
        // The first half keeps the product small: a delay may have been refused for its size.
        if (delay < limit && delay * 10 < limit) return;
        error({key},
              format_duration(delay) + " is too long beside the shortest " + what + ", " +
                  format_duration(limit),
              "below 10 % of it");
    }

    void chain_ids() {
        const auto& ids = settings_.api.host_chain_ids;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i), ids[i]) ==
                ids.begin() + static_cast<std::ptrdiff_t>(i)) {
                continue;
            }
            const std::string key = "host_chains[" + std::to_string(i) + "].chain_id";
            error({key}, std::to_string(ids[i]) + " is there twice", "each chain once");
        }
    }

    void pool(const std::string& pool) {
        const auto number = [&](const std::string& name) -> std::optional<std::int64_t> {
            const Node* node = find(root_, pool + "." + name);
            if (node == nullptr) return std::nullopt;
            if (const auto* value = std::get_if<std::int64_t>(&node->value)) return *value;
            return std::nullopt;
        };
        const auto min = number("min_connections");
        const auto max = number("max_connections");
        if (!min || !max || *min <= *max) return;
        error({pool + ".min_connections"},
              std::to_string(*min) + " is above max_connections, " + std::to_string(*max),
              "0 to max_connections");
    }

    void pauses() {
        const domain::RetryPolicy& pause = settings_.engine.unreachable_pause;
        if (pause.first <= pause.max) return;
        error({"gateway.tx_engine.retry.retry_interval_ms", "engine.trouble_pause_max"},
              "the first pause, " + format_duration(pause.first) + ", is above the longest, " +
                  format_duration(pause.max),
              "retry_interval_ms up to engine.trouble_pause_max");
    }

    const Node& root_;
    const Settings& settings_;
    Findings& findings_;
};

}  // namespace

bool is_this_machine(std::string_view host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

void check_across(const Node& root, const Settings& settings, Findings& findings) {
    CrossChecks{root, settings, findings}.run();
    check_evm(root, settings, findings);
    check_votes(settings, findings);
    if (!findings.errors.empty()) return;
    // The layers' own rules have the last word, whatever the table of keys allows.
    if (const auto problem = domain::problem_of(settings.engine.retry_after)) {
        findings.error("configuration", "http.retry_after", *problem, "");
    }
    if (const auto problem = chains::loopback::problem_of(settings.loopback)) {
        findings.error("configuration", "gateway.loopback", *problem, "");
    }
}

}  // namespace config
