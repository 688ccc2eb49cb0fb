#include "config/cross_checks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/admin_token.hpp"
#include "config/quantities.hpp"
#include "domain/retry_after.hpp"
#include "gateway/loopback/options.hpp"

namespace config {
namespace {

// A value that was set, by its plain path.
const Node* find(const Node& root, std::string_view path) {
    const Node* place = &root;
    while (place != nullptr) {
        const std::size_t dot = path.find('.');
        const auto* table = std::get_if<Node::Table>(&place->value);
        if (table == nullptr) return nullptr;
        const auto child = table->find(std::string{path.substr(0, dot)});
        place = child == table->end() ? nullptr : &child->second;
        if (dot == std::string_view::npos) break;
        path.remove_prefix(dot + 1);
    }
    return place;
}

std::optional<std::string> text_at(const Node& root, std::string_view path) {
    const Node* node = find(root, path);
    if (node == nullptr) return std::nullopt;
    if (const auto* text = std::get_if<std::string>(&node->value)) return *text;
    if (const auto* raw = std::get_if<Raw>(&node->value)) return raw->text;
    return std::nullopt;
}

class Checks {
public:
    Checks(const Node& root, const Settings& settings, Findings& findings)
        : root_(root), settings_(settings), findings_(findings) {}

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
        startup_delay();
        chain_ids();
        pool("storage.app_pool");
        pool("storage.cron_pool");
        pauses();
        signer();
        listeners();
    }

private:
    // Reported where the first of the keys was set; silent when none was, since defaults are right,
    // or when one of them was refused already.
    void error(std::initializer_list<std::string> keys, const std::string& problem,
               const std::string& allowed) {
        for (const std::string& key : keys) {
            if (was_refused(key)) return;
        }
        for (const std::string& key : keys) {
            const auto origin = findings_.origins.find(key);
            if (origin == findings_.origins.end()) continue;
            findings_.error(origin->second, key, problem, allowed);
            return;
        }
    }

    [[nodiscard]] bool was_refused(const std::string& key) const {
        return std::ranges::any_of(findings_.errors, [&](const Findings::Error& error) {
            return error.text.starts_with(key + ":") || error.text.starts_with(key + "[");
        });
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
        const api::HttpOptions& http = settings_.http;
        if (http.tls_certificate_file.empty() == http.tls_key_file.empty()) return;
        const bool key_missing = http.tls_key_file.empty();
        error({key_missing ? "http.tls_certificate_file" : "http.tls_key_file"},
              std::string("needs ") +
                  (key_missing ? "http.tls_key_file" : "http.tls_certificate_file") + " beside it",
              "both files, or neither for plain HTTP");
    }

    void admin() {
        const auto& [host, port, token, token_file] = settings_.admin;
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
        if (port != 0 && port == settings_.http.port && host == settings_.http.host) {
            error({"http.admin_endpoint", "http.endpoint"},
                  "http.admin_endpoint and http.endpoint are the same", "an address for each");
        }
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
        const domain::RetryPolicy& pause = settings_.engine.trouble_pause;
        if (pause.first <= pause.max) return;
        error({"gateway.tx_engine.retry.retry_interval_ms", "engine.trouble_pause_max"},
              "the first pause, " + format_duration(pause.first) + ", is above the longest, " +
                  format_duration(pause.max),
              "retry_interval_ms up to engine.trouble_pause_max");
    }

    // Who signs must be complete, though nobody signs on a loopback.
    void signer() {
        const std::string table = "gateway.tx_engine.signer";
        const Node* node = find(root_, table);
        if (node == nullptr || !std::holds_alternative<Node::Table>(node->value)) return;
        const auto type = text_at(root_, table + ".type");
        if (!type) {
            missing(*node, table + ".type", "private_key or aws_kms");
        } else if (*type == "private_key") {
            require(*node, table + ".private_key", "64 hexadecimal digits");
        } else if (*type == "aws_kms") {
            require(*node, table + ".key_id", "text");
            require(*node, table + ".region", "text");
        }
    }

    void require(const Node& table, const std::string& key, const std::string& allowed) {
        if (find(root_, key) == nullptr) missing(table, key, allowed);
    }

    void missing(const Node& table, const std::string& key, const std::string& allowed) {
        if (!was_refused(key)) findings_.error(table.origin, key, "is missing", allowed);
    }

    void listeners() {
        const Node* list = find(root_, "gateway.listener_pool.listeners");
        const auto found = list == nullptr ? std::nullopt : elements_of(*list);
        if (!found) return;
        for (std::size_t i = 0; i < found->size(); ++i) {
            const auto type = text_at(*(*found)[i], "type");
            const auto url = text_at(*(*found)[i], "url");
            if (!type || !url) continue;
            const bool socket = url->starts_with("ws");
            if (*type != "subscription" && *type != "polling") continue;
            if (socket == (*type == "subscription")) continue;
            const std::string key =
                "gateway.listener_pool.listeners[" + std::to_string(i) + "].url";
            error({key}, "does not go with type " + *type,
                  "ws or wss for subscription, http or https for polling");
        }
    }

    const Node& root_;
    const Settings& settings_;
    Findings& findings_;
};

}  // namespace

void check_across(const Node& root, const Settings& settings, Findings& findings) {
    Checks{root, settings, findings}.run();
    if (!findings.errors.empty()) return;
    // The layers' own rules have the last word, whatever the table of keys allows.
    if (const auto problem = domain::problem_of(settings.engine.retry_after)) {
        findings.error("configuration", "http.retry_after", *problem, "");
    }
    if (const auto problem = gateway::problem_of(settings.loopback)) {
        findings.error("configuration", "gateway.loopback", *problem, "");
    }
}

}  // namespace config
