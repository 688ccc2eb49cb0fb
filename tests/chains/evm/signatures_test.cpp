#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

#include "chains/evm/calls.hpp"
#include "chains/evm/events.hpp"
#include "chains/evm/named_errors.hpp"
#include "chains/evm/revert.hpp"
#include "chains/evm/selectors.hpp"
#include "chains/evm/topics.hpp"
#include "domain/keccak.hpp"

using namespace chains::evm;

namespace {

std::uint32_t selector_of_signature(std::string_view signature) {
    const domain::Bytes32 hash = domain::keccak256(signature);
    return std::uint32_t{hash[0]} << 24U | std::uint32_t{hash[1]} << 16U |
           std::uint32_t{hash[2]} << 8U | hash[3];
}

constexpr std::uint32_t number(Getter getter) {
    return static_cast<std::uint32_t>(getter);
}

}  // namespace

TEST_CASE("selectors are the hashes of their signatures") {
    struct Row {
        std::uint32_t selector;
        std::string_view signature;
    };
    const Row rows[] = {
        {selector::verify_proof_request, "verifyProofRequest(uint256,address,address,bytes,bytes)"},
        {selector::public_decryption_request, "publicDecryptionRequest(bytes32[],bytes)"},
        {selector::user_decryption_request,
         "userDecryptionRequest((bytes32,address)[],(uint256,uint256),(uint256,address[]),address,"
         "bytes,bytes,bytes)"},
        {selector::delegated_user_decryption_request,
         "delegatedUserDecryptionRequest((bytes32,address)[],(uint256,uint256),(address,address),"
         "(uint256,address[]),bytes,bytes,bytes)"},
        {selector::unified_user_decryption_request,
         "userDecryptionRequest((bytes32,address,address)[],address,bytes,address[],"
         "(uint256,uint256),bytes,bytes)"},
        {selector::is_public_decryption_ready, "isPublicDecryptionReady(bytes32[],bytes)"},
        {selector::is_user_decryption_ready, "isUserDecryptionReady((bytes32,address)[],bytes)"},
        {selector::multicall, "multicall(bytes[])"},
        {selector::is_allowed_for_decryption, "isAllowedForDecryption(bytes32)"},
        {selector::is_allowed, "isAllowed(bytes32,address)"},
        {selector::is_handle_delegated,
         "isHandleDelegatedForUserDecryption(address,address,address,bytes32)"},
        {selector::balance_of, "balanceOf(address)"},
        {selector::allowance, "allowance(address,address)"},
        {selector::is_valid_signature, "isValidSignature(bytes32,bytes)"},
        {number(Getter::active_key_id), "getActiveKeyId()"},
        {number(Getter::active_crs_id), "getActiveCrsId()"},
        {number(Getter::current_kms_context_and_epoch), "getCurrentKmsContextAndEpoch()"},
        {number(Getter::key_materials), "getKeyMaterials(uint256)"},
        {number(Getter::crs_materials), "getCrsMaterials(uint256)"},
        {number(Getter::kms_context_anchor), "getKmsContextAnchor(uint256)"},
        {number(Getter::user_decryption_threshold_for_context),
         "getUserDecryptionThresholdForContext(uint256)"},
        {number(Getter::input_verification_price), "getInputVerificationPrice()"},
        {number(Getter::public_decryption_price), "getPublicDecryptionPrice()"},
        {number(Getter::user_decryption_price), "getUserDecryptionPrice()"},
        {number(Getter::version), "getVersion()"},
        {number(Getter::paused), "paused()"},
        {number(Getter::decimals), "decimals()"},
        {number(Getter::total_supply), "totalSupply()"},
        {number(Getter::symbol), "symbol()"},
        {selector::approve, "approve(address,uint256)"},
        {selector::signatures_invalidated_before, "decryptionSignatureInvalidatedBefore(address)"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.signature);
        CHECK(row.selector == selector_of_signature(row.signature));
    }
}

TEST_CASE("errors are the hashes of their signatures") {
    std::set<std::uint32_t> seen;
    for (const NamedError& error : named_errors()) {
        CAPTURE(error.signature);
        CHECK(error.selector == selector_of_signature(error.signature));
        CHECK(seen.insert(error.selector).second);
    }
    CHECK(seen.size() == 34);
    CHECK(ciphertext_material_not_found ==
          selector_of_signature("CiphertextMaterialNotFound(bytes32)"));
    CHECK(start_timestamp_in_future ==
          selector_of_signature("StartTimestampInFuture(uint256,uint256)"));
}

TEST_CASE("topics are the hashes of their signatures") {
    const std::string material = "(bytes32,uint256,bytes32,address[])[]";
    const std::string payload = "(address,bytes,address[],(uint256,uint256),bytes,bytes)";
    struct Row {
        const domain::Bytes32& topic;
        std::string signature;
    };
    const Row rows[] = {
        {topic::verify_proof_request,
         "VerifyProofRequest(uint256,uint256,address,address,bytes,bytes)"},
        {topic::public_decryption_request_old,
         "PublicDecryptionRequest(uint256," + material + ",bytes)"},
        {topic::public_decryption_request, "PublicDecryptionRequest(uint256,bytes32[],bytes)"},
        {topic::user_decryption_request_old,
         "UserDecryptionRequest(uint256," + material + ",address,bytes,bytes)"},
        {topic::user_decryption_request,
         "UserDecryptionRequest(uint256,bytes32[],address,bytes,bytes)"},
        {topic::unified_user_decryption_request_old, "UserDecryptionRequest(uint256," + material +
                                                         ",(bytes32,address,address)[]," + payload +
                                                         ")"},
        {topic::unified_user_decryption_request,
         "UserDecryptionRequest(uint256,(bytes32,address,address)[]," + payload + ")"},
        {topic::verify_proof_response, "VerifyProofResponse(uint256,bytes32[],bytes[])"},
        {topic::reject_proof_response, "RejectProofResponse(uint256)"},
        {topic::public_decryption_response,
         "PublicDecryptionResponse(uint256,bytes,bytes[],bytes)"},
        {topic::user_decryption_response,
         "UserDecryptionResponse(uint256,uint256,bytes,bytes,bytes)"},
        {topic::threshold_reached, "UserDecryptionResponseThresholdReached(uint256)"},
        {topic::new_kms_context,
         "NewKmsContext(uint256,uint256,(address,address,string,string,int32,string,bytes,string)[]"
         ",(uint256,uint256,uint256,uint256),string,(bytes,bytes,bytes)[])"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.signature);
        CHECK(domain::to_hex(row.topic) == domain::to_hex(domain::keccak256(row.signature)));
    }
    CHECK(threshold_reached_topic() == topic::threshold_reached);
    CHECK(new_kms_context_topic() == topic::new_kms_context);
    CHECK(std::set<domain::Bytes32>(answer_topics().begin(), answer_topics().end()) ==
          std::set<domain::Bytes32>{topic::verify_proof_response, topic::reject_proof_response,
                                    topic::public_decryption_response,
                                    topic::user_decryption_response, topic::threshold_reached});
}
