#include "domain/identity.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/chance.hpp"
#include "support/random_requests.hpp"

using namespace domain;

namespace {

// The inputs of relayer-api, appendix B.

Address address(std::uint8_t fill) {
    Address address{};
    address.fill(fill);
    return address;
}

Bytes32 handle(std::uint8_t value) {
    Bytes32 handle{};
    handle.back() = value;
    return handle;
}

InputProof input_proof() {
    return {.contract_chain_id = 1337,
            .contract_address = address(1),
            .user_address = address(2),
            .ciphertext = {1, 2, 3, 4},
            .extra_data = {0}};
}

PublicDecrypt public_decrypt() {
    return {.handles = {handle(123), handle(124)}, .extra_data = {0}};
}

UserDecrypt user_decrypt() {
    return {.pairs = {{handle(123), address(1)}},
            .start_timestamp = 1'767'225'600,
            .duration_days = 7,
            .contracts_chain_id = 1337,
            .contract_addresses = {address(1)},
            .user_address = address(2),
            .signature = Bytes(65, 9),
            .public_key = {0xab, 0xcd},
            .extra_data = {0}};
}

DelegatedUserDecrypt delegated_user_decrypt() {
    return {.pairs = {{handle(123), address(1)}},
            .contracts_chain_id = 1337,
            .contract_addresses = {address(1)},
            .delegator_address = address(2),
            .delegate_address = address(3),
            .start_timestamp = 1'767'225'600,
            .duration_days = 7,
            .signature = Bytes(65, 9),
            .public_key = {0xab, 0xcd},
            .extra_data = {0}};
}

UnifiedUserDecrypt unified_user_decrypt() {
    return {.handles = {{handle(123), address(1), address(2)}},
            .user_address = address(2),
            .allowed_contracts = {address(1)},
            .start_timestamp = 1'767'225'600,
            .duration_seconds = 604'800,
            .public_key = {0xab, 0xcd},
            .extra_data = {0},
            .signature = Bytes(65, 9)};
}

VoteShare vote_share() {
    support::Chance chance{1};
    return std::get<VoteShare>(support::random_request(Kind::share, chance));
}

template <class T>
struct Change {
    std::string_view label;
    std::function<void(T&)> apply;
};

template <class T>
void check_changes(const T& original, const std::vector<Change<T>>& seen,
                   const std::vector<Change<T>>& unseen) {
    const Identity before = identify(original);
    CHECK(before.key == before.content);
    std::set<Bytes32> keys{before.key};
    for (const Change<T>& change : seen) {
        CAPTURE(change.label);
        T changed = original;
        change.apply(changed);
        const Identity after = identify(changed);
        CHECK(after.key == after.content);
        CHECK_MESSAGE(keys.insert(after.key).second, "not a new key");
    }
    for (const Change<T>& change : unseen) {
        CAPTURE(change.label);
        T changed = original;
        change.apply(changed);
        REQUIRE(changed != original);
        CHECK(identify(changed) == before);
    }
}

}  // namespace

TEST_CASE("T-144 content hashes are those of relayer-api 2.2") {
    struct Row {
        Request request;
        std::string_view hash;
    };
    const std::vector<Row> rows{
        {input_proof(), "14ad47aad05a9b830bff117382b980532e15a3d965e4f937f2f17436b2fb00fc"},
        {public_decrypt(), "f0493938d8df91c354bbfde26a4a904d234790c7aa0dce86d3d068646a7bc781"},
        {user_decrypt(), "076ab0c845ac4e28305d3cb3cf5da6c5d1d9c81129265d815bae439522831663"},
        {delegated_user_decrypt(),
         "df0e7fb399916395dce7ee4ea7b0a6e3f75b11f2d007869c86f4eb77123772d8"},
        {unified_user_decrypt(),
         "f6f88e81284d9591ca2c9b407f409cccc73086b38c771851325a51d6b9a728f9"},
    };
    for (const Row& row : rows) {
        CAPTURE(to_string(kind_of(row.request)));
        const Identity identity = identify(row.request);
        CHECK(to_hex(identity.key) == row.hash);
        CHECK(identity.content == identity.key);
        CHECK(identify(row.request) == identity);
    }
}

TEST_CASE("T-144 every member of an input proof counts") {
    check_changes<InputProof>(
        input_proof(),
        {{"chain", [](auto& it) { ++it.contract_chain_id; }},
         {"chain, top byte", [](auto& it) { it.contract_chain_id |= std::uint64_t{1} << 63; }},
         {"contract", [](auto& it) { it.contract_address.back() ^= 1; }},
         {"user", [](auto& it) { it.user_address.front() ^= 1; }},
         {"addresses swapped", [](auto& it) { std::swap(it.contract_address, it.user_address); }},
         {"ciphertext", [](auto& it) { it.ciphertext[2] ^= 1; }},
         {"longer ciphertext", [](auto& it) { it.ciphertext.push_back(0); }},
         {"extra data", [](auto& it) { it.extra_data[0] ^= 1; }}},
        {});
}

TEST_CASE("T-144 every member of a public decryption counts, and the order of its handles") {
    check_changes<PublicDecrypt>(
        public_decrypt(),
        {{"handle", [](auto& it) { it.handles[1][5] ^= 1; }},
         {"fewer handles", [](auto& it) { it.handles.pop_back(); }},
         {"more handles", [](auto& it) { it.handles.push_back(handle(123)); }},
         {"order", [](auto& it) { std::ranges::reverse(it.handles); }},
         {"extra data", [](auto& it) { it.extra_data.push_back(7); }}},
        {});
}

TEST_CASE("T-144 signature and validity of a user decryption do not count, all else does") {
    check_changes<UserDecrypt>(
        user_decrypt(),
        {{"handle", [](auto& it) { it.pairs[0].handle[31] ^= 1; }},
         {"contract of a pair", [](auto& it) { it.pairs[0].contract_address[0] ^= 1; }},
         {"more pairs",
          [](auto& it) {
              it.pairs.push_back({handle(1), address(1)});
          }},
         {"order of pairs",
          [](auto& it) {
              it.pairs.insert(it.pairs.begin(), {handle(1), address(1)});
          }},
         {"chain", [](auto& it) { ++it.contracts_chain_id; }},
         {"contract", [](auto& it) { it.contract_addresses[0][19] ^= 1; }},
         {"more contracts", [](auto& it) { it.contract_addresses.push_back(address(5)); }},
         {"user", [](auto& it) { it.user_address[0] ^= 1; }},
         {"public key", [](auto& it) { it.public_key[0] ^= 1; }},
         {"extra data", [](auto& it) { it.extra_data[0] ^= 1; }}},
        {{"start", [](auto& it) { ++it.start_timestamp; }},
         {"duration", [](auto& it) { ++it.duration_days; }},
         {"signature", [](auto& it) { it.signature[0] ^= 1; }}});
}

TEST_CASE("T-144 signature and validity of a delegated decryption do not count, all else does") {
    check_changes<DelegatedUserDecrypt>(
        delegated_user_decrypt(),
        {{"handle", [](auto& it) { it.pairs[0].handle[31] ^= 1; }},
         {"contract of a pair", [](auto& it) { it.pairs[0].contract_address[0] ^= 1; }},
         {"chain", [](auto& it) { ++it.contracts_chain_id; }},
         {"contract", [](auto& it) { it.contract_addresses[0][19] ^= 1; }},
         {"delegator", [](auto& it) { it.delegator_address[0] ^= 1; }},
         {"delegate", [](auto& it) { it.delegate_address[0] ^= 1; }},
         {"roles swapped", [](auto& it) { std::swap(it.delegator_address, it.delegate_address); }},
         {"public key", [](auto& it) { it.public_key[0] ^= 1; }},
         {"extra data", [](auto& it) { it.extra_data[0] ^= 1; }}},
        {{"start", [](auto& it) { ++it.start_timestamp; }},
         {"duration", [](auto& it) { ++it.duration_days; }},
         {"signature", [](auto& it) { it.signature[0] ^= 1; }}});
}

TEST_CASE("T-144 signature and validity of a unified decryption do not count, all else does") {
    check_changes<UnifiedUserDecrypt>(
        unified_user_decrypt(),
        {{"handle", [](auto& it) { it.handles[0].handle[31] ^= 1; }},
         {"contract of a handle", [](auto& it) { it.handles[0].contract_address[0] ^= 1; }},
         {"owner of a handle", [](auto& it) { it.handles[0].owner_address[0] ^= 1; }},
         {"user", [](auto& it) { it.user_address[0] ^= 1; }},
         {"allowed contract", [](auto& it) { it.allowed_contracts[0][19] ^= 1; }},
         {"any contract", [](auto& it) { it.allowed_contracts.clear(); }},
         {"public key", [](auto& it) { it.public_key[0] ^= 1; }},
         {"extra data", [](auto& it) { it.extra_data[0] ^= 1; }}},
        {{"start", [](auto& it) { ++it.start_timestamp; }},
         {"duration", [](auto& it) { ++it.duration_seconds; }},
         {"signature", [](auto& it) { it.signature[0] ^= 1; }}});
}

TEST_CASE("T-144 the three user decryptions never collide for like values") {
    const std::set<Bytes32> keys{identify(user_decrypt()).key,
                                 identify(delegated_user_decrypt()).key,
                                 identify(unified_user_decrypt()).key};
    CHECK(keys.size() == 3);
}

TEST_CASE("a share is the same by its four-part key, and equal by what it holds") {
    struct Row {
        std::string_view label;
        bool key_changes;
        bool content_changes;
        std::function<void(VoteShare&)> apply;
    };
    const std::vector<Row> rows{
        {"round", true, true, [](auto& it) { it.round_id[0] ^= 1; }},
        {"share index", true, true, [](auto& it) { ++it.share_index; }},
        {"proposal", true, true, [](auto& it) { ++it.proposal_id; }},
        {"tree position", true, true, [](auto& it) { ++it.tree_position; }},
        {"shares hash", false, true, [](auto& it) { it.shares_hash[31] ^= 1; }},
        {"decision", false, true, [](auto& it) { ++it.vote_decision; }},
        {"c1", false, true, [](auto& it) { it.c1[0] ^= 1; }},
        {"c2", false, true, [](auto& it) { it.c2[0] ^= 1; }},
        {"c1 and c2 swapped", false, true, [](auto& it) { std::swap(it.c1, it.c2); }},
        {"first commitment", false, true, [](auto& it) { it.share_comms.front()[0] ^= 1; }},
        {"last commitment", false, true, [](auto& it) { it.share_comms.back()[31] ^= 1; }},
        {"order of commitments", false, true,
         [](auto& it) { std::swap(it.share_comms[3], it.share_comms[4]); }},
        {"blind", false, true, [](auto& it) { it.primary_blind[7] ^= 1; }},
        {"time", false, false, [](auto& it) { ++it.submit_at; }},
    };
    const VoteShare original = vote_share();
    const Identity before = identify(original);
    CHECK(before.key != before.content);
    std::set<Bytes32> hashes{before.key, before.content};
    for (const Row& row : rows) {
        CAPTURE(row.label);
        VoteShare changed = original;
        row.apply(changed);
        REQUIRE(changed != original);
        const Identity after = identify(changed);
        CHECK((after.key != before.key) == row.key_changes);
        CHECK((after.content != before.content) == row.content_changes);
        if (row.key_changes) CHECK(hashes.insert(after.key).second);
        if (row.content_changes) CHECK(hashes.insert(after.content).second);
    }
}

TEST_CASE("numbers of a share's key keep their places") {
    VoteShare share;
    std::set<Bytes32> keys;
    for (std::uint32_t index = 0; index < 3; ++index) {
        for (std::uint32_t proposal = 0; proposal < 3; ++proposal) {
            for (std::uint32_t position = 0; position < 3; ++position) {
                share.share_index = index << 24;
                share.proposal_id = proposal;
                share.tree_position = position << 16;
                keys.insert(identify(share).key);
            }
        }
    }
    CHECK(keys.size() == 27);
}
