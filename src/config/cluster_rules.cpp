#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>

#include "base/stop_token.hpp"
#include "cluster/postgres.hpp"
#include "config/cross_checks.hpp"
#include "config/keys.hpp"
#include "config/quantities.hpp"
#include "net/url.hpp"
#include "store/row_changes.hpp"

namespace config {
namespace {

const std::string body_key = "http.body_bytes_max";
const std::string gateway_key = "gateway.type";

// What a request is stored with beside its payload, with much to spare.
constexpr std::size_t row_bytes_max = std::size_t{64} << 10U;
// A request is stored, and then signed, in one entry each, and takes half the bytes of its body
// there: nearly all of that are hexadecimal digits.
constexpr std::size_t entry_body_bytes_max = 2 * (store::patchset_bytes_max - row_bytes_max);

std::string origin_of(const Node& root, const Findings& findings, const std::string& key) {
    const auto set = findings.origins.find(key);
    return set == findings.origins.end() ? find(root, "cluster")->origin : set->second;
}

void require_in_table(const Node& root, const std::string& name, bool is_empty,
                      Findings& findings) {
    const std::string key = "cluster." + name;
    if (!is_empty || findings.refused(key)) return;
    const std::string problem =
        findings.was_set(key) ? "must not be empty" : "is missing in the table [cluster]";
    findings.error(origin_of(root, findings, key), key, problem, find_key(key)->allowed);
}

void check_database(const cluster::Options& options, Findings& findings) {
    if (options.database.empty()) return;
    const base::StopToken never;
    try {
        const cluster::PostgresDatabase database({options.database, options.book}, never);
    } catch (const std::invalid_argument& error) {
        findings.error_where_set(
            {"cluster.database"}, error.what(),
            "such as host=db-a,db-b dbname=posthouse user=posthouse, or a postgresql:// URI");
    }
}

void check_gateway(const Node& root, const Settings& settings, Findings& findings) {
    if (settings.gateway != GatewayType::loopback || findings.refused(gateway_key)) return;
    findings.error(origin_of(root, findings, gateway_key), gateway_key,
                   "loopback is not for a cluster: the ledger of the embedded chain, also of its "
                   "vote shares, is on one machine, and no other node could go on with it",
                   "evm beside [cluster]");
}

void check_bodies(const Settings& settings, Findings& findings) {
    if (settings.api.relayer_body_bytes_max <= entry_body_bytes_max) return;
    findings.error_where_set(
        {body_key},
        std::to_string(settings.api.relayer_body_bytes_max) +
            " is too much for a cluster: a request must fit into one entry of the journal",
        "at most " + std::to_string(entry_body_bytes_max) + " beside [cluster]");
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// The host's name, where it can be one of a node.
void name_node(const Node& root, cluster::Options& options, Findings& findings) {
    if (!options.node.empty() || findings.was_set("cluster.node")) return;
    const Key& key = *find_key("cluster.node");
    Settings named;
    if (const auto problem = key.read(named, 0, Node{"the host's name", host_name()})) {
        findings.error(find(root, "cluster")->origin, key.name,
                       "is missing, and the host's name can not take its place: " + problem->what,
                       key.allowed);
        return;
    }
    options.node = named.cluster->node;
}

bool leaves_machine(const std::string& text) {
    const auto url = net::parse_url(text);
    return url && !url->tls && !is_this_machine(url->host);
}

}  // namespace

void check_cluster(const Node& root, Settings& settings, Findings& findings) {
    const Node* const table = find(root, "cluster");
    if (table == nullptr || !std::holds_alternative<Node::Table>(table->value)) return;
    if (!settings.cluster) settings.cluster.emplace();
    cluster::Options& options = *settings.cluster;
    require_in_table(root, "database", options.database.empty(), findings);
    require_in_table(root, "url", options.url.empty(), findings);
    require_in_table(root, "key_file", options.key_file.empty(), findings);
    name_node(root, options, findings);
    check_database(options, findings);
    check_gateway(root, settings, findings);
    check_bodies(settings, findings);
}

void settle_cluster(Loaded& loaded) {
    Settings& settings = loaded.settings;
    if (!settings.cluster) return;
    if (settings.api.relayer_body_bytes_max > entry_body_bytes_max) {
        settings.api.relayer_body_bytes_max = entry_body_bytes_max;
        loaded.notes.push_back("setting_adjusted key=" + body_key +
                               " value=" + std::to_string(entry_body_bytes_max) +
                               " reason=\"a request must fit into one entry of the journal\"");
    }
    if (leaves_machine(settings.cluster->url)) {
        loaded.warnings.emplace_back(
            "cluster_link_in_clear hint=\"cluster.url is http: what the other nodes pass on to "
            "this one, vote shares too, can be read on the way; serve HTTPS, or let only a network "
            "of your own in between\"");
    }
}

}  // namespace config
