#include "config/evm_key.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

const std::string sample_host = "\"http://localhost:8545\"";

Key host_chain_id() {
    Key out = key(
        "host_chains[].chain_id", whole_number(1, chain_id_max),
        [](auto& s, std::size_t index) -> auto& { return s.api.host_chain_ids[index]; },
        "The id that handles of the chain carry.");
    out.read = [read = out.read](Settings& s, std::size_t index, const Node& node) {
        auto problem = read(s, index, node);
        s.loopback.host_chains[index] = s.api.host_chain_ids[index];
        return problem;
    };
    return needed(std::move(out), "8009");
}

void add_host_chains(std::vector<Key>& all) {
    all.push_back(host_chain_id());
    const auto nodes = [](auto& s, std::size_t index) -> auto& {
        return s.evm.host_chains[index].urls;
    };
    all.push_back(needed_by_evm(first_node("host_chains[].url", nodes, "JSON-RPC of the chain."),
                                sample_host));
    all.push_back(other_nodes("host_chains[].fallback_urls", nodes, "Other nodes of the chain."));
    all.push_back(needed_by_evm(
        key(
            "host_chains[].acl_address", address(),
            [](auto& s, std::size_t index) -> auto& { return s.evm.host_chains[index].acl; },
            "Its access control contract."),
        sample_address));
}

void add_protocol_config(std::vector<Key>& all) {
    const std::string table = "protocol_config.";
    const auto nodes = [](auto& s) -> auto& {
        return s.evm.protocol_config.urls;
    };
    all.push_back(needed_by_evm(
        first_node(table + "ethereum_http_rpc_url", nodes, "JSON-RPC of the protocol's chain."),
        sample_host));
    all.push_back(
        other_nodes(table + "fallback_urls", nodes, "Other nodes of the protocol's chain."));
    all.push_back(needed_by_evm(key(
                                    table + "address", address(),
                                    [](auto& s) -> auto& { return s.evm.protocol_config.address; },
                                    "The protocol configuration contract."),
                                sample_address));
    add_retry(
        all, table + "retry.", "look-up",
        [](auto& s) -> auto& { return s.evm.protocol_config.retry; });
    all.push_back(span_ms(
        table + "threshold_age_max_ms", 1'000, 24 * hour_ms,
        [](auto& s) -> auto& { return s.evm.protocol_config.threshold_age_max; },
        "How long a number of shares that was looked up is believed."));
}

void add_key_urls(std::vector<Key>& all) {
    all.push_back(needed_by_evm(key(
                                    "keyurl.kms_generation_address", address(),
                                    [](auto& s) -> auto& { return s.evm.key_urls.kms_generation; },
                                    "The key generation contract."),
                                sample_address));
    all.push_back(span_ms(
        "keyurl.poll_interval_ms", 1, 24 * hour_ms,
        [](auto& s) -> auto& { return s.evm.key_urls.poll_interval; },
        "How often keys are looked up."));
}

}  // namespace

std::vector<Key> chain_keys() {
    std::vector<Key> all;
    add_host_chains(all);
    add_protocol_config(all);
    add_key_urls(all);
    all.push_back(of_evm(key(
        "user_decrypt_signature_check.erc1271_gas_limit", whole_number(1, chain_id_max),
        [](auto& s) -> auto& { return s.evm.erc1271_gas_limit; },
        "For contract signatures of user decryptions.", "gas")));
    return all;
}

}  // namespace config
