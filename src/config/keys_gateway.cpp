#include "config/keys.hpp"

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::int64_t number_max = 1'000'000'000;
constexpr std::int64_t chain_id_max = std::numeric_limits<std::int64_t>::max();

const std::vector<std::string> http_schemes{"http", "https"};

template <typename Value>
Key chain(std::string name, ValueType<Value> type, std::string sample, std::string doc,
          std::string unit = {}) {
    return unused(std::move(name), std::move(type), std::move(sample), Effect::needs_chain,
                  std::move(doc), std::move(unit));
}

const std::string sample_address = "\"0x0000000000000000000000000000000000000001\"";

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

void add_queue(std::vector<Key>& all, const std::string& table, auto gate) {
    all.push_back(key(
        table + "capacity",
        whole_number(1, 10'000'000), [gate](auto& s) -> auto& { return gate(s).capacity; },
        "Places in the queue.", "requests"));
    all.push_back(key(
        table + "safety_margin",
        whole_number(0, 10'000'000), [gate](auto& s) -> auto& { return gate(s).safety_margin; },
        "POSTs get 429 once only so many places are left; below capacity.", "requests"));
}

void add_throttler(std::vector<Key>& all, const std::string& family, auto gate) {
    const std::string table = "gateway.tx_engine.tx_throttlers." + family + ".";
    all.push_back(key(
        table + "per_seconds",
        whole_number(1, 1'000'000), [gate](auto& s) -> auto& { return gate(s).per_seconds; },
        "Transactions that leave per second in the long run.", "transactions"));
    all.push_back(key(
        table + "burst",
        whole_number(0, 1'000'000), [gate](auto& s) -> auto& { return gate(s).burst; },
        "Most that leave at once after idling; 0: as many as per_seconds.", "transactions"));
    add_queue(all, table, gate);
}

void add_readiness(std::vector<Key>& all, const std::string& family, auto gate) {
    const std::string table = "gateway.readiness_checker." + family + ".";
    all.push_back(key(
        table + "max_concurrency",
        whole_number(1, 100'000), [gate](auto& s) -> auto& { return gate(s).max_concurrency; },
        "Checks at once.", "checks"));
    add_queue(all, table, gate);
}

}  // namespace

std::vector<Key> chain_keys() {
    std::vector<Key> all;
    all.push_back(host_chain_id());
    all.push_back(hidden(chain("host_chains[].url", url(http_schemes), "\"http://localhost:8545\"",
                               "JSON-RPC of the chain.")));
    all.push_back(chain("host_chains[].acl_address", address(), sample_address,
                        "Its access control contract."));
    all.push_back(hidden(chain("protocol_config.ethereum_http_rpc_url", url(http_schemes),
                               "\"http://localhost:8545\"", "JSON-RPC of the protocol's chain.")));
    all.push_back(chain("protocol_config.address", address(), sample_address,
                        "The protocol configuration contract."));
    all.push_back(chain("protocol_config.retry.max_attempts", whole_number(1, number_max), "3",
                        "Tries of a look-up.", "tries"));
    all.push_back(chain("protocol_config.retry.retry_interval_ms", whole_number(0, number_max),
                        "200", "Pause between two tries.", "milliseconds"));
    all.push_back(chain("keyurl.kms_generation_address", address(), sample_address,
                        "The key generation contract."));
    all.push_back(chain("keyurl.poll_interval_ms", whole_number(1, number_max), "12000",
                        "How often keys are looked up.", "milliseconds"));
    all.push_back(chain("user_decrypt_signature_check.erc1271_gas_limit",
                        whole_number(0, chain_id_max), "100000",
                        "For contract signatures of user decryptions.", "gas"));
    return all;
}

std::vector<Key> gateway_keys() {
    std::vector<Key> all;
    all.push_back(key(
        "gateway.type", choice<GatewayType>({{"loopback", GatewayType::loopback}}),
        [](auto& s) -> auto& { return s.gateway; },
        "Which chain requests go to. loopback: one inside the program."));
    const std::string rpc = "gateway.blockchain_rpc.";
    all.push_back(hidden(chain(rpc + "http_url", url(http_schemes), "\"http://localhost:8757\"",
                               "JSON-RPC for transactions.")));
    all.push_back(hidden(chain(rpc + "read_http_url", url(http_schemes),
                               "\"http://localhost:8757\"", "JSON-RPC for reading.")));
    all.push_back(chain(rpc + "chain_id", whole_number(1, chain_id_max), "654321",
                        "Id of the gateway chain."));
    all.push_back(chain(rpc + "ws_health_check_timeout_secs", whole_number(0, number_max), "5",
                        "For the health check of listeners.", "seconds"));
    all.push_back(chain(rpc + "http_health_check_timeout_secs", whole_number(0, number_max), "5",
                        "For the health check of the JSON-RPC.", "seconds"));

    const std::string pool = "gateway.listener_pool.";
    all.push_back(chain(pool + "last_block_number", whole_number(0, chain_id_max), "0",
                        "Where listeners begin; without it, where they stopped."));
    all.push_back(chain(pool + "polling_max_attempts", whole_number(0, number_max), "40",
                        "Failures in a row before a polling listener gives up.", "tries"));
    all.push_back(chain(pool + "recycle_interval_mins", whole_number(0, number_max), "30",
                        "Listeners connect anew after this time.", "minutes"));
    all.push_back(chain(pool + "poll_interval_ms", whole_number(0, number_max), "2000",
                        "Pause between two polls.", "milliseconds"));
    all.push_back(chain(pool + "dedup_ttl_seconds", whole_number(1, 10), "5",
                        "How long an event is known as seen.", "seconds"));
    all.push_back(chain(pool + "dedup_max_capacity", whole_number(1'000, 10'000'000), "100000",
                        "How many events are known as seen.", "events"));
    all.push_back(chain(pool + "reconnect_config.max_attempts", whole_number(0, number_max), "20",
                        "Tries to connect.", "tries"));
    all.push_back(chain(pool + "reconnect_config.retry_interval_ms", whole_number(0, number_max),
                        "500", "Pause between two tries.", "milliseconds"));
    all.push_back(
        needed(chain(pool + "listeners[].type", choice<int>({{"subscription", 0}, {"polling", 1}}),
                     "", "subscription: over WebSocket; polling: over HTTP."),
               "\"subscription\""));
    all.push_back(
        needed(hidden(chain(pool + "listeners[].url", url({"ws", "wss", "http", "https"}), "",
                            "ws or wss for a subscription, http or https for polling.")),
               "\"ws://localhost:8757\""));

    all.push_back(key(
        "gateway.tx_engine.max_concurrency", whole_number(1, 100'000),
        [](auto& s) -> auto& { return s.engine.sends_max; },
        "Transactions in the air at once, all kinds together.", "transactions"));
    all.push_back(unused("gateway.tx_engine.retry.max_attempts", whole_number(0, number_max), "100",
                         Effect::superseded,
                         "Tries of a transaction; here engine.sending_timeout is the limit.",
                         "tries"));
    all.push_back(key(
        "gateway.tx_engine.retry.retry_interval_ms", count_of(milliseconds{1}, 1, 3'600'000),
        [](auto& s) -> auto& { return s.engine.trouble_pause.first; },
        "The first pause while the chain can not be reached; later ones double up to "
        "engine.trouble_pause_max.",
        "milliseconds"));
    const std::string signer = "gateway.tx_engine.signer.";
    all.push_back(chain(signer + "type", choice<int>({{"private_key", 0}, {"aws_kms", 1}}),
                        "\"private_key\"", "Who signs transactions."));
    all.push_back(
        hidden(chain(signer + "private_key", private_key(), "\"\"", "For type private_key.")));
    all.push_back(hidden(
        chain(signer + "key_id", secret("text, at most 4096 bytes"), "\"\"", "For type aws_kms.")));
    all.push_back(hidden(
        chain(signer + "region", secret("text, at most 4096 bytes"), "\"\"", "For type aws_kms.")));
    all.push_back(hidden(chain(signer + "endpoint", url(http_schemes), "\"http://localhost:4566\"",
                               "For type aws_kms, optional.")));
    add_throttler(
        all, "input_proof", [](auto& s) -> auto& { return s.engine.sending.input_proof; });
    add_throttler(
        all, "user_decrypt", [](auto& s) -> auto& { return s.engine.sending.user_decrypt; });
    add_throttler(
        all, "public_decrypt", [](auto& s) -> auto& { return s.engine.sending.public_decrypt; });

    const std::string checker = "gateway.readiness_checker.";
    all.push_back(chain(checker + "host_acl_check.retry.max_attempts", whole_number(0, number_max),
                        "3", "Tries of a permission check.", "tries"));
    all.push_back(chain(checker + "host_acl_check.retry.retry_interval_ms",
                        whole_number(0, number_max), "1000", "Pause between two tries.",
                        "milliseconds"));
    all.push_back(key(
        checker + "gw_ciphertext_check.retry.max_attempts", whole_number(1, 1'000'000),
        [](auto& s) -> auto& { return s.engine.readiness_attempts_max; },
        "Answers \"not ready\" before a decryption times out.", "tries"));
    all.push_back(key(
        checker + "gw_ciphertext_check.retry.retry_interval_ms",
        count_of(milliseconds{1}, 1, 3'600'000),
        [](auto& s) -> auto& { return s.engine.readiness_pause; },
        "Pause between two readiness checks of one decryption.", "milliseconds"));
    add_readiness(
        all, "public_decrypt", [](auto& s) -> auto& { return s.engine.readiness.public_decrypt; });
    add_readiness(
        all, "user_decrypt", [](auto& s) -> auto& { return s.engine.readiness.user_decrypt; });

    all.push_back(key(
        "gateway.contracts.decryption_address", address(),
        [](auto& s) -> auto& { return s.api.decryption_address; },
        "The decryption contract; user signatures are checked against it."));
    all.push_back(chain("gateway.contracts.input_verification_address", address(), sample_address,
                        "The input verification contract."));
    all.push_back(key(
        "gateway.contracts.user_decrypt_shares_threshold", whole_number(1, 10'000),
        [](auto& s) -> auto& { return s.engine.user_decrypt_shares_threshold; },
        "Shares that complete a user decryption.", "shares"));
    all.push_back(chain("gateway.gw_event_not_found_retry.max_retries", whole_number(0, number_max),
                        "3", "Tries to join an answer.", "tries"));
    all.push_back(chain("gateway.gw_event_not_found_retry.retry_delay_ms",
                        whole_number(0, number_max), "1000", "Pause between two tries.",
                        "milliseconds"));
    return all;
}

}  // namespace config
