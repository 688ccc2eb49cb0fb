#include <array>
#include <limits>

#include "api/request_fields.hpp"

namespace api {

namespace {

// relayer-api 1.11
constexpr std::array handle_members{MemberRule{"ctHandle"}, MemberRule{"contractAddress"},
                                    MemberRule{"ownerAddress"}};
constexpr Schema handle_schema{handle_members};

constexpr std::array seconds_members{MemberRule{"startTimestamp"}, MemberRule{"durationSeconds"}};
constexpr Schema seconds_schema{seconds_members};

constexpr std::array payload_members{MemberRule{"version"},
                                     MemberRule{"type"},
                                     MemberRule{"handles", Shape::objects, &handle_schema},
                                     MemberRule{"userAddress"},
                                     MemberRule{"allowedContracts", Shape::texts},
                                     MemberRule{"requestValidity", Shape::object, &seconds_schema},
                                     MemberRule{"publicKey"},
                                     MemberRule{"extraData"}};
constexpr Schema payload_schema{payload_members, true};

constexpr std::array envelope_members{MemberRule{"attestationType"},
                                      MemberRule{"attestedPayload", Shape::object, &payload_schema},
                                      MemberRule{"signature"}};
Issue require_text(std::string_view text, std::string_view wanted, std::string_view issue) {
    if (text != wanted) return issue;
    return {};
}

Issue read_owned_handle(JsonValue json, domain::OwnedHandle& handle) {
    if (const Issue issue = read_handle(json["ctHandle"].text(), handle.handle)) return issue;
    const Issue issue = read_address(json["contractAddress"].text(), handle.contract_address);
    if (issue) return issue;
    return read_address(json["ownerAddress"].text(), handle.owner_address);
}

Issue read_validity(JsonValue validity, std::uint64_t now_seconds,
                    domain::UnifiedUserDecrypt& request) {
    const std::string_view start = validity["startTimestamp"].text();
    if (auto issue = read_start(start, now_seconds, request.start_timestamp)) return issue;
    if (auto issue = read_u64(validity["durationSeconds"].text(), request.duration_seconds)) {
        return issue;
    }
    if (read_u64(start, request.start_timestamp)) {
        return "startTimestamp must be a valid u64 number";
    }
    constexpr std::uint64_t end_max = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t end = request.start_timestamp > end_max - request.duration_seconds
                                  ? end_max
                                  : request.start_timestamp + request.duration_seconds;
    if (end <= now_seconds) return "requestValidity window has already expired";
    return {};
}

Issue read_signature(std::string_view text, domain::Bytes& out) {
    if (text.empty()) return {};
    return read_prefixed_hex(text, out);
}

void read_payload(RequestFields payload, std::uint64_t now_seconds,
                  domain::UnifiedUserDecrypt& request) {
    payload.note("version", require_text(payload["version"].text(), "2.0",
                                         "Unsupported version; expected \"2.0\""));
    payload.note("type", require_text(payload["type"].text(), "user_decryption",
                                      "Unsupported payload type; expected \"user_decryption\""));
    payload.require_size("handles", 1);
    payload.read_objects("handles", read_owned_handle, request.handles);
    payload.read("userAddress", read_address, request.user_address);
    payload.read_texts("allowedContracts", read_address, request.allowed_contracts);
    payload.note("requestValidity",
                 read_validity(payload["requestValidity"], now_seconds, request));
    payload.require_size("publicKey", 4);
    payload.read("publicKey", read_prefixed_hex, request.public_key);
    payload.read("extraData", read_decrypt_extra_data, request.extra_data);
}

}  // namespace

const Schema unified_user_decrypt_schema{envelope_members, true};

Decoded decode_unified_user_decrypt(std::string_view body, std::uint64_t now_seconds) {
    const auto read = [now_seconds](RequestFields& fields, domain::UnifiedUserDecrypt& request) {
        fields.note(
            "attestationType",
            require_text(
                fields["attestationType"].text(), "eip712-unified-user-decrypt-v1",
                "Unsupported attestationType; expected one of: [eip712-unified-user-decrypt-v1]"));
        read_payload(fields.inside("attestedPayload"), now_seconds, request);
        fields.read("signature", read_signature, request.signature);
    };
    return decode_request<domain::UnifiedUserDecrypt>(body, unified_user_decrypt_schema, read);
}

}  // namespace api
