#include "config/evm_key.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

const std::string sample_host = "\"http://localhost:8545\"";

Key host_chain_id() {
    const auto id = [](auto& s, std::size_t index) -> auto& {
        return s.api.host_chain_ids[index];
    };
    return needed(copied(key("host_chains[].chain_id", whole_number(1, chain_id_max), id,
                             "The id that handles of the chain carry."),
                         [](Settings& s, std::size_t index) {
                             s.loopback.host_chains[index] = s.api.host_chain_ids[index];
                         }),
                  "8009");
}

std::vector<Key> host_chain_keys() {
    return {
        needed_by_evm(first_node("host_chains[].url", ELEMENT(evm.host_chains, urls), sample_host,
                                 "JSON-RPC of the chain.")),
        other_nodes("host_chains[].fallback_urls", ELEMENT(evm.host_chains, urls),
                    "Other nodes of the chain."),
        needed_by_evm(contract("host_chains[].acl_address", ELEMENT(evm.host_chains, acl),
                               "Its access control contract.")),
    };
}

std::vector<Key> protocol_config_keys() {
    const std::string table = "protocol_config.";
    const auto nodes = SETTING(evm.protocol_config.urls);
    return joined({
        {
            needed_by_evm(first_node(table + "ethereum_http_rpc_url", nodes, sample_host,
                                     "JSON-RPC of the protocol's chain.")),
            other_nodes(table + "fallback_urls", nodes, "Other nodes of the protocol's chain."),
            needed_by_evm(contract(table + "address", SETTING(evm.protocol_config.address),
                                   "The protocol configuration contract.")),
        },
        retry_keys(table + "retry.", "look-up", SETTING(evm.protocol_config.retry)),
        {span_ms(table + "threshold_age_max_ms", 1'000, 24 * hour_ms,
                 SETTING(evm.protocol_config.threshold_age_max),
                 "How long a number of shares that was looked up is believed.")},
    });
}

std::vector<Key> key_url_keys() {
    return {
        needed_by_evm(contract("keyurl.kms_generation_address",
                               SETTING(evm.key_urls.kms_generation),
                               "The key generation contract.")),
        span_ms("keyurl.poll_interval_ms", 1, 24 * hour_ms, SETTING(evm.key_urls.poll_interval),
                "How often keys are looked up."),
    };
}

}  // namespace

std::vector<Key> chain_keys() {
    const Key gas_limit =
        key("user_decrypt_signature_check.erc1271_gas_limit", whole_number(1, chain_id_max),
            SETTING(evm.erc1271_gas_limit), "For contract signatures of user decryptions.", "gas");
    return joined({
        {host_chain_id()},
        with_effect(
            Effect::needs_chain,
            joined({host_chain_keys(), protocol_config_keys(), key_url_keys(), {gas_limit}})),
    });
}

}  // namespace config
