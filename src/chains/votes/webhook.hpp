#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chains/votes/options.hpp"
#include "engine/alerts.hpp"
#include "engine/task_group.hpp"
#include "ports/clock.hpp"
#include "ports/executor.hpp"
#include "ports/logger.hpp"

namespace chains::votes {

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

// Port: one POST of JSON to the place that takes alerts. Any thread.
class Poster {
public:
    virtual ~Poster() = default;
    // Nothing when it was taken (HTTP 2xx), else why not: one line without the URL. Blocks until
    // the answer or the timeout of the options.
    [[nodiscard]] virtual std::optional<std::string> post(std::string_view json,
                                                          const HeaderFields& fields) = 0;
    // Ends what runs and refuses what comes.
    virtual void stop() = 0;
};

// Over HTTP/1.1. Throws std::invalid_argument, without the URL, when it is none.
[[nodiscard]] std::unique_ptr<Poster> make_poster(const WebhookOptions& options);

// Reports rounds that closed with unrevealed shares, one after the other:
//
//   POST <url>
//   X-Posthouse-Timestamp: 1780340401            Unix seconds of this try
//   X-Posthouse-Signature: sha256=<64 hex>       only with a secret
//   {"type":"round_closed_with_unsubmitted_shares","id":"round-closed-<round_id>",
//    "round_id":<64 hex>,"vote_end_time":<Unix seconds>,"total":n,"submitted":n,"failed":n,
//    "pending":n,"unsubmitted":n}
//
// and behind them "unconfirmed":n and "reason":"…" where RoundAlert has them. Of shares that came
// after the end the id ends with "-n", their number so far, and "after_end":true is the last
// member.
//
// The signature is HMAC-SHA256 with the secret as key over the timestamp, a full stop and the body,
// byte for byte. 2xx means taken; anything else is tried again after a pause that doubles from
// pause_first to pause_max, for ever, with a new timestamp. Each round is taken once, except that a
// crash or a lost answer may bring it a second time with the same id and counts: receivers drop
// what they know. Several helpers report the same round with the same id; give each a URL of its
// own.
class Webhook final : public engine::AlertSink {
public:
    // `events` hears of each alert that was taken, on a thread of the executor.
    Webhook(WebhookOptions options, Poster& poster, engine::AlertEvents& events,
            ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger);
    ~Webhook() override;

    // Any thread. A round that is under way already is left as it is.
    void raise(std::vector<engine::RoundAlert> alerts) override;

    // Waits for a POST that runs, which ends at once; nothing is sent afterwards. Alerts that were
    // not taken come again with the next start. Not from `events`.
    void stop();

private:
    struct Delivery {
        engine::RoundAlert alert;
        domain::Milliseconds pause;  // after the next failure
    };

    void ready(std::int64_t round);
    [[nodiscard]] std::optional<engine::RoundAlert> next();
    [[nodiscard]] std::optional<std::string> post(const engine::RoundAlert& alert);
    void taken(const engine::RoundAlert& alert);
    void put_off(const engine::RoundAlert& alert, const std::string& reason);

    const WebhookOptions options_;
    Poster& poster_;
    engine::AlertEvents& events_;
    const ports::Clock& clock_;
    ports::Logger& logger_;

    std::mutex mutex_;
    std::map<std::int64_t, Delivery> under_way_;  // by key of the stored round
    std::deque<std::int64_t> ready_;              // those whose pause is over
    bool posting_ = false;
    bool failing_ = false;  // the last POST was not taken
    bool stopping_ = false;

    engine::TaskGroup task_group_;  // goes away first
};

}  // namespace chains::votes
