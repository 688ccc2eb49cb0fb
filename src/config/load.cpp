#include "config/load.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/sanitize.hpp"
#include "base/text.hpp"
#include "config/cross_checks.hpp"
#include "config/keys.hpp"
#include "config/read_tree.hpp"

namespace config {
namespace {

// `a[3].b` → `a[].b`
std::string pattern_of(std::string_view shown) {
    std::string out;
    bool inside = false;
    for (const char c : shown) {
        if (c == ']') inside = false;
        if (!inside) out += c;
        if (c == '[') inside = true;
    }
    return out;
}

struct Reason {
    Effect effect;
    std::string_view text;
};

constexpr std::array reasons{
    Reason{Effect::needs_chain, "the gateway is a loopback"},
    Reason{Effect::needs_vote_chain,
           "there is no vote chain: it takes helper.chain_url and helper.prover"},
    Reason{Effect::needs_postgresql, "PostgreSQL is not used"},
    Reason{Effect::superseded, "this engine works without"},
};

std::string without_effect(std::string_view reason, const std::set<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return "settings_without_effect reason=" + base::log_value(reason) +
           " keys=" + base::log_value(list);
}

void report_without_effect(const Findings& findings, Loaded& loaded) {
    const bool evm = loaded.settings.gateway == GatewayType::evm;
    const bool votes = !loaded.settings.votes.base_url().empty();
    std::map<Effect, std::set<std::string>> named;
    std::set<std::string> of_loopback;
    for (const auto& [shown, origin] : findings.origins) {
        std::string name = pattern_of(shown);
        const Key* key = find_key(name);
        if (key == nullptr || (evm && key->effect == Effect::needs_chain) ||
            (votes && key->effect == Effect::needs_vote_chain)) {
            continue;
        }
        if (evm && name.starts_with("gateway.loopback.")) of_loopback.insert(name);
        named[key->effect].insert(std::move(name));
    }
    for (const auto& [effect, text] : reasons) {
        if (!named[effect].empty()) {
            loaded.warnings.push_back(without_effect(text, named[effect]));
        }
    }
    // A file that began as a copy of the example has all of them.
    if (!of_loopback.empty()) {
        loaded.notes.push_back(without_effect("the gateway is no loopback", of_loopback));
    }
}

// What only opens doors: a key that signs is refused there.
void report_open_file(const Findings& findings, Loaded& loaded) {
    const Settings defaults;
    std::string names;
    for (const auto& [name, origin] : findings.origins) {
        const Key* key = find_key(name);
        if (key == nullptr || !key->secret || !key->show) continue;
        if (key->show(loaded.settings, 0) == key->show(defaults, 0)) continue;
        if (is_open_to_others(origin)) names += (names.empty() ? "" : ", ") + name;
    }
    if (names.empty()) return;
    loaded.warnings.push_back("secrets_in_open_file keys=" + base::log_value(names) +
                              " hint=\"the file is open to other users: close it (chmod o=), or "
                              "set them in the environment\"");
}

// APP_NAME is the one variable of the reference without a prefix.
void add_app_name(Node& root, const Environment& environment) {
    for (const auto& [name, value] : environment) {
        if (name == "APP_NAME") {
            static_cast<void>(plant(root, {"http", "app_name"}, Node{name, Raw{value}}));
        }
    }
}

Node flags_of(const Sources& sources) {
    Node root{"the flags", Node::Table{}};
    if (sources.data_dir) {
        static_cast<void>(
            plant(root, {"storage", "data_dir"}, Node{"--data-dir", Raw{*sources.data_dir}}));
    }
    if (sources.listen) {
        static_cast<void>(
            plant(root, {"http", "endpoint"}, Node{"--listen", Raw{*sources.listen}}));
    }
    return root;
}

bool replaces_whole(std::string_view path) {
    return find_key(path) != nullptr || find_table_list(path) != nullptr;
}

// FILE:LINE in the order of the lines, everything else as it came.
void sort_by_line(std::vector<Findings::Error>& errors) {
    const auto line_of = [](const Findings::Error& error) {
        const std::size_t colon = error.origin.rfind(':');
        if (colon == std::string::npos) return std::string::npos;
        const auto line =
            base::number_in<std::size_t>(std::string_view{error.origin}.substr(colon + 1));
        return line.value_or(std::string::npos);
    };
    std::ranges::stable_sort(errors, {}, line_of);
}

void settle(const Findings& findings, Loaded& loaded) {
    Settings& settings = loaded.settings;
    if (settings.engine.shares.max_concurrent_proofs < 1) {
        settings.engine.shares.max_concurrent_proofs = 1;
        loaded.notes.emplace_back(
            "setting_adjusted key=helper.max_concurrent_proofs value=1 reason=\"below 1\"");
    }
    settle_cluster(loaded);
    settings.http.body_bytes_max =
        std::max(settings.api.relayer_body_bytes_max, settings.api.share_body_bytes_max);
    const net::HttpOptions& http = settings.http;
    if (http.buffered_bytes_max < http.buffered_bytes_min()) {
        loaded.warnings.push_back(
            "largest_request_never_fits http.buffered_bytes_max=" +
            std::to_string(http.buffered_bytes_max) +
            " needed=" + std::to_string(http.buffered_bytes_min()) +
            " hint=\"a request as large as http.body_bytes_max or helper.body_bytes_max allows "
            "gets "
            "503 for ever: raise http.buffered_bytes_max to what is needed, or lower the others\"");
    }
    std::string& ledger = settings.loopback.ledger;
    if (ledger != ":memory:" && !ledger.starts_with("file:")) {
        ledger = (settings.store.directory / ledger).string();
    }
    if (settings.api.admin_enabled && !is_this_machine(settings.admin.host)) {
        loaded.warnings.push_back(
            "admin_endpoint_open http.admin_endpoint=" + settings.admin.host + ":" +
            std::to_string(settings.admin.port) +
            " hint=\"other machines reach it, and the token is sent in the clear: keep it on "
            "127.0.0.1, or let only a proxy with TLS in\"");
    }
    if (settings.gateway == GatewayType::loopback &&
        settings.engine.user_decrypt_shares_threshold > settings.loopback.kms_nodes) {
        loaded.warnings.push_back(
            "user_decryptions_never_complete gateway.contracts.user_decrypt_shares_threshold=" +
            std::to_string(settings.engine.user_decrypt_shares_threshold) +
            " gateway.loopback.kms_nodes=" + std::to_string(settings.loopback.kms_nodes));
    }
    settle_evm(loaded);
    settle_votes(findings, loaded);
}

// A proxy nobody asks does not have to be one.
bool asks_others(const Settings& settings) {
    return settings.gateway != GatewayType::loopback || !settings.votes.base_url().empty() ||
           !settings.webhook.url.empty();
}

void read_proxies(const Environment& environment, Settings& settings,
                  std::vector<std::string>& errors) {
    if (!asks_others(settings)) return;
    try {
        settings.proxies = net::Proxies::from_environment(environment);
    } catch (const std::invalid_argument& error) {
        errors.emplace_back(error.what());
    }
}

}  // namespace

std::variant<Loaded, ConfigErrors> load(const Sources& sources) {
    ConfigErrors refused;
    Node root{"the defaults", Node::Table{}};
    if (sources.file) {
        auto file = read_file(*sources.file);
        if (auto* reason = std::get_if<std::string>(&file)) {
            refused.errors.push_back(std::move(*reason));
        } else {
            root = std::get<Node>(std::move(file));
        }
    }
    Loaded loaded;
    Node variables = read_environment(sources.environment, refused.errors, loaded.warnings);
    add_app_name(variables, sources.environment);
    overlay(root, std::move(variables), replaces_whole);
    overlay(root, flags_of(sources), replaces_whole);

    Findings findings;
    read_tree(root, loaded.settings, findings);
    check_cluster(root, loaded.settings, findings);
    check_across(root, loaded.settings, findings);
    sort_by_line(findings.errors);
    for (const auto& [origin, text] : findings.errors) {
        refused.errors.push_back(origin + ": " + text);
    }
    read_proxies(sources.environment, loaded.settings, refused.errors);
    if (!refused.errors.empty()) return refused;

    report_without_effect(findings, loaded);
    report_open_file(findings, loaded);
    settle(findings, loaded);
    loaded.origins = std::move(findings.origins);
    return loaded;
}

std::string located(const Origins& origins, std::string_view problem) {
    const auto origin = origins.find(std::string(problem.substr(0, problem.find(": "))));
    return (origin == origins.end() ? "" : origin->second + ": ") + std::string(problem);
}

}  // namespace config
