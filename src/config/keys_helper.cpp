#include "config/keys.hpp"

#include <algorithm>

namespace config {
namespace {

using namespace std::chrono_literals;

// Below 1 is understood as 1, as in the reference; loading says so.
ValueType<std::int64_t> proofs_type() {
    auto type = whole_number(std::numeric_limits<std::int32_t>::min(), 1'000);
    type.allowed = "1 to 1000";
    type.read = [read = type.read](const Node& node) {
        auto reading = read(node);
        if (auto* number = std::get_if<std::int64_t>(&reading))
            *number = std::max<std::int64_t>(*number, 0);
        return reading;
    };
    return type;
}

}  // namespace

std::vector<Key> helper_keys() {
    return {
        key("helper.disable", boolean(), SETTING(api.share_disable),
            "No vote shares at all: their routes answer 503."),
        hidden(key("helper.api_token", header_secret(), SETTING(api.access.share_api_token),
                   "What the header X-Helper-Token must be. Without it and without api_tokens_file "
                   "everybody may come in.")),
        key("helper.api_tokens_file",
            secret("a path or credential:NAME, at most 4096 bytes; empty: none"),
            SETTING(api.access.share_tokens_file),
            "More tokens for X-Helper-Token: a file as for http.client_keys_file. SIGHUP reads it "
            "again."),
        key("helper.expose_queue_status", boolean(), SETTING(api.share_expose_queue_status),
            "Serve GET /shielded-vote/v1/queue-status: how many shares of each round wait and have "
            "left. Who polls it learns when they leave."),
        // One switch for all that is told about the times of shares.
        copied(key("helper.expose_timing", boolean(), SETTING(engine.shares.expose_timing),
                   "Count vote shares in metrics, and log at level info when they come and leave. "
                   "Who reads that learns when somebody's vote was revealed."),
               [](Settings& s, std::size_t) {
                   s.api.share_expose_timing = s.engine.shares.expose_timing;
                   s.metrics.shares = s.engine.shares.expose_timing;
               }),
        unused("helper.db_path", text("a path", 0, 4'096), "\"\"", Effect::superseded,
               "Database of the helper; storage.data_dir names the place here."),
        key("helper.max_concurrent_proofs", proofs_type(),
            SETTING(engine.shares.max_concurrent_proofs),
            "Proofs of vote shares at once; below 1 becomes 1.", "proofs"),
        key("helper.attempts_max", whole_number(1, 100), SETTING(engine.shares.attempts_max),
            "Failed attempts before a share is given up.", "attempts"),
        key("helper.backoff_first", duration(1ms, 24h), SETTING(engine.shares.backoff_first),
            "Pause after the first failed attempt; doubles with each, five times at most."),
        key("helper.strict_attempts", boolean(), SETTING(engine.shares.strict_attempts),
            "Trouble with the connection to the chain or to the prover, and a round that the chain "
            "does not know as active, cost an attempt too, as in the reference."),
        key("helper.retention", duration(0ms, ten_years), SETTING(engine.retention.share),
            "How long finished shares are kept after the end of their round."),
        key("helper.rounds_max", whole_number(1, 1'000'000), SETTING(api.share_rounds_max),
            "Vote rounds remembered in memory.", "rounds"),
        key("helper.body_bytes_max", whole_number(1'024, std::int64_t{64} << 20U),
            SETTING(api.share_body_bytes_max), "The largest body of a vote share.", "bytes"),
        hidden(unused("helper.sentry_dsn", secret("text, at most 4096 bytes"), "\"\"",
                      Effect::superseded, "Where errors are reported; they are only logged here.")),
        unused("helper.process_interval", anything(), "\"30s\"", Effect::obsolete,
               "Obsolete, accepted and ignored."),
        unused("helper.min_delay", anything(), "\"90s\"", Effect::obsolete,
               "Obsolete, accepted and ignored."),
    };
}

}  // namespace config
