#include "net/transport_error.hpp"

#include <utility>

namespace net {

TransportError transport_error(TransportError::Kind kind, std::string text) {
    return {kind, std::move(text), std::chrono::milliseconds{0}};
}

TransportError throttled(std::chrono::milliseconds wait) {
    return {TransportError::Kind::throttled, "asked to wait " + in_words(wait), wait};
}

TransportError stopped() {
    return transport_error(TransportError::Kind::stopped, "stopped");
}

std::string in_words(std::chrono::milliseconds time) {
    return time.count() % 1'000 == 0 ? std::to_string(time.count() / 1'000) + " s"
                                     : std::to_string(time.count()) + " ms";
}

TransportError held_back(const TransportError& other) {
    if (other.kind == TransportError::Kind::throttled ||
        other.kind == TransportError::Kind::stopped) {
        return other;
    }
    return transport_error(TransportError::Kind::unsent, other.text);
}

}  // namespace net
