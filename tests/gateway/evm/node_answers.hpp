#pragma once

#include <string>
#include <variant>

#include "gateway/rpc/node.hpp"

namespace support {

// `json`, `error` or the kind of trouble.
inline std::string kind_of(const gateway::rpc::Answer& answer) {
    using Kind = gateway::rpc::Trouble::Kind;
    if (std::holds_alternative<gateway::rpc::Json>(answer)) return "json";
    if (std::holds_alternative<gateway::rpc::NodeError>(answer)) return "error";
    switch (std::get<gateway::rpc::Trouble>(answer).kind) {
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
inline std::string text_of(const gateway::rpc::Answer& answer) {
    if (const auto* const json = std::get_if<gateway::rpc::Json>(&answer)) return json->dump();
    if (const auto* const error = std::get_if<gateway::rpc::NodeError>(&answer)) {
        return error->message;
    }
    return std::get<gateway::rpc::Trouble>(answer).text;
}

inline long wait_ms(const gateway::rpc::Answer& answer) {
    return static_cast<long>(std::get<gateway::rpc::Trouble>(answer).wait.count());
}

}  // namespace support
