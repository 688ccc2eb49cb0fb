#include "config/cross_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
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
        listeners();
        depths();
        send_timeout();
        if (settings_.gateway != GatewayType::evm) return;
        required();
        read_nodes();
        no_zero_address();
    }

private:
    // --- for any gateway ---

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
        const bool has_signers = find(root_, "gateway.tx_engine.signers") != nullptr;
        for (const Key& key : keys()) {
            if (!key.required_by_evm) continue;
            if (has_signers && key.name.starts_with(signer_table + ".")) continue;
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
        for (const auto& signer : evm_.keys()) {
            if (findings_.was_set(signer.table + ".address")) {
                check(signer.table + ".address", signer.address);
            }
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

    const Node& root_;
    const Settings& settings_;
    const chains::evm::Options& evm_;
    Findings& findings_;
};

}  // namespace

void check_evm(const Node& root, const Settings& settings, Findings& findings) {
    EvmChecks{root, settings, findings}.run();
    check_signers(root, settings, findings);
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
    for (const auto& signer : evm.keys()) {
        const bool in_the_clear = signer.type == chains::evm::Options::Signing::Type::remote &&
                                  !signer.token_file.empty() &&
                                  base::lower_case(signer.url).starts_with("http:");
        if (!in_the_clear) continue;
        loaded.warnings.push_back("signer_token_in_the_clear hint=\"" + signer.table +
                                  ".url is http: whoever sees the token can sign; use https\"");
    }
    if (evm.listening.listeners.size() == 1) {
        loaded.warnings.emplace_back(
            "one_listener gateway.listener_pool.listeners=1 hint=\"one listener: no redundancy; "
            "add one of another provider\"");
    }
}

}  // namespace config
