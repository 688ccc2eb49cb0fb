#include "config/cross_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/quantities.hpp"

namespace config {
namespace {

const std::string signer_table = "gateway.tx_engine.signer";
const std::string pool_table = "gateway.listener_pool";

std::string element(std::string_view list, std::size_t index, std::string_view member) {
    return std::string{list} + "[" + std::to_string(index) + "]." + std::string{member};
}

class EvmChecks {
public:
    EvmChecks(const Node& root, const Settings& settings, Findings& findings)
        : root_(root), settings_(settings), evm_(settings.evm), findings_(findings) {}
    EvmChecks(const Node& root, Settings&& settings, Findings& findings) = delete;

    void run() {
        signer();
        listeners();
        depths();
        send_timeout();
        if (settings_.gateway != GatewayType::evm) return;
        required();
        read_nodes();
        key();
        no_zero_address();
    }

private:
    // --- for any gateway ---

    // Who signs must be complete, though nobody signs on a loopback.
    void signer() {
        const Node* node = find(root_, signer_table);
        if (node == nullptr || !std::holds_alternative<Node::Table>(node->value)) return;
        const auto type = signer_type();
        if (!type) {
            missing(*node, "type", "private_key, aws_kms or remote");
        } else if (*type == "private_key") {
            both_keys();
            if (!has_key_file()) require(*node, "private_key", key_allowed);
        } else if (*type == "aws_kms") {
            require(*node, "key_id", "text");
            require(*node, "region", "text");
            region();
            no_key_here(*type);
        } else if (*type == "remote") {
            require(*node, "url", "http://HOST… or https://HOST…");
            require(*node, "address", "the address of the account");
            remote_files();
            no_key_here(*type);
        }
    }

    // It becomes a part of a host's name.
    void region() {
        const std::string& region = evm_.signer.region;
        const auto fits = [](char c) { return base::is_lower(c) || base::is_digit(c) || c == '-'; };
        if (std::ranges::all_of(region, fits)) return;
        findings_.error_where_set({signer_table + ".region"}, "is no region",
                                  "small letters, digits and -, such as eu-central-1");
    }

    // A key that nobody needs should lie nowhere.
    void no_key_here(const std::string& type) {
        for (const char* name : {".private_key", ".private_key_file"}) {
            if (!findings_.was_set(signer_table + name)) continue;
            findings_.error_where_set({signer_table + name},
                                      "is set, and type is " + type + ", which has no use for it",
                                      "no key here, or type private_key");
        }
    }

    void remote_files() {
        const auto& signer = evm_.signer;
        if (signer.client_certificate_file.empty() != signer.client_key_file.empty()) {
            findings_.error_where_set(
                {signer_table + ".client_certificate_file", signer_table + ".client_key_file"},
                "one is set without the other", "both or neither");
        }
        const bool has_tls = base::lower_case(signer.url).starts_with("https:");
        for (const auto& [name, file] :
             {std::pair{".ca_file", &signer.ca_file},
              std::pair{".client_certificate_file", &signer.client_certificate_file}}) {
            if (has_tls || file->empty() || signer.url.empty()) continue;
            findings_.error_where_set({signer_table + name},
                                      "needs TLS, and gateway.tx_engine.signer.url has none",
                                      "an https URL, or no file");
        }
    }

    void both_keys() {
        if (!has_key_file() || !findings_.was_set(signer_table + ".private_key")) return;
        findings_.error_where_set({signer_table + ".private_key_file"},
                                  signer_table + ".private_key is set too", "one of the two");
    }

    void require(const Node& table, const std::string& name, const std::string& allowed) {
        if (!findings_.was_set(signer_table + "." + name)) missing(table, name, allowed);
    }

    void missing(const Node& table, const std::string& name, const std::string& allowed) {
        const std::string key = signer_table + "." + name;
        if (!findings_.refused(key)) findings_.error(table.origin, key, "is missing", allowed);
    }

    void listeners() {
        const Node* list = find(root_, pool_table + ".listeners");
        const auto found = list == nullptr ? std::nullopt : elements_of(*list);
        if (!found) return;
        for (std::size_t i = 0; i < found->size(); ++i) {
            const auto type = text_at(*(*found)[i], "type");
            const auto url = text_at(*(*found)[i], "url");
            if (!type || !url) continue;
            const bool socket = url->find_first_of("wW") == 0;
            if (*type != "subscription" && *type != "polling") continue;
            if (socket == (*type == "subscription")) continue;
            findings_.error_where_set({element(pool_table + ".listeners", i, "url")},
                                      "does not go with type " + *type,
                                      "ws or wss for subscription, http or https for polling");
        }
    }

    void depths() {
        const auto& listening = evm_.listening;
        if (listening.confirmations < listening.reorg_depth) return;
        findings_.error_where_set({pool_table + ".confirmations", pool_table + ".reorg_depth"},
                                  "confirmations is " + std::to_string(listening.confirmations) +
                                      ", reorg_depth is " + std::to_string(listening.reorg_depth),
                                  "confirmations below reorg_depth");
    }

    // One send asks for all of it at most; a lease that ends before gives its work out twice.
    void send_timeout() {
        if (evm_.send_timeout + evm_.foreign_use_patience < settings_.engine.lease) return;
        if (settings_.gateway != GatewayType::evm &&
            !findings_.was_set("gateway.blockchain_rpc.send_timeout_ms")) {
            return;
        }
        findings_.error_where_set(
            {"gateway.blockchain_rpc.send_timeout_ms", "engine.lease"},
            "send_timeout_ms is " + format_duration(evm_.send_timeout) +
                ", foreign_use_patience_ms is " + format_duration(evm_.foreign_use_patience) +
                ", engine.lease is " + format_duration(settings_.engine.lease),
            "both together below engine.lease");
    }

    // --- with gateway.type evm ---

    void required() {
        if (evm_.host_chains.empty()) {
            absent("host_chains", "The chains whose handles are served", "a list of tables",
                   "[[host_chains]] with chain_id, url and acl_address");
        }
        if (evm_.listening.listeners.empty()) {
            absent(pool_table + ".listeners", "Where the events of the gateway chain come from",
                   "1 to 5 entries, each a table",
                   R"({type = "polling", url = "http://localhost:8757"})");
        }
        for (const Key& key : keys()) {
            if (!key.required_by_evm) continue;
            const std::size_t list = key.name.find("[].");
            if (list == std::string::npos) {
                required_key(key.name, key);
                continue;
            }
            for (std::size_t i = 0; i < evm_.host_chains.size(); ++i) {
                required_key(element(key.name.substr(0, list), i, key.name.substr(list + 3)), key);
            }
        }
    }

    void required_key(const std::string& name, const Key& key) {
        if (findings_.was_set(name)) return;
        std::string_view doc = key.doc;
        doc.remove_suffix(1);
        absent(name, doc, key.allowed, key.show ? key.show(settings_, 0) : key.sample);
    }

    void absent(const std::string& name, std::string_view purpose, const std::string& allowed,
                const std::string& sample) {
        if (findings_.refused(name)) return;
        findings_.error(origin_of_type(), name,
                        "is missing, gateway.type evm needs it: " + std::string{purpose},
                        allowed + "; for example " + sample);
    }

    [[nodiscard]] std::string origin_of_type() const {
        return findings_.origins.at("gateway.type");
    }

    void read_nodes() {
        if (evm_.read_urls.empty() || !evm_.read_urls.front().empty()) return;
        findings_.error_where_set({"gateway.blockchain_rpc.read_fallback_urls"},
                                  "needs gateway.blockchain_rpc.read_http_url beside it",
                                  "both, or neither to read from the nodes for transactions");
    }

    void key() {
        const auto type = signer_type();
        key_in_open_file();
        // Otherwise the table is there and signer() has said it.
        if (type || has_key_file() || findings_.was_set(signer_table + ".private_key")) return;
        absent(signer_table + ".private_key", "The key that signs transactions", key_allowed,
               R"(private_key_file = "/etc/posthouse/signer-key")");
    }

    // As for every file that holds a secret. What came from the environment names no file.
    void key_in_open_file() {
        const std::string name = signer_table + ".private_key";
        const auto origin = findings_.origins.find(name);
        if (origin == findings_.origins.end()) return;
        const std::string file = origin->second.substr(0, origin->second.rfind(':'));
        std::error_code missing;
        const auto mode = std::filesystem::status(file, missing).permissions();
        if (missing ||
            (mode & std::filesystem::perms::others_all) == std::filesystem::perms::none ||
            mode == std::filesystem::perms::unknown) {
            return;
        }
        findings_.error_where_set({name}, "lies in a file that is open to other users",
                                  "a file closed to them (chmod 600), private_key_file, or the "
                                  "environment");
    }

    void no_zero_address() {
        const auto check = [&](const std::string& key, const domain::Address& address) {
            if (address != domain::Address{}) return;
            findings_.error_where_set({key}, "is the zero address, where no contract can be",
                                      "the address of the contract");
        };
        check("gateway.contracts.decryption_address", settings_.api.decryption_address);
        check("gateway.contracts.input_verification_address", evm_.input_verification);
        check("protocol_config.address", evm_.protocol_config.address);
        check("keyurl.kms_generation_address", evm_.key_urls.kms_generation);
        if (findings_.was_set(signer_table + ".address")) {
            check(signer_table + ".address", evm_.signer.address);
        }
        const std::string contracts = "gateway.contracts.";
        if (evm_.protocol_payment) {
            check(contracts + "protocol_payment_address", *evm_.protocol_payment);
        }
        if (evm_.fee_token) check(contracts + "fee_token_address", *evm_.fee_token);
        for (std::size_t i = 0; i < evm_.host_chains.size(); ++i) {
            check(element("host_chains", i, "acl_address"), evm_.host_chains[i].acl);
        }
    }

    [[nodiscard]] std::optional<std::string> signer_type() const {
        return text_at(root_, signer_table + ".type");
    }
    [[nodiscard]] bool has_key_file() const { return !settings_.signer_key_file.empty(); }

    inline static const std::string key_allowed =
        "64 hexadecimal digits, or the file that holds them in private_key_file";

    const Node& root_;
    const Settings& settings_;
    const chains::evm::Options& evm_;
    Findings& findings_;
};

}  // namespace

void check_evm(const Node& root, const Settings& settings, Findings& findings) {
    EvmChecks{root, settings, findings}.run();
}

void settle_evm(Loaded& loaded) {
    Settings& settings = loaded.settings;
    if (settings.gateway != GatewayType::evm) return;
    if (settings.engine.sends_max > evm_sends_max) {
        settings.engine.sends_max = evm_sends_max;
        loaded.notes.push_back("setting_adjusted key=gateway.tx_engine.max_concurrency value=" +
                               std::to_string(evm_sends_max) +
                               " reason=\"each waits on a connection of its own\"");
    }
    chains::evm::Options& evm = settings.evm;
    evm.sends_max = settings.engine.sends_max;
    evm.decryption = settings.api.decryption_address;
    for (std::size_t i = 0; i < evm.host_chains.size(); ++i) {
        evm.host_chains[i].chain_id = settings.api.host_chain_ids[i];
    }
    if (evm.read_urls.empty()) evm.read_urls = evm.write_urls;
    const bool in_the_clear = evm.signer.type == chains::evm::Options::Signing::Type::remote &&
                              !evm.signer.token_file.empty() &&
                              base::lower_case(evm.signer.url).starts_with("http:");
    if (in_the_clear) {
        loaded.warnings.emplace_back(
            "signer_token_in_the_clear hint=\"gateway.tx_engine.signer.url is http: whoever sees "
            "the token can sign; use https\"");
    }
    if (evm.listening.listeners.size() == 1) {
        loaded.warnings.emplace_back(
            "one_listener gateway.listener_pool.listeners=1 hint=\"one listener: no redundancy; "
            "add one of another provider\"");
    }
}

}  // namespace config
