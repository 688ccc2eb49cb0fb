#include "chains/loopback/transaction.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "support/requests.hpp"

using namespace chains::loopback;

TEST_CASE("a sealed transaction reads back as what it was made of") {
    for (std::uint32_t number = 0; number < 6; ++number) {
        CAPTURE(number);
        const domain::Request request = support::any_request(number);
        const Draft draft = draft_of(support::request_id(5), request, 3);
        const Salt salt{1, 2, 3};
        const domain::Bytes bytes = seal(encode(draft), 42, salt);

        const auto read = decode_transaction(bytes);
        REQUIRE(read);
        CHECK(*read == Transaction{draft, 42, salt});
        CHECK(read->draft.kind == domain::kind_of(request));
        CHECK(bytes.size() < 256);  // digests, not payloads
    }
}

TEST_CASE("damaged transaction bytes are refused") {
    const Draft draft = draft_of(support::request_id(5), support::public_decrypt(1), 1);
    const domain::Bytes whole = seal(encode(draft), 42, {});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(decode_transaction(domain::ByteView{whole}.first(size)));
    }
    domain::Bytes longer = whole;
    longer.push_back(0);
    CHECK_FALSE(decode_transaction(longer));

    domain::Bytes other_version = whole;
    other_version[0] = 2;
    CHECK_FALSE(decode_transaction(other_version));
    domain::Bytes other_kind = whole;
    other_kind[1] = 6;
    CHECK_FALSE(decode_transaction(other_kind));
}

TEST_CASE("the draft carries what answers need") {
    const Draft proof = draft_of(support::request_id(1), support::input_proof(1), 4);
    CHECK(proof.chain_id == support::host_chain);
    CHECK(proof.handles == 4);
    CHECK(proof.content == domain::sha256(support::input_proof(1).ciphertext));

    domain::PublicDecrypt two = support::public_decrypt(1);
    two.handles.push_back(support::handle(2));
    two.extra_data = {0x01, 0x02, 0x03};
    const Draft decrypt = draft_of(support::request_id(1), two, 4);
    CHECK(decrypt.handles == 2);
    CHECK(decrypt.extra_data == domain::Bytes{0x01, 0x02, 0x03});
}

TEST_CASE("a relayer request is its own subject, a share's subject is its nullifier") {
    const auto subject = [](std::int64_t id, const domain::Request& request) {
        return subject_of(draft_of(support::request_id(id), request, 1));
    };
    CHECK(subject(1, support::public_decrypt(1)) != subject(2, support::public_decrypt(1)));
    CHECK(subject(1, support::public_decrypt(1)) == subject(1, support::public_decrypt(2)));
    CHECK(subject(1, support::vote_share(1)) == subject(2, support::vote_share(1)));

    struct Row {
        const char* label;
        std::function<void(domain::VoteShare&)> change;
        bool other_nullifier;
    };
    const Row rows[] = {
        {"round", [](auto& share) { share.round_id[31] ^= 1; }, true},
        {"share index", [](auto& share) { share.share_index ^= 1; }, true},
        {"proposal", [](auto& share) { share.proposal_id ^= 1; }, true},
        {"tree position", [](auto& share) { share.tree_position ^= 1; }, true},
        {"decision", [](auto& share) { share.vote_decision ^= 1; }, false},
        {"blind", [](auto& share) { share.primary_blind[0] ^= 1; }, false},
        {"time", [](auto& share) { share.submit_at ^= 1; }, false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        domain::VoteShare changed = support::vote_share(1);
        row.change(changed);
        CHECK((subject(1, changed) != subject(1, support::vote_share(1))) == row.other_nullifier);
    }
}

TEST_CASE("references follow from the hash, foreign ones are others") {
    const domain::Bytes32 one = domain::sha256(domain::Bytes{1});
    const domain::Bytes32 two = domain::sha256(domain::Bytes{2});
    CHECK(reference_of(one) == reference_of(one));
    CHECK(reference_of(one) != reference_of(two));
    CHECK(reference_of(one) != foreign_reference_of(one));
}
