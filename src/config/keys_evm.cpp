#include "config/amounts.hpp"
#include "config/evm_key.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using Listener = chains::evm::Options::Listener;

const std::string sample_node = "\"http://localhost:8757\"";

Key superseded(std::string name, std::int64_t min, std::int64_t max, std::string sample,
               std::string doc, std::string unit) {
    return unused(std::move(name), whole_number(min, max), std::move(sample), Effect::superseded,
                  std::move(doc), std::move(unit));
}

void add_nodes(std::vector<Key>& all) {
    const std::string table = "gateway.blockchain_rpc.";
    const auto write = [](auto& s) -> auto& {
        return s.evm.write_urls;
    };
    const auto read = [](auto& s) -> auto& {
        return s.evm.read_urls;
    };
    all.push_back(needed_by_evm(
        first_node(table + "http_url", write, "JSON-RPC of the gateway chain, for transactions."),
        sample_node));
    all.push_back(
        other_nodes(table + "http_fallback_urls", write, "Other nodes for transactions."));
    all.push_back(of_evm(first_node(table + "read_http_url", read,
                                    "JSON-RPC of the gateway chain, for reading; without it, the "
                                    "nodes for transactions."),
                         sample_node));
    all.push_back(other_nodes(table + "read_fallback_urls", read, "Other nodes for reading."));
    all.push_back(needed_by_evm(
        key(
            table + "chain_id", whole_number(1, chain_id_max),
            [](auto& s) -> auto& { return s.evm.chain_id; }, "Id of the gateway chain."),
        "654321"));
    all.push_back(span_ms(
        table + "call_timeout_ms", 100, 600'000,
        [](auto& s) -> auto& { return s.evm.call_timeout; }, "One exchange with a node."));
    all.push_back(span_ms(
        table + "send_timeout_ms", 1'001, 600'000,
        [](auto& s) -> auto& { return s.evm.send_timeout; },
        "The exchange that sends a transaction and waits for its receipt; longer than the node "
        "waits, and shorter than engine.lease."));
    all.push_back(of_evm(key(
        table + "batch_max", whole_number(1, 1'000),
        [](auto& s) -> auto& { return s.evm.batch_max; }, "Most calls in one exchange.", "calls")));
    for (const std::string name :
         {"ws_health_check_timeout_secs", "http_health_check_timeout_secs"}) {
        all.push_back(superseded(table + name, 0, number_max, "5",
                                 "Health is what the work itself meets.", "seconds"));
    }
}

void add_listener_elements(std::vector<Key>& all, const std::string& table) {
    all.push_back(
        needed(of_evm(key(
                          table + "type",
                          choice<Listener::Type>({{"subscription", Listener::Type::subscription},
                                                  {"polling", Listener::Type::polling}}),
                          [](auto& s, std::size_t index) -> auto& {
                              return s.evm.listening.listeners[index].type;
                          },
                          "subscription: woken over WebSocket; polling: asks over HTTP."),
                      ""),
               "\"subscription\""));
    all.push_back(needed(hidden(of_evm(key(
                                           table + "url", url({"ws", "wss", "http", "https"}),
                                           [](auto& s, std::size_t index) -> auto& {
                                               return s.evm.listening.listeners[index].url;
                                           },
                                           "ws or wss for a subscription, http or https for "
                                           "polling."),
                                       "")),
                         "\"ws://localhost:8757\""));
}

void add_listening(std::vector<Key>& all) {
    const std::string table = "gateway.listener_pool.";
    all.push_back(
        of_evm(key(
                   table + "last_block_number", whole_number(0, chain_id_max),
                   [](auto& s) -> auto& { return s.evm.listening.first_block; },
                   "Where listeners begin that never read; without it, at the newest block."),
               "0"));
    all.push_back(span_ms(
        table + "poll_interval_ms", 1, hour_ms,
        [](auto& s) -> auto& { return s.evm.listening.poll_interval; },
        "Pause between two polls."));
    all.push_back(of_evm(key(
        table + "recycle_interval_mins", count_of(minutes{1}, 1, 525'600),
        [](auto& s) -> auto& { return s.evm.listening.recycle_interval; },
        "Subscriptions connect anew after this time.", "minutes")));
    all.push_back(of_evm(key(
        table + "confirmations", whole_number(0, 100'000),
        [](auto& s) -> auto& { return s.evm.listening.confirmations; },
        "Blocks on top of that of an answer before it counts; 0: it counts at once.", "blocks")));
    all.push_back(of_evm(key(
        table + "reorg_depth", whole_number(1, 100'000),
        [](auto& s) -> auto& { return s.evm.listening.reorg_depth; },
        "How far back a block that was replaced is looked for; above confirmations.", "blocks")));
    all.push_back(of_evm(key(
        table + "range_max", whole_number(1, 1'000'000),
        [](auto& s) -> auto& { return s.evm.listening.range_max; },
        "Most blocks in one question for events.", "blocks")));
    all.push_back(superseded(table + "polling_max_attempts", 0, number_max, "40",
                             "Listeners never give up.", "tries"));
    all.push_back(superseded(table + "dedup_ttl_seconds", 1, 10, "5",
                             "The database knows what was seen.", "seconds"));
    all.push_back(superseded(table + "dedup_max_capacity", 1'000, 10'000'000, "100000",
                             "The database knows what was seen.", "events"));
    all.push_back(superseded(table + "reconnect_config.max_attempts", 0, number_max, "20",
                             "Listeners never give up.", "tries"));
    all.push_back(span_ms(
        table + "reconnect_config.retry_interval_ms", 1, hour_ms,
        [](auto& s) -> auto& { return s.evm.listening.retry_interval; },
        "Pause before a listener that met trouble tries again."));
    add_listener_elements(all, table + "listeners[].");
}

void add_signer(std::vector<Key>& all) {
    const std::string table = "gateway.tx_engine.signer.";
    Key type =
        unused(table + "type", choice<int>({{"private_key", 0}, {"aws_kms", 1}}), "\"private_key\"",
               Effect::needs_chain, "Who signs transactions. aws_kms is not supported yet.");
    all.push_back(needed_by_evm(std::move(type), "\"private_key\""));
    all.push_back(hidden(of_evm(key(
                                    table + "private_key", private_key(),
                                    [](auto& s) -> auto& { return s.evm.private_key; },
                                    "For type private_key: the key, or private_key_file."),
                                "\"\"")));
    all.push_back(of_evm(key(
        table + "private_key_file",
        text("a path or credential:NAME, at most 4096 bytes; empty: none", 0, 4'096),
        [](auto& s) -> auto& { return s.signer_key_file; },
        "A file that holds the key and nothing else, closed to other users (chmod 600).")));
    all.push_back(of_evm(key(
        table + "low_balance_ether", amount(ether_decimals),
        [](auto& s) -> auto& { return s.evm.low_balance; },
        "A warning is logged while the account has less; 0: none.", "ether")));
    const auto secret_text = secret("text, at most 4096 bytes");
    for (const std::string name : {"key_id", "region"}) {
        all.push_back(hidden(
            unused(table + name, secret_text, "\"\"", Effect::needs_chain, "For type aws_kms.")));
    }
    all.push_back(
        hidden(unused(table + "endpoint", url({"http", "https"}), "\"http://localhost:4566\"",
                      Effect::needs_chain, "For type aws_kms, optional.")));
}

void add_sending(std::vector<Key>& all) {
    const std::string table = "gateway.tx_engine.";
    all.push_back(of_evm(key(
        table + "retry.max_attempts", whole_number(1, number_max),
        [](auto& s) -> auto& { return s.evm.estimation_attempts_max; },
        "Tries of a gas estimation that is refused because the ciphertext is not there yet. Sends "
        "are not counted: engine.sending_timeout is the limit.",
        "tries")));
    all.push_back(span_ms(
        table + "foreign_use_patience_ms", 1'000, hour_ms,
        [](auto& s) -> auto& { return s.evm.foreign_use_patience; },
        "Somebody else used a nonce of ours, it seems: how long our own transactions are looked "
        "for before that is believed."));
    all.push_back(span_ms(
        table + "refusal_patience_ms", 1'000, hour_ms,
        [](auto& s) -> auto& { return s.evm.refusal_patience; },
        "A transaction that a node refuses for a reason nobody knows is sent again for so long "
        "before it is cancelled."));
    all.push_back(span_ms(
        table + "refusal_patience_blocking_ms", 1'000, hour_ms,
        [](auto& s) -> auto& { return s.evm.refusal_patience_blocking; },
        "The same while others wait behind its nonce."));
    const std::string fees = table + "fees.";
    all.push_back(span_ms(
        fees + "age_max_ms", 0, 60'000, [](auto& s) -> auto& { return s.evm.fees.age_max; },
        "Fees that were looked up are good for so long."));
    all.push_back(span_ms(
        fees + "bump_after_ms", 1'000, hour_ms,
        [](auto& s) -> auto& { return s.evm.fees.bump_after; },
        "A transaction that is not included after this time gets higher fees."));
    all.push_back(of_evm(key(
        fees + "bump_permille", whole_number(101, 1'000),
        [](auto& s) -> auto& { return s.evm.fees.bump_permille; },
        "How much higher; nodes want more than a tenth.", "permille")));
    all.push_back(of_evm(key(
        fees + "max_fee_cap_gwei", amount(gwei_decimals),
        [](auto& s) -> auto& { return s.evm.fees.max_fee_cap; },
        "Most that is paid for a unit of gas; 0: no limit, but fees are not raised beyond ten "
        "times what the chain asks for.",
        "gwei")));
}

void add_contracts(std::vector<Key>& all) {
    const std::string table = "gateway.contracts.";
    all.push_back(needed_by_evm(key(
                                    table + "input_verification_address", address(),
                                    [](auto& s) -> auto& { return s.evm.input_verification; },
                                    "The input verification contract."),
                                sample_address));
    all.push_back(
        of_evm(key(
                   table + "protocol_payment_address", address(),
                   [](auto& s) -> auto& { return s.evm.protocol_payment; },
                   "The contract that collects fees; posthouse doctor looks at its allowance."),
               sample_address));
    all.push_back(of_evm(key(
                             table + "fee_token_address", address(),
                             [](auto& s) -> auto& { return s.evm.fee_token; },
                             "The token fees are paid in; posthouse doctor looks at the balance."),
                         sample_address));
}

}  // namespace

std::vector<Key> evm_keys() {
    std::vector<Key> all;
    add_nodes(all);
    add_listening(all);
    add_signer(all);
    add_sending(all);
    add_retry(
        all, "gateway.readiness_checker.host_acl_check.retry.", "permission check",
        [](auto& s) -> auto& { return s.evm.acl_retry; });
    add_contracts(all);
    return all;
}

}  // namespace config
