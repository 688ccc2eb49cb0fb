#include "gateway/votes/rest/rest_reply.hpp"

#include "gateway/rpc/base64.hpp"
#include "gateway/rpc/decode.hpp"

namespace gateway::votes {

bool is_success(const RestReply& reply) {
    return reply.status >= 200 && reply.status < 300;
}

engine::Unreachable unreachable(const RestReply& reply) {
    std::string reason = "HTTP " + std::to_string(reply.status);
    if (!reply.error.empty()) reason.append(": ").append(reply.error);
    return {.reason = std::move(reason), .hold = reply.hold};
}

std::optional<std::uint64_t> number_of(const rpc::Json& object, const char* name) {
    const rpc::Json& value = rpc::member(object, name);
    if (value.is_null()) return 0;
    if (!value.is_number_unsigned()) return std::nullopt;
    return value.get<std::uint64_t>();
}

std::optional<domain::Bytes32> bytes32_of(const rpc::Json& value) {
    domain::Bytes32 bytes{};
    const bool is_some =
        value.is_string() && rpc::from_base64(value.get_ref<const std::string&>(), bytes);
    return is_some ? std::optional(bytes) : std::nullopt;
}

std::optional<domain::Bytes32> round_id_of(const rpc::Json& value) {
    if (auto bytes = bytes32_of(value)) return bytes;
    domain::Bytes32 bytes{};
    const bool is_some =
        value.is_string() && domain::from_hex(value.get_ref<const std::string&>(), bytes);
    return is_some ? std::optional(bytes) : std::nullopt;
}

}  // namespace gateway::votes
