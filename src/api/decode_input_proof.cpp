#include <array>
#include <utility>

#include "api/decode.hpp"
#include "api/field_rules.hpp"
#include "api/json_reader.hpp"
#include "api/request_schemas.hpp"

namespace api {

namespace {

// relayer-api 1.7
constexpr std::array proof_members{MemberRule{"contractChainId", Shape::text_or_number},
                                   MemberRule{"contractAddress"}, MemberRule{"userAddress"},
                                   MemberRule{"ciphertextWithInputVerification"},
                                   MemberRule{"extraData"}};

}  // namespace

const Schema input_proof_schema{proof_members};

Decoded decode_input_proof(std::string_view body, std::uint64_t /*now_seconds*/) {
    auto read = read_request(body, input_proof_schema);
    if (auto* api_error = std::get_if<ApiError>(&read)) return std::move(*api_error);
    const JsonValue json = std::get<JsonDocument>(read).root();

    domain::InputProof request;
    FieldIssues issues;
    issues.note("contractChainId",
                read_chain_id(json["contractChainId"].text(), request.contract_chain_id));
    issues.note("contractAddress",
                read_address(json["contractAddress"].text(), request.contract_address));
    issues.note("userAddress", read_address(json["userAddress"].text(), request.user_address));

    const std::string_view ciphertext = json["ciphertextWithInputVerification"].text();
    issues.note("ciphertextWithInputVerification", require_size(ciphertext.size(), 1));
    issues.note("ciphertextWithInputVerification", read_bare_hex(ciphertext, request.ciphertext));

    issues.note("extraData", read_proof_extra_data(json["extraData"].text(), request.extra_data));
    if (!issues.empty()) return issues.api_error();
    return domain::Request(std::move(request));
}

}  // namespace api
