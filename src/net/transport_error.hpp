#pragma once

#include <chrono>
#include <string>

namespace net {

// Why there is no answer, and whether the request may have been taken.
struct TransportError {
    enum class Kind {
        unsent,     // nothing reached the peer: refused, no route, TLS failed
        throttled,  // it asked us to wait: HTTP 429, 503 with Retry-After; said by who reads
                    // answers
        lost,       // the connection broke after the request was on its way: it may have been taken
        timed_out,  // no answer in time: it may have been taken
        garbled,    // an answer that makes no sense, or too large: it may have been taken
        stopped,    // stop() was called
    };
    Kind kind = Kind::unsent;
    std::string text;                   // one line without secrets, such as `connection refused`
    std::chrono::milliseconds wait{0};  // throttled: nobody should ask earlier
};

[[nodiscard]] TransportError transport_error(TransportError::Kind kind, std::string text);
[[nodiscard]] TransportError throttled(std::chrono::milliseconds wait);
[[nodiscard]] TransportError stopped();
// Of a call that was held back because another met `other`.
[[nodiscard]] TransportError held_back(const TransportError& other);

[[nodiscard]] std::string in_words(std::chrono::milliseconds time);  // `7 s`, `250 ms`

}  // namespace net
