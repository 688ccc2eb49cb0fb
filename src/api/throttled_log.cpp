#include "api/throttled_log.hpp"

#include <chrono>
#include <exception>

#include "base/sanitize.hpp"
#include "base/urls.hpp"
#include "domain/failure.hpp"

namespace api {

std::string reason_of_current_exception() {
    try {
        if (const auto current = std::current_exception()) std::rethrow_exception(current);
    } catch (const std::exception& exception) {
        return exception.what();
    } catch (...) {
        return "an exception without text";
    }
    return "the request was dropped without an answer";
}

void ThrottledLog::write(std::string_view call_id, std::string_view reason,
                         std::string_view label) {
    std::string fields("call=");
    fields.append(call_id);
    if (!label.empty()) fields.append(" label=").append(label);
    note(fields, reason);
}

void ThrottledLog::note(std::string_view fields, std::string_view reason) {
    constexpr domain::Nanoseconds quiet_time = std::chrono::seconds(10);
    const domain::Nanoseconds now = clock_.monotonic().time_since_epoch();
    std::int64_t quiet_until = quiet_until_ns_.load();
    if (now.count() < quiet_until ||
        !quiet_until_ns_.compare_exchange_strong(quiet_until, (now + quiet_time).count())) {
        ++suppressed_;
        return;
    }
    std::string line(event_);
    line.append(" ").append(fields);
    line.append(" suppressed=").append(std::to_string(suppressed_.exchange(0)));
    line.append(" reason=").append(base::log_value(base::redact_urls(reason)));
    logger_.write(level_, line);
}

}  // namespace api
