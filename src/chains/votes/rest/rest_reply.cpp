#include "chains/votes/rest/rest_reply.hpp"

#include "base/base64.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::votes::rest {

bool is_success(const RestReply& reply) {
    return reply.status >= 200 && reply.status < 300;
}

bool is_not_found(const RestReply& reply) {
    return reply.status == 404 && reply.json &&
           (jsonrpc::member(*reply.json, "error").is_string() ||
            jsonrpc::member(*reply.json, "code").is_number_integer());
}

engine::Unreachable unreachable(const RestReply& reply) {
    std::string reason = "HTTP " + std::to_string(reply.status);
    if (!reply.error.empty()) reason.append(": ").append(reply.error);
    return {.reason = std::move(reason), .hold = reply.hold};
}

std::optional<std::uint64_t> number_of(const jsonrpc::Json& object, const char* name) {
    const jsonrpc::Json& value = jsonrpc::member(object, name);
    if (value.is_null()) return 0;
    if (!value.is_number_unsigned()) return std::nullopt;
    return value.get<std::uint64_t>();
}

std::optional<domain::Bytes32> bytes32_of(const jsonrpc::Json& value) {
    domain::Bytes32 bytes{};
    const bool is_some =
        value.is_string() && base::from_base64(value.get_ref<const std::string&>(), bytes);
    return is_some ? std::optional(bytes) : std::nullopt;
}

std::optional<domain::Bytes32> round_id_of(const jsonrpc::Json& value) {
    if (auto bytes = bytes32_of(value)) return bytes;
    domain::Bytes32 bytes{};
    const bool is_some =
        value.is_string() && domain::from_hex(value.get_ref<const std::string&>(), bytes);
    return is_some ? std::optional(bytes) : std::nullopt;
}

}  // namespace chains::votes::rest
