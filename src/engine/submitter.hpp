#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
    std::optional<std::uint64_t> raw_eta_ms = {};  // before margin and clamp; relayer kinds
};

// Shares: the key is taken by other content.
struct Conflict {};

// The Idempotency-Key stands for another request.
struct KeyReused {};

// More than can be stored, now and later (400).
struct TooLarge {
    std::size_t bytes_max = 0;
};

// The gates of this kind are full; later is better (429).
struct QueueFull {
    std::uint32_t retry_after_seconds = 4;
};

// Nothing was stored: the inbox is full, the disk fails or the process is stopping (503).
struct Unavailable {
    std::string reason;  // for the log
    std::uint32_t retry_after_seconds = 1;
    std::string_view label = "unavailable";  // same; a literal
};

using AcceptOutcome = std::variant<Accepted, Conflict, KeyReused, TooLarge, QueueFull, Unavailable>;

// Told once what became of a request, on the processor's thread or at once on the caller's: must
// be quick and must not throw.
using Reply = std::function<void(AcceptOutcome)>;

// What is known about a request beside its content.
struct SubmitOptions {
    std::optional<domain::Timestamp> vote_end = {};  // shares: the end of their round
    // Hash of an Idempotency-Key with all that it is valid for.
    std::optional<domain::Bytes32> idempotency_key = {};
    std::int64_t client = 0;  // id of the key that asks; 0: nobody known
};

// How requests come in. Any thread.
class Submitter {
public:
    virtual ~Submitter() = default;

    // Does not wait: the reply comes after the commit that holds the row.
    virtual void submit(const domain::Request& request, const SubmitOptions& options,
                        Reply reply) = 0;

    // The same for a caller that can wait.
    [[nodiscard]] AcceptOutcome accept(const domain::Request& request,
                                       const SubmitOptions& options = {}) {
        const auto promise = std::make_shared<std::promise<AcceptOutcome>>();
        submit(request, options,
               [promise](AcceptOutcome outcome) { promise->set_value(std::move(outcome)); });
        return promise->get_future().get();
    }
};

}  // namespace engine
