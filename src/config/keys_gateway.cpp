#include "config/keys.hpp"

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

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

std::vector<Key> gateway_keys() {
    std::vector<Key> all;
    all.push_back(key(
        "gateway.type",
        choice<GatewayType>({{"loopback", GatewayType::loopback}, {"evm", GatewayType::evm}}),
        [](auto& s) -> auto& { return s.gateway; },
        "Which chain requests go to. loopback: one inside the program; evm: a real one behind "
        "JSON-RPC."));
    all.push_back(key(
        "gateway.tx_engine.max_concurrency", whole_number(1, 100'000),
        [](auto& s) -> auto& { return s.engine.sends_max; },
        "Transactions in flight at once, all kinds together.", "transactions"));
    all.push_back(key(
        "gateway.tx_engine.retry.retry_interval_ms", count_of(milliseconds{1}, 1, 3'600'000),
        [](auto& s) -> auto& { return s.engine.unreachable_pause.first; },
        "The first pause while the chain can not be reached; later ones double up to "
        "engine.trouble_pause_max.",
        "milliseconds"));
    add_throttler(
        all, "input_proof", [](auto& s) -> auto& { return s.engine.sending.input_proof; });
    add_throttler(
        all, "user_decrypt", [](auto& s) -> auto& { return s.engine.sending.user_decrypt; });
    add_throttler(
        all, "public_decrypt", [](auto& s) -> auto& { return s.engine.sending.public_decrypt; });

    const std::string checker = "gateway.readiness_checker.";
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
    all.back().required_by_evm = true;
    all.push_back(key(
        "gateway.contracts.user_decrypt_shares_threshold", whole_number(1, 10'000),
        [](auto& s) -> auto& { return s.engine.user_decrypt_shares_threshold; },
        "Shares that complete a user decryption whose context says nothing else.", "shares"));
    all.back().required_by_evm = true;
    all.push_back(unused("gateway.gw_event_not_found_retry.max_retries",
                         whole_number(0, number_max), "3", Effect::superseded,
                         "Answers wait in the database.", "tries"));
    all.push_back(unused("gateway.gw_event_not_found_retry.retry_delay_ms",
                         whole_number(0, number_max), "1000", Effect::superseded,
                         "Answers wait in the database.", "milliseconds"));
    return all;
}

}  // namespace config
