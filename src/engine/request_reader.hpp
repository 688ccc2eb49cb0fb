#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "domain/failure.hpp"
#include "domain/kind.hpp"
#include "domain/request_id.hpp"
#include "domain/result.hpp"
#include "domain/status.hpp"

namespace engine {

struct NotFound {};

struct Pending {
    domain::Kind kind = domain::Kind::input_proof;
    domain::Status status = domain::Status::queued;
    std::uint32_t retry_after_seconds = 1;
    std::uint64_t elapsed_seconds = 0;  // whole seconds in this status
};

struct Completed {
    domain::Kind kind = domain::Kind::input_proof;
    std::optional<domain::Result> result;  // nothing: none is stored, or it can not be read
    bool unreadable = false;
};

struct Ended {
    domain::Kind kind = domain::Kind::input_proof;
    domain::Status status = domain::Status::failure;  // or timed_out
    domain::Failure failure;
};

struct Unreadable {
    std::string reason;  // for the log: the database failed
};

using FindOutcome = std::variant<NotFound, Pending, Completed, Ended, Unreadable>;

// How polls look at a request. Any thread; reads only.
class RequestReader {
public:
    virtual ~RequestReader() = default;
    [[nodiscard]] virtual FindOutcome find(const domain::RequestId& id) = 0;
};

}  // namespace engine
