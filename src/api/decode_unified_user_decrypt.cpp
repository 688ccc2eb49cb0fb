#include <array>
#include <limits>
#include <utility>

#include "api/decode.hpp"
#include "api/field_lists.hpp"
#include "api/field_rules.hpp"
#include "api/json_reader.hpp"
#include "api/request_schemas.hpp"

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

Issue read_owned_handles(JsonValue list, std::vector<domain::OwnedHandle>& out) {
    out.reserve(list.size());
    for (const JsonValue element : list.elements()) {
        domain::OwnedHandle& handle = out.emplace_back();
        if (auto issue = read_handle(element["ctHandle"].text(), handle.handle)) return issue;
        auto issue = read_address(element["contractAddress"].text(), handle.contract_address);
        if (issue) return issue;
        issue = read_address(element["ownerAddress"].text(), handle.owner_address);
        if (issue) return issue;
    }
    return {};
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

void read_payload(JsonValue payload, std::uint64_t now_seconds, domain::UnifiedUserDecrypt& request,
                  FieldIssues& issues) {
    issues.note("attestedPayload.version", require_text(payload["version"].text(), "2.0",
                                                        "Unsupported version; expected \"2.0\""));
    issues.note("attestedPayload.type",
                require_text(payload["type"].text(), "user_decryption",
                             "Unsupported payload type; expected \"user_decryption\""));
    const JsonValue handles = payload["handles"];
    issues.note("attestedPayload.handles", require_size(handles.size(), 1));
    issues.note("attestedPayload.handles", read_owned_handles(handles, request.handles));
    issues.note("attestedPayload.userAddress",
                read_address(payload["userAddress"].text(), request.user_address));
    issues.note("attestedPayload.allowedContracts",
                read_addresses(payload["allowedContracts"], request.allowed_contracts));
    issues.note("attestedPayload.requestValidity",
                read_validity(payload["requestValidity"], now_seconds, request));
    const std::string_view public_key = payload["publicKey"].text();
    issues.note("attestedPayload.publicKey", require_size(public_key.size(), 4));
    issues.note("attestedPayload.publicKey", read_prefixed_hex(public_key, request.public_key));
    issues.note("attestedPayload.extraData",
                read_decrypt_extra_data(payload["extraData"].text(), request.extra_data));
}

}  // namespace

const Schema unified_user_decrypt_schema{envelope_members, true};

Decoded decode_unified_user_decrypt(std::string_view body, std::uint64_t now_seconds) {
    auto read = read_request(body, unified_user_decrypt_schema);
    if (auto* api_error = std::get_if<ApiError>(&read)) return std::move(*api_error);
    const JsonValue json = std::get<JsonDocument>(read).root();

    domain::UnifiedUserDecrypt request;
    FieldIssues issues;
    issues.note("attestationType",
                require_text(json["attestationType"].text(), "eip712-unified-user-decrypt-v1",
                             "Unsupported attestationType; expected one of: "
                             "[eip712-unified-user-decrypt-v1]"));
    read_payload(json["attestedPayload"], now_seconds, request, issues);
    issues.note("signature", read_signature(json["signature"].text(), request.signature));
    if (!issues.empty()) return issues.api_error();
    return domain::Request(std::move(request));
}

}  // namespace api
