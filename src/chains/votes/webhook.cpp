#include "chains/votes/webhook.hpp"

#include <algorithm>
#include <chrono>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <nlohmann/json.hpp>

#include "base/sanitize.hpp"
#include "domain/bytes.hpp"

namespace chains::votes {

namespace {

std::int64_t unix_seconds(domain::Timestamp time) {
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string body_of(const engine::RoundAlert& alert) {
    const std::string round_id = domain::to_hex(alert.round_id);
    nlohmann::ordered_json body{
        {"type", "round_closed_with_unsubmitted_shares"},
        {"id", "round-closed-" + round_id +
                   (alert.late > 0 ? "-" + std::to_string(alert.late) : std::string())},
        {"round_id", round_id},
        {"vote_end_time", unix_seconds(alert.vote_end)},
        {"total", alert.total},
        {"submitted", alert.submitted},
        {"failed", alert.failed},
        {"pending", alert.pending},
        {"unsubmitted", alert.unsubmitted()},
    };
    if (alert.unconfirmed) body["unconfirmed"] = *alert.unconfirmed;
    if (!alert.reason.empty()) body["reason"] = alert.reason;
    if (alert.late > 0) body["after_end"] = true;
    return body.dump();
}

std::string signature(std::string_view secret, std::string_view text) {
    domain::Bytes32 mac{};
    unsigned int size = 0;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(),
             mac.data(), &size) == nullptr) {
        return {};
    }
    return "sha256=" + domain::to_hex(mac);
}

}  // namespace

Webhook::Webhook(WebhookOptions options, Poster& poster, engine::AlertEvents& events,
                 ports::Executor& executor, const ports::Clock& clock, ports::Logger& logger)
    : options_(std::move(options)),
      poster_(poster),
      events_(events),
      clock_(clock),
      logger_(logger),
      task_group_(executor) {}

Webhook::~Webhook() {
    stop();
}

void Webhook::raise(std::vector<engine::RoundAlert> alerts) {
    for (engine::RoundAlert& alert : alerts) {
        const std::int64_t round = alert.round;
        {
            const std::lock_guard lock(mutex_);
            if (!under_way_.try_emplace(round, Delivery{std::move(alert), options_.pause_first})
                     .second) {
                continue;
            }
        }
        task_group_.run([this, round] { ready(round); });
    }
}

void Webhook::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    poster_.stop();
    task_group_.stop();
}

// One POST at a time: a receiver that hangs costs one worker, however many rounds wait.
void Webhook::ready(std::int64_t round) {
    {
        const std::lock_guard lock(mutex_);
        ready_.push_back(round);
        if (posting_) return;
        posting_ = true;
    }
    while (const std::optional<engine::RoundAlert> alert = next()) {
        if (const std::optional<std::string> reason = post(*alert)) {
            put_off(*alert, *reason);
        } else {
            taken(*alert);
        }
    }
}

std::optional<engine::RoundAlert> Webhook::next() {
    const std::lock_guard lock(mutex_);
    if (stopping_ || ready_.empty()) {
        posting_ = false;
        return std::nullopt;
    }
    const std::int64_t round = ready_.front();
    ready_.pop_front();
    return under_way_.at(round).alert;
}

std::optional<std::string> Webhook::post(const engine::RoundAlert& alert) {
    const std::string body = body_of(alert);
    const std::string timestamp = std::to_string(unix_seconds(clock_.wall()));
    HeaderFields fields{{"X-Posthouse-Timestamp", timestamp}};
    if (!options_.secret.empty()) {
        std::string mac = signature(options_.secret, timestamp + "." + body);
        if (mac.empty()) return "the alert could not be signed";
        fields.emplace_back("X-Posthouse-Signature", std::move(mac));
    }
    return poster_.post(body, fields);
}

void Webhook::taken(const engine::RoundAlert& alert) {
    // Before it is forgotten here, so that it can not be raised anew in between.
    events_.alert_taken(alert.mark());
    const std::lock_guard lock(mutex_);
    under_way_.erase(alert.round);
    failing_ = false;
    logger_.write(ports::LogLevel::info,
                  "alert_delivered round_id=" + domain::to_hex(alert.round_id));
}

void Webhook::put_off(const engine::RoundAlert& alert, const std::string& reason) {
    domain::Milliseconds pause{};
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        Delivery& delivery = under_way_.at(alert.round);
        pause = delivery.pause;
        delivery.pause = std::min(2 * pause, options_.pause_max);
        if (!failing_) {
            logger_.write(
                ports::LogLevel::warning,
                "alert_not_delivered round_id=" + domain::to_hex(alert.round_id) +
                    " action=\"tried again until it is taken\" error=" + base::log_value(reason));
        }
        failing_ = true;
    }
    task_group_.run_after(pause, [this, round = alert.round] { ready(round); });
}

}  // namespace chains::votes
