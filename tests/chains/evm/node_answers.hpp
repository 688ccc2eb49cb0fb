#pragma once

#include <string>
#include <variant>

#include "chains/jsonrpc/node.hpp"

namespace support {

// `json`, `error` or the kind of trouble.
inline std::string kind_of(const chains::jsonrpc::Answer& answer) {
    using Kind = chains::jsonrpc::TransportError::Kind;
    if (std::holds_alternative<chains::jsonrpc::Json>(answer)) return "json";
    if (std::holds_alternative<chains::jsonrpc::NodeError>(answer)) return "error";
    switch (std::get<chains::jsonrpc::TransportError>(answer).kind) {
        case Kind::unsent:
            return "unsent";
        case Kind::throttled:
            return "throttled";
        case Kind::lost:
            return "lost";
        case Kind::timed_out:
            return "timed_out";
        case Kind::garbled:
            return "garbled";
        case Kind::stopped:
            return "stopped";
    }
    return "";
}

// Its words; those of a result are its JSON.
inline std::string text_of(const chains::jsonrpc::Answer& answer) {
    if (const auto* const json = std::get_if<chains::jsonrpc::Json>(&answer)) return json->dump();
    if (const auto* const error = std::get_if<chains::jsonrpc::NodeError>(&answer)) {
        return error->message;
    }
    return std::get<chains::jsonrpc::TransportError>(answer).text;
}

inline long wait_ms(const chains::jsonrpc::Answer& answer) {
    return static_cast<long>(std::get<chains::jsonrpc::TransportError>(answer).wait.count());
}

}  // namespace support
