#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/options.hpp"
#include "api/throttled_log.hpp"
#include "net/http_message.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace api {

// One HTTP call of a share route.
struct ShareCall {
    // What the call is about where something fails: the tag `stage` of share-helper 7. A literal.
    std::string_view stage;
    std::string id;
};

// `stage=… call=…`
[[nodiscard]] std::string fields_of(const ShareCall& call);

// The text of a refusal.
[[nodiscard]] std::string too_large(std::size_t bytes_max);

// What the share routes answer alike. Any thread.
class ShareAnswers {
public:
    ShareAnswers(const Options& options, ports::Logger& logger, const ports::Clock& clock);

    // 503, at least a second to wait.
    [[nodiscard]] static net::HttpResponse unavailable(std::uint32_t retry_after_seconds);
    // The same with the wait of the options.
    [[nodiscard]] net::HttpResponse unavailable() const;
    // 503 because too much waits for the vote chain already.
    [[nodiscard]] net::HttpResponse overloaded(const ShareCall& call);
    // 503 because the turn to ask the vote chain came too late.
    [[nodiscard]] net::HttpResponse too_late(const ShareCall& call);
    // What the client got wrong; he could fill the log with it, so it is said at debug.
    [[nodiscard]] net::HttpResponse refused(int status, std::string_view text,
                                            std::string_view call_id) const;
    // 500 after an exception; inside the catch block.
    [[nodiscard]] net::HttpResponse failed(const ShareCall& call);
    // 500 that somebody else has written about.
    [[nodiscard]] static net::HttpResponse internal_error();

private:
    const Options options_;
    ports::Logger& logger_;
    ThrottledLog problem_;
    ThrottledLog overload_;
    ThrottledLog lateness_;
};

}  // namespace api
