#include "api/decode.hpp"

#include <array>

#include "api/request_fields.hpp"

namespace api {

namespace {

// relayer-api 1.7
constexpr std::array proof_members{MemberRule{"contractChainId", Shape::text_or_number},
                                   MemberRule{"contractAddress"}, MemberRule{"userAddress"},
                                   MemberRule{"ciphertextWithInputVerification"},
                                   MemberRule{"extraData"}};

// relayer-api 1.9; handles follow the rule HANDLE (D-10)
constexpr std::array public_members{MemberRule{"ciphertextHandles", Shape::texts},
                                    MemberRule{"extraData"}};

// relayer-api 1.10
constexpr std::array pair_members{MemberRule{"handle"}, MemberRule{"contractAddress"}};
constexpr Schema pair_schema{pair_members};

constexpr std::array days_members{MemberRule{"startTimestamp"}, MemberRule{"durationDays"}};
constexpr Schema days_schema{days_members};

constexpr std::array direct_members{MemberRule{"handleContractPairs", Shape::objects, &pair_schema},
                                    MemberRule{"requestValidity", Shape::object, &days_schema},
                                    MemberRule{"contractsChainId", Shape::text_or_number},
                                    MemberRule{"contractAddresses", Shape::texts},
                                    MemberRule{"userAddress"},
                                    MemberRule{"signature"},
                                    MemberRule{"publicKey"},
                                    MemberRule{"extraData"}};

constexpr std::array delegated_members{
    MemberRule{"handleContractPairs", Shape::objects, &pair_schema},
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

Issue read_pair(JsonValue json, domain::HandleContractPair& pair) {
    if (const Issue issue = read_handle(json["handle"].text(), pair.handle)) return issue;
    return read_address(json["contractAddress"].text(), pair.contract_address);
}

// The members both kinds of user decryptions have, in the runs in which they stand.
template <typename Request>
void read_pairs(RequestFields& fields, Request& request) {
    fields.require_size("handleContractPairs", 1);
    fields.read_objects("handleContractPairs", read_pair, request.pairs);
}

template <typename Request>
void read_contracts(RequestFields& fields, Request& request) {
    fields.read("contractsChainId", read_chain_id, request.contracts_chain_id);
    fields.require_size("contractAddresses", 1);
    fields.read_texts("contractAddresses", read_address, request.contract_addresses);
}

template <typename Request>
void read_signed_part(RequestFields& fields, Request& request) {
    fields.note("signature", require_130(fields["signature"].text()));
    fields.read("signature", read_bare_hex, request.signature);
    fields.require_size("publicKey", 2);
    fields.read("publicKey", read_bare_hex, request.public_key);
    fields.read("extraData", read_decrypt_extra_data, request.extra_data);
}

}  // namespace

const Schema input_proof_schema{proof_members};
const Schema public_decrypt_schema{public_members};
const Schema user_decrypt_schema{direct_members};
const Schema delegated_user_decrypt_schema{delegated_members};

Decoded decode_input_proof(std::string_view body, std::uint64_t /*now_seconds*/) {
    const auto read = [](RequestFields& fields, domain::InputProof& request) {
        fields.read("contractChainId", read_chain_id, request.contract_chain_id);
        fields.read("contractAddress", read_address, request.contract_address);
        fields.read("userAddress", read_address, request.user_address);
        fields.require_size("ciphertextWithInputVerification", 1);
        fields.read("ciphertextWithInputVerification", read_bare_hex, request.ciphertext);
        fields.read("extraData", read_proof_extra_data, request.extra_data);
    };
    return decode_request<domain::InputProof>(body, input_proof_schema, read);
}

Decoded decode_public_decrypt(std::string_view body, std::uint64_t /*now_seconds*/) {
    const auto read = [](RequestFields& fields, domain::PublicDecrypt& request) {
        fields.require_size("ciphertextHandles", 1);
        fields.read_texts("ciphertextHandles", read_handle, request.handles);
        fields.read("extraData", read_decrypt_extra_data, request.extra_data);
    };
    return decode_request<domain::PublicDecrypt>(body, public_decrypt_schema, read);
}

Decoded decode_user_decrypt(std::string_view body, std::uint64_t now_seconds) {
    const auto read = [now_seconds](RequestFields& fields, domain::UserDecrypt& request) {
        read_pairs(fields, request);
        fields.note("requestValidity",
                    read_validity(fields["requestValidity"], now_seconds, request));
        read_contracts(fields, request);
        fields.read("userAddress", read_address, request.user_address);
        read_signed_part(fields, request);
    };
    return decode_request<domain::UserDecrypt>(body, user_decrypt_schema, read);
}

Decoded decode_delegated_user_decrypt(std::string_view body, std::uint64_t now_seconds) {
    const auto read = [now_seconds](RequestFields& fields, domain::DelegatedUserDecrypt& request) {
        read_pairs(fields, request);
        read_contracts(fields, request);
        fields.read("delegatorAddress", read_address, request.delegator_address);
        fields.read("delegateAddress", read_address, request.delegate_address);
        fields.note("startTimestamp", read_start(fields["startTimestamp"].text(), now_seconds,
                                                 request.start_timestamp));
        fields.read("durationDays", read_u32, request.duration_days);
        read_signed_part(fields, request);
    };
    return decode_request<domain::DelegatedUserDecrypt>(body, delegated_user_decrypt_schema, read);
}

}  // namespace api
