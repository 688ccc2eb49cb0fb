#include "config/amounts.hpp"
#include "config/evm_key.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;
using Listener = chains::evm::Options::Listener;

const std::string sample_node = "\"http://localhost:8757\"";

Key superseded(std::string name, std::int64_t min, std::int64_t max, std::string sample,
               std::string doc, std::string unit) {
    return unused(std::move(name), whole_number(min, max), std::move(sample), Effect::superseded,
                  std::move(doc), std::move(unit));
}

std::vector<Key> node_keys() {
    const std::string table = "gateway.blockchain_rpc.";
    const std::string no_health_check = "Health is what the work itself meets.";
    return {
        needed_by_evm(first_node(table + "http_url", SETTING(evm.write_urls), sample_node,
                                 "JSON-RPC of the gateway chain, for transactions.")),
        other_nodes(table + "http_fallback_urls", SETTING(evm.write_urls),
                    "Other nodes for transactions."),
        first_node(
            table + "read_http_url", SETTING(evm.read_urls), sample_node,
            "JSON-RPC of the gateway chain, for reading; without it, the nodes for transactions."),
        other_nodes(table + "read_fallback_urls", SETTING(evm.read_urls),
                    "Other nodes for reading."),
        needed_by_evm(without_default(key(table + "chain_id", whole_number(1, chain_id_max),
                                          SETTING(evm.chain_id), "Id of the gateway chain."),
                                      "654321")),
        span_ms(table + "call_timeout_ms", 100, 600'000, SETTING(evm.call_timeout),
                "One exchange with a node."),
        span_ms(table + "send_timeout_ms", 1'001, 600'000, SETTING(evm.send_timeout),
                "The exchange that sends a transaction and waits for its receipt; longer than the "
                "node waits, and shorter than engine.lease."),
        key(table + "batch_max", whole_number(1, 1'000), SETTING(evm.batch_max),
            "Most calls in one exchange.", "calls"),
        superseded(table + "ws_health_check_timeout_secs", 0, number_max, "5", no_health_check,
                   "seconds"),
        superseded(table + "http_health_check_timeout_secs", 0, number_max, "5", no_health_check,
                   "seconds"),
    };
}

std::vector<Key> listening_keys() {
    const std::string table = "gateway.listener_pool.";
    const std::string never_give_up = "Listeners never give up.";
    const std::string known = "The database knows what was seen.";
    return {
        without_default(
            key(table + "last_block_number", whole_number(0, chain_id_max),
                SETTING(evm.listening.first_block),
                "Where listeners begin that never read; without it, at the newest block."),
            "0"),
        span_ms(table + "poll_interval_ms", 1, hour_ms, SETTING(evm.listening.poll_interval),
                "Pause between two polls."),
        key(table + "recycle_interval_mins", count_of(1min, 1, 525'600),
            SETTING(evm.listening.recycle_interval), "Subscriptions connect anew after this time.",
            "minutes"),
        key(table + "confirmations", whole_number(0, 100'000), SETTING(evm.listening.confirmations),
            "Blocks on top of that of an answer before it counts; 0: it counts at once.", "blocks"),
        key(table + "reorg_depth", whole_number(1, 100'000), SETTING(evm.listening.reorg_depth),
            "How far back a block that was replaced is looked for; above confirmations.", "blocks"),
        key(table + "range_max", whole_number(1, 1'000'000), SETTING(evm.listening.range_max),
            "Most blocks in one question for events.", "blocks"),
        superseded(table + "polling_max_attempts", 0, number_max, "40", never_give_up, "tries"),
        superseded(table + "dedup_ttl_seconds", 1, 10, "5", known, "seconds"),
        superseded(table + "dedup_max_capacity", 1'000, 10'000'000, "100000", known, "events"),
        superseded(table + "reconnect_config.max_attempts", 0, number_max, "20", never_give_up,
                   "tries"),
        span_ms(table + "reconnect_config.retry_interval_ms", 1, hour_ms,
                SETTING(evm.listening.retry_interval),
                "Pause before a listener that met trouble tries again."),
    };
}

std::vector<Key> listener_keys() {
    const std::string table = "gateway.listener_pool.listeners[].";
    const auto types = choice<Listener::Type>(
        {{"subscription", Listener::Type::subscription}, {"polling", Listener::Type::polling}});
    return {
        needed(without_default(key(table + "type", types, ELEMENT(evm.listening.listeners, type),
                                   "subscription: woken over WebSocket; polling: asks over HTTP."),
                               ""),
               "\"subscription\""),
        needed(
            hidden(without_default(key(table + "url", url({"ws", "wss", "http", "https"}),
                                       ELEMENT(evm.listening.listeners, url),
                                       "ws or wss for a subscription, http or https for polling."),
                                   "")),
            "\"ws://localhost:8757\""),
    };
}

std::vector<Key> sending_keys() {
    const std::string table = "gateway.tx_engine.";
    const std::string fees = table + "fees.";
    return {
        key(table + "retry.max_attempts", whole_number(1, number_max),
            SETTING(evm.estimation_attempts_max),
            "Tries of a gas estimation that is refused because the ciphertext is not there yet. "
            "Sends are not counted: engine.sending_timeout is the limit.",
            "tries"),
        span_ms(table + "foreign_use_patience_ms", 1'000, hour_ms,
                SETTING(evm.foreign_use_patience),
                "Somebody else used a nonce of ours, it seems: how long our own transactions are "
                "looked for before that is believed."),
        span_ms(table + "refusal_patience_ms", 1'000, hour_ms, SETTING(evm.refusal_patience),
                "A transaction that a node refuses for a reason nobody knows is sent again for so "
                "long before it is cancelled."),
        span_ms(table + "refusal_patience_blocking_ms", 1'000, hour_ms,
                SETTING(evm.refusal_patience_blocking),
                "The same while others wait behind its nonce."),
        span_ms(fees + "age_max_ms", 0, 60'000, SETTING(evm.fees.age_max),
                "Fees that were looked up are good for so long."),
        span_ms(fees + "bump_after_ms", 1'000, hour_ms, SETTING(evm.fees.bump_after),
                "A transaction that is not included after this time gets higher fees."),
        key(fees + "bump_permille", whole_number(101, 1'000), SETTING(evm.fees.bump_permille),
            "How much higher; nodes want more than a tenth.", "permille"),
        key(fees + "max_fee_cap_gwei", amount(gwei_decimals), SETTING(evm.fees.max_fee_cap),
            "Most that is paid for a unit of gas; 0: no limit, but fees are not raised beyond ten "
            "times what the chain asks for, and a node's tip is taken up to 500 gwei or ten times "
            "the base fee.",
            "gwei"),
    };
}

std::vector<Key> contract_keys() {
    const std::string table = "gateway.contracts.";
    return {
        needed_by_evm(contract(table + "input_verification_address",
                               SETTING(evm.input_verification),
                               "The input verification contract.")),
        contract(table + "protocol_payment_address", SETTING(evm.protocol_payment),
                 "The contract that collects fees; posthouse doctor looks at its allowance."),
        contract(table + "fee_token_address", SETTING(evm.fee_token),
                 "The token fees are paid in; posthouse doctor looks at the balance."),
    };
}

}  // namespace

std::vector<Key> evm_keys() {
    const auto acl_retry = retry_keys("gateway.readiness_checker.host_acl_check.retry.",
                                      "permission check", SETTING(evm.acl_retry));
    return with_effect(Effect::needs_chain,
                       joined({node_keys(), listening_keys(), listener_keys(), signer_keys(),
                               sending_keys(), acl_retry, contract_keys()}));
}

}  // namespace config
