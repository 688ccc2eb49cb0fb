#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "domain/request.hpp"
#include "domain/request_id.hpp"
#include "domain/time.hpp"

namespace engine {

// The row is durable, new or already there.
struct Accepted {
    domain::RequestId id;
    bool duplicate = false;
    std::uint32_t retry_after_seconds = 1;
};

// Shares: the key is taken by other content.
struct Conflict {};

// The gates of this kind are full; later is better (429).
struct Bounced {
    std::uint32_t retry_after_seconds = 4;
};

// Nothing was stored: the inbox is full, the disk fails or the process is stopping (503).
struct Unavailable {
    std::string reason;  // for the log
    std::uint32_t retry_after_seconds = 1;
};

using AcceptOutcome = std::variant<Accepted, Conflict, Bounced, Unavailable>;

// How requests come in. Any thread; blocks until the commit that holds the row.
class Intake {
public:
    virtual ~Intake() = default;

    // `vote_end` for shares only: the end of their round.
    [[nodiscard]] virtual AcceptOutcome accept(const domain::Request& request,
                                               std::optional<domain::Timestamp> vote_end = {}) = 0;
};

}  // namespace engine
