#include "config/keys.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;

std::vector<Key> queue_keys(const std::string& table, auto gate) {
    return {
        key(
            table + "capacity",
            whole_number(1, 10'000'000), [gate](auto& s) -> auto& { return gate(s).capacity; },
            "Places in the queue.", "requests"),
        key(
            table + "safety_margin",
            whole_number(0, 10'000'000), [gate](auto& s) -> auto& { return gate(s).safety_margin; },
            "POSTs get 429 once only so many places are left; below capacity.", "requests"),
    };
}

std::vector<Key> throttler_keys(const std::string& family, auto gate) {
    const std::string table = "gateway.tx_engine.tx_throttlers." + family + ".";
    const Key rate = key(
        table + "per_seconds",
        whole_number(1, 1'000'000), [gate](auto& s) -> auto& { return gate(s).per_seconds; },
        "Transactions that leave per second in the long run.", "transactions");
    const Key burst = key(
        table + "burst",
        whole_number(0, 1'000'000), [gate](auto& s) -> auto& { return gate(s).burst; },
        "Most that leave at once after idling; 0: as many as per_seconds.", "transactions");
    return joined({{rate, burst}, queue_keys(table, gate)});
}

std::vector<Key> check_keys(const std::string& family, auto gate) {
    const std::string table = "gateway.readiness_checker." + family + ".";
    const Key concurrency = key(
        table + "max_concurrency",
        whole_number(1, 100'000), [gate](auto& s) -> auto& { return gate(s).max_concurrency; },
        "Checks at once.", "checks");
    return joined({{concurrency}, queue_keys(table, gate)});
}

std::vector<Key> transaction_keys() {
    return {
        key("gateway.type",
            choice<GatewayType>({{"loopback", GatewayType::loopback}, {"evm", GatewayType::evm}}),
            SETTING(gateway),
            "Which chain requests go to. loopback: one inside the program; evm: a real one behind "
            "JSON-RPC."),
        key("gateway.unreachable_limit", duration(1ms, ten_years),
            SETTING(engine.unreachable_limit),
            "From the first try that reaches no node, or only a provider's front door, until a "
            "request fails as gateway_not_reachable. What is signed is kept however long that "
            "lasts."),
        key("gateway.tx_engine.max_concurrency", whole_number(1, 100'000),
            SETTING(engine.sends_max), "Transactions in flight at once, all kinds together.",
            "transactions"),
        key("gateway.tx_engine.retry.retry_interval_ms", count_of(1ms, 1, 3'600'000),
            SETTING(engine.unreachable_pause.first),
            "The first pause while the chain can not be reached; later ones double up to "
            "engine.trouble_pause_max.",
            "milliseconds"),
    };
}

std::vector<Key> readiness_keys() {
    const std::string retry = "gateway.readiness_checker.gw_ciphertext_check.retry.";
    return {
        key(retry + "max_attempts", whole_number(1, 1'000'000),
            SETTING(engine.readiness_attempts_max),
            "Answers \"not ready\" before a decryption times out.", "tries"),
        key(retry + "retry_interval_ms", count_of(1ms, 1, 3'600'000),
            SETTING(engine.readiness_pause),
            "Pause between two readiness checks of one decryption.", "milliseconds"),
    };
}

std::vector<Key> decryption_keys() {
    return {
        needed_by_evm(key("gateway.contracts.decryption_address", address(),
                          SETTING(api.decryption_address),
                          "The decryption contract; user signatures are checked against it.")),
        needed_by_evm(key("gateway.contracts.user_decrypt_shares_threshold",
                          whole_number(1, 10'000), SETTING(engine.user_decrypt_shares_threshold),
                          "Shares that complete a user decryption whose context says nothing else.",
                          "shares")),
        unused("gateway.gw_event_not_found_retry.max_retries", whole_number(0, number_max), "3",
               Effect::superseded, "Answers wait in the database.", "tries"),
        unused("gateway.gw_event_not_found_retry.retry_delay_ms", whole_number(0, number_max),
               "1000", Effect::superseded, "Answers wait in the database.", "milliseconds"),
    };
}

}  // namespace

std::vector<Key> gateway_keys() {
    return joined({
        transaction_keys(),
        throttler_keys("input_proof", SETTING(engine.sending.input_proof)),
        throttler_keys("user_decrypt", SETTING(engine.sending.user_decrypt)),
        throttler_keys("public_decrypt", SETTING(engine.sending.public_decrypt)),
        readiness_keys(),
        check_keys("public_decrypt", SETTING(engine.readiness.public_decrypt)),
        check_keys("user_decrypt", SETTING(engine.readiness.user_decrypt)),
        decryption_keys(),
    });
}

}  // namespace config
