#include "fuzz/spelling.hpp"

#include <algorithm>
#include <array>

#include <openssl/evp.h>

namespace fuzz {

namespace {

using Json = nlohmann::json;

std::string prefixed(domain::ByteView bytes) {
    return "0x" + domain::to_hex(bytes);
}

template <typename List, typename Spell>
Json list_of(const List& list, Spell spell) {
    Json array = Json::array();
    for (const auto& element : list) array.push_back(spell(element));
    return array;
}

Json pair_of(const domain::HandleContractPair& pair) {
    return {{"handle", prefixed(pair.handle)},
            {"contractAddress", prefixed(pair.contract_address)}};
}

Json owned_handle_of(const domain::OwnedHandle& handle) {
    return {{"ctHandle", prefixed(handle.handle)},
            {"contractAddress", prefixed(handle.contract_address)},
            {"ownerAddress", prefixed(handle.owner_address)}};
}

Json spell(const domain::InputProof& it) {
    return {{"contractChainId", it.contract_chain_id},
            {"contractAddress", prefixed(it.contract_address)},
            {"userAddress", prefixed(it.user_address)},
            {"ciphertextWithInputVerification", domain::to_hex(it.ciphertext)},
            {"extraData", prefixed(it.extra_data)}};
}

Json spell(const domain::PublicDecrypt& it) {
    return {{"ciphertextHandles", list_of(it.handles, prefixed)},
            {"extraData", prefixed(it.extra_data)}};
}

template <typename Request>
Json spell_common(const Request& it) {
    return {{"handleContractPairs", list_of(it.pairs, pair_of)},
            {"contractsChainId", std::to_string(it.contracts_chain_id)},
            {"contractAddresses", list_of(it.contract_addresses, prefixed)},
            {"signature", domain::to_hex(it.signature)},
            {"publicKey", domain::to_hex(it.public_key)},
            {"extraData", prefixed(it.extra_data)}};
}

Json spell(const domain::UserDecrypt& it) {
    Json body = spell_common(it);
    body["requestValidity"] = {{"startTimestamp", std::to_string(it.start_timestamp)},
                               {"durationDays", std::to_string(it.duration_days)}};
    body["userAddress"] = prefixed(it.user_address);
    return body;
}

Json spell(const domain::DelegatedUserDecrypt& it) {
    Json body = spell_common(it);
    body["startTimestamp"] = std::to_string(it.start_timestamp);
    body["durationDays"] = std::to_string(it.duration_days);
    body["delegatorAddress"] = prefixed(it.delegator_address);
    body["delegateAddress"] = prefixed(it.delegate_address);
    return body;
}

Json spell(const domain::UnifiedUserDecrypt& it) {
    const Json validity{{"startTimestamp", std::to_string(it.start_timestamp)},
                        {"durationSeconds", std::to_string(it.duration_seconds)}};
    const Json payload{{"version", "2.0"},
                       {"type", "user_decryption"},
                       {"handles", list_of(it.handles, owned_handle_of)},
                       {"userAddress", prefixed(it.user_address)},
                       {"allowedContracts", list_of(it.allowed_contracts, prefixed)},
                       {"requestValidity", validity},
                       {"publicKey", prefixed(it.public_key)},
                       {"extraData", prefixed(it.extra_data)}};
    return {{"attestationType", "eip712-unified-user-decrypt-v1"},
            {"attestedPayload", payload},
            {"signature", prefixed(it.signature)}};
}

Json spell(const domain::VoteShare& it) {
    return {{"shares_hash", to_base64(it.shares_hash)},
            {"proposal_id", it.proposal_id},
            {"vote_decision", it.vote_decision},
            {"enc_share",
             {{"c1", to_base64(it.c1)}, {"c2", to_base64(it.c2)}, {"share_index", it.share_index}}},
            {"tree_position", it.tree_position},
            {"vote_round_id", domain::to_hex(it.round_id)},
            {"share_comms", list_of(it.share_comms, to_base64)},
            {"primary_blind", to_base64(it.primary_blind)},
            {"submit_at", it.submit_at}};
}

bool is_number_name(std::string_view name) {
    constexpr std::array names{"contractChainId", "contractsChainId", "startTimestamp",
                               "durationDays", "durationSeconds"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Json body_of(const domain::Request& request) {
    return std::visit([](const auto& it) { return spell(it); }, request);
}

bool is_spelled_in(const Json& body, const Json& sent) {
    if (body.is_object()) {
        return std::all_of(body.items().begin(), body.items().end(), [&](const auto& member) {
            return sent.contains(member.key()) &&
                   (is_number_name(member.key()) ||
                    is_spelled_in(member.value(), sent[member.key()]));
        });
    }
    if (body.is_array()) {
        return sent.is_array() &&
               std::equal(body.begin(), body.end(), sent.begin(), sent.end(), is_spelled_in);
    }
    if (!body.is_string() || !sent.is_string()) return false;
    const auto ours = body.get<std::string>();
    const auto theirs = sent.get<std::string>();
    // An empty signature may go without its prefix.
    return ours == lower_case(theirs) || (ours == "0x" && theirs.empty());
}

std::string to_base64(domain::ByteView bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

bool is_utf8(std::string_view text) {
    try {
        static_cast<void>(Json(text).dump());
        return true;
    } catch (const Json::type_error&) {
        return false;
    }
}

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& letter : lowered) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return lowered;
}

}  // namespace fuzz
