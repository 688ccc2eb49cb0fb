#include <array>
#include <utility>

#include "api/decode.hpp"
#include "api/field_lists.hpp"
#include "api/field_rules.hpp"
#include "api/json_reader.hpp"
#include "api/request_schemas.hpp"

namespace api {

namespace {

// relayer-api 1.9; handles follow the rule HANDLE (D-10)
constexpr std::array decrypt_members{MemberRule{"ciphertextHandles", Shape::texts},
                                     MemberRule{"extraData"}};

}  // namespace

const Schema public_decrypt_schema{decrypt_members};

Decoded decode_public_decrypt(std::string_view body, std::uint64_t /*now_seconds*/) {
    auto read = read_request(body, public_decrypt_schema);
    if (auto* api_error = std::get_if<ApiError>(&read)) return std::move(*api_error);
    const JsonValue json = std::get<JsonDocument>(read).root();

    domain::PublicDecrypt request;
    FieldIssues issues;
    const JsonValue handles = json["ciphertextHandles"];
    issues.note("ciphertextHandles", require_size(handles.size(), 1));
    issues.note("ciphertextHandles", read_handles(handles, request.handles));
    issues.note("extraData", read_decrypt_extra_data(json["extraData"].text(), request.extra_data));
    if (!issues.empty()) return issues.api_error();
    return domain::Request(std::move(request));
}

}  // namespace api
