#include "api/share_answers.hpp"

#include <algorithm>

#include "api/envelope.hpp"

namespace api {

std::string fields_of(const ShareCall& call) {
    return std::string("stage=").append(call.stage).append(" call=").append(call.id);
}

std::string too_large(std::size_t bytes_max) {
    return "invalid JSON: the body is larger than " + std::to_string(bytes_max) + " bytes";
}

ShareAnswers::ShareAnswers(const Options& options, ports::Logger& logger, const ports::Clock& clock)
    : options_(options),
      logger_(logger),
      problem_("share_call_failed", logger, clock),
      overload_("share_lookups_full", logger, clock, ports::LogLevel::warning),
      lateness_("share_lookups_late", logger, clock, ports::LogLevel::warning) {}

net::HttpResponse ShareAnswers::unavailable(std::uint32_t retry_after_seconds) {
    net::HttpResponse response = share_error(503, "helper unavailable");
    response.headers.emplace_back("Retry-After", std::to_string(std::max(retry_after_seconds, 1U)));
    return response;
}

net::HttpResponse ShareAnswers::unavailable() const {
    return unavailable(options_.api_retry_after_seconds);
}

net::HttpResponse ShareAnswers::overloaded(const ShareCall& call) {
    overload_.note(fields_of(call), "the vote chain is asked faster than it answers");
    return unavailable();
}

net::HttpResponse ShareAnswers::too_late(const ShareCall& call) {
    lateness_.note(fields_of(call), "the vote chain takes too long over those before");
    return unavailable();
}

net::HttpResponse ShareAnswers::refused(int status, std::string_view text,
                                        std::string_view call_id) const {
    logger_.write(ports::LogLevel::debug, std::string("share_refused call=")
                                              .append(call_id)
                                              .append(" status=")
                                              .append(std::to_string(status)));
    return share_error(status, text);
}

net::HttpResponse ShareAnswers::failed(const ShareCall& call) {
    problem_.note(fields_of(call), reason_of_current_exception());
    return internal_error();
}

net::HttpResponse ShareAnswers::internal_error() {
    return share_error(500, "internal error");
}

}  // namespace api
