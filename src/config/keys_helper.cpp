#include "config/keys.hpp"

#include <algorithm>

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Below 1 is understood as 1, as in the reference; loading says so.
Key proofs_key() {
    const std::int64_t max = 1'000;
    Key out = key(
        "helper.max_concurrent_proofs", whole_number(std::numeric_limits<std::int32_t>::min(), max),
        [](auto& s) -> auto& { return s.engine.shares.max_concurrent_proofs; },
        "Proofs of vote shares at once; below 1 becomes 1.", "proofs");
    out.allowed = "1 to 1000";
    out.read = [type = whole_number(std::numeric_limits<std::int32_t>::min(), max)](
                   Settings& s, std::size_t, const Node& node) -> std::optional<Problem> {
        const auto reading = type.read(node);
        if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
        const auto proofs = std::max<std::int64_t>(std::get<std::int64_t>(reading), 0);
        s.engine.shares.max_concurrent_proofs = static_cast<std::uint32_t>(proofs);
        return std::nullopt;
    };
    return out;
}

// One switch for all that is told about the times of shares.
Key timing_key() {
    Key out = key(
        "helper.expose_timing", boolean(),
        [](auto& s) -> auto& { return s.engine.shares.expose_timing; },
        "Count vote shares in metrics, and log at level info when they come and leave. Who reads "
        "that learns when somebody's vote was revealed.");
    out.read = [read = out.read](Settings& s, std::size_t index, const Node& node) {
        auto problem = read(s, index, node);
        s.api.share_expose_timing = s.engine.shares.expose_timing;
        s.metrics.shares = s.engine.shares.expose_timing;
        return problem;
    };
    return out;
}

}  // namespace

std::vector<Key> helper_keys() {
    std::vector<Key> all;
    all.push_back(key(
        "helper.disable", boolean(), [](auto& s) -> auto& { return s.api.share_disable; },
        "No vote shares at all: their routes answer 503."));
    all.push_back(hidden(key(
        "helper.api_token", secret("text, at most 4096 bytes; empty: none"),
        [](auto& s) -> auto& { return s.api.access.share_api_token; },
        "What the header X-Helper-Token must be. Without it and without api_tokens_file everybody "
        "may "
        "come in.")));
    all.push_back(key(
        "helper.api_tokens_file",
        text("a path or credential:NAME, at most 4096 bytes; empty: none", 0, 4'096),
        [](auto& s) -> auto& { return s.api.access.share_tokens_file; },
        "More tokens for X-Helper-Token: a file as for http.client_keys_file. SIGHUP reads it "
        "again."));
    all.push_back(key(
        "helper.expose_queue_status", boolean(),
        [](auto& s) -> auto& { return s.api.share_expose_queue_status; },
        "Serve GET /shielded-vote/v1/queue-status: how many shares of each round wait and have "
        "left. Who polls it learns when they leave."));
    all.push_back(timing_key());
    all.push_back(unused("helper.db_path", text("a path", 0, 4'096), "\"\"", Effect::superseded,
                         "Database of the helper; storage.data_dir names the place here."));
    all.push_back(proofs_key());
    all.push_back(key(
        "helper.attempts_max", whole_number(1, 100),
        [](auto& s) -> auto& { return s.engine.shares.attempts_max; },
        "Failed attempts before a share is given up.", "attempts"));
    all.push_back(key(
        "helper.backoff_first", duration(milliseconds{1}, hours{24}),
        [](auto& s) -> auto& { return s.engine.shares.backoff_first; },
        "Pause after the first failed attempt; doubles with each, five times at most."));
    all.push_back(key(
        "helper.strict_attempts", boolean(),
        [](auto& s) -> auto& { return s.engine.shares.strict_attempts; },
        "Trouble with the connection to the chain or to the prover costs an attempt too, as in the "
        "reference."));
    all.push_back(key(
        "helper.retention", duration(milliseconds{0}, hours{24 * 3'650}),
        [](auto& s) -> auto& { return s.engine.retention.share; },
        "How long finished shares are kept after the end of their round."));
    all.push_back(key(
        "helper.rounds_max", whole_number(1, 1'000'000),
        [](auto& s) -> auto& { return s.api.share_rounds_max; },
        "Vote rounds remembered in memory.", "rounds"));
    all.push_back(key(
        "helper.body_bytes_max", whole_number(1'024, std::int64_t{64} << 20U),
        [](auto& s) -> auto& { return s.api.share_body_bytes_max; },
        "The largest body of a vote share.", "bytes"));
    all.push_back(hidden(unused("helper.sentry_dsn", secret("text, at most 4096 bytes"), "\"\"",
                                Effect::superseded,
                                "Where errors are reported; they are only logged here.")));
    all.push_back(unused("helper.process_interval", anything(), "\"30s\"", Effect::obsolete,
                         "Obsolete, accepted and ignored."));
    all.push_back(unused("helper.min_delay", anything(), "\"90s\"", Effect::obsolete,
                         "Obsolete, accepted and ignored."));
    return all;
}

}  // namespace config
