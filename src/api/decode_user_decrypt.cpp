#include <array>
#include <utility>

#include "api/decode.hpp"
#include "api/field_lists.hpp"
#include "api/field_rules.hpp"
#include "api/json_reader.hpp"
#include "api/request_schemas.hpp"

namespace api {

namespace {

// relayer-api 1.10
constexpr std::array days_members{MemberRule{"startTimestamp"}, MemberRule{"durationDays"}};
constexpr Schema days_schema{days_members};

constexpr std::array direct_members{
    MemberRule{"handleContractPairs", Shape::objects, &handle_contract_pair_schema},
    MemberRule{"requestValidity", Shape::object, &days_schema},
    MemberRule{"contractsChainId", Shape::text_or_number},
    MemberRule{"contractAddresses", Shape::texts},
    MemberRule{"userAddress"},
    MemberRule{"signature"},
    MemberRule{"publicKey"},
    MemberRule{"extraData"}};

constexpr std::array delegated_members{
    MemberRule{"handleContractPairs", Shape::objects, &handle_contract_pair_schema},
    MemberRule{"contractsChainId", Shape::text_or_number},
    MemberRule{"contractAddresses", Shape::texts},
    MemberRule{"delegatorAddress"},
    MemberRule{"delegateAddress"},
    MemberRule{"startTimestamp"},
    MemberRule{"durationDays"},
    MemberRule{"signature"},
    MemberRule{"publicKey"},
    MemberRule{"extraData"}};

Issue read_validity(JsonValue validity, std::uint64_t now_seconds, domain::UserDecrypt& request) {
    const Issue issue =
        read_start(validity["startTimestamp"].text(), now_seconds, request.start_timestamp);
    if (issue) return issue;
    return read_u32(validity["durationDays"].text(), request.duration_days);
}

void read_handle_list(JsonValue json, std::vector<domain::HandleContractPair>& out,
                      FieldIssues& issues) {
    const JsonValue pairs = json["handleContractPairs"];
    issues.note("handleContractPairs", require_size(pairs.size(), 1));
    issues.note("handleContractPairs", read_pairs(pairs, out));
}

// The members both kinds have, in the two runs in which they stand.
template <typename Request>
void read_contracts(JsonValue json, Request& request, FieldIssues& issues) {
    issues.note("contractsChainId",
                read_chain_id(json["contractsChainId"].text(), request.contracts_chain_id));
    const JsonValue contracts = json["contractAddresses"];
    issues.note("contractAddresses", require_size(contracts.size(), 1));
    issues.note("contractAddresses", read_addresses(contracts, request.contract_addresses));
}

template <typename Request>
void read_signed_part(JsonValue json, Request& request, FieldIssues& issues) {
    const std::string_view signature = json["signature"].text();
    issues.note("signature", require_130(signature));
    issues.note("signature", read_bare_hex(signature, request.signature));
    const std::string_view public_key = json["publicKey"].text();
    issues.note("publicKey", require_size(public_key.size(), 2));
    issues.note("publicKey", read_bare_hex(public_key, request.public_key));
    issues.note("extraData", read_decrypt_extra_data(json["extraData"].text(), request.extra_data));
}

}  // namespace

const Schema user_decrypt_schema{direct_members};
const Schema delegated_user_decrypt_schema{delegated_members};

Decoded decode_user_decrypt(std::string_view body, std::uint64_t now_seconds) {
    auto read = read_request(body, user_decrypt_schema);
    if (auto* api_error = std::get_if<ApiError>(&read)) return std::move(*api_error);
    const JsonValue json = std::get<JsonDocument>(read).root();

    domain::UserDecrypt request;
    FieldIssues issues;
    read_handle_list(json, request.pairs, issues);
    issues.note("requestValidity", read_validity(json["requestValidity"], now_seconds, request));
    read_contracts(json, request, issues);
    issues.note("userAddress", read_address(json["userAddress"].text(), request.user_address));
    read_signed_part(json, request, issues);
    if (!issues.empty()) return issues.api_error();
    return domain::Request(std::move(request));
}

Decoded decode_delegated_user_decrypt(std::string_view body, std::uint64_t now_seconds) {
    auto read = read_request(body, delegated_user_decrypt_schema);
    if (auto* api_error = std::get_if<ApiError>(&read)) return std::move(*api_error);
    const JsonValue json = std::get<JsonDocument>(read).root();

    domain::DelegatedUserDecrypt request;
    FieldIssues issues;
    read_handle_list(json, request.pairs, issues);
    read_contracts(json, request, issues);
    issues.note("delegatorAddress",
                read_address(json["delegatorAddress"].text(), request.delegator_address));
    issues.note("delegateAddress",
                read_address(json["delegateAddress"].text(), request.delegate_address));
    issues.note("startTimestamp",
                read_start(json["startTimestamp"].text(), now_seconds, request.start_timestamp));
    issues.note("durationDays", read_u32(json["durationDays"].text(), request.duration_days));
    read_signed_part(json, request, issues);
    if (!issues.empty()) return issues.api_error();
    return domain::Request(std::move(request));
}

}  // namespace api
