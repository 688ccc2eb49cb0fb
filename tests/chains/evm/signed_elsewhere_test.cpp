#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "chains/evm/golden.hpp"
#include "chains/evm/rlp.hpp"
#include "chains/evm/transaction.hpp"

// What somebody else signed is exactly what was asked for, or it is not taken.

using namespace chains::evm;

namespace {

const std::string key = std::string(63, '0') + "1";
const std::string other_key = std::string(63, '0') + "2";

Transaction asked(bool legacy) {
    Transaction transaction;
    transaction.chain_id = 654'321;
    transaction.nonce = 7;
    transaction.legacy = legacy;
    transaction.priority_fee = legacy ? 0 : 3;
    transaction.max_fee = 50;
    transaction.gas_limit = 100'000;
    transaction.to.fill(0x6a);
    transaction.data = {1, 2, 3, 4};
    return transaction;
}

// With one item of the list replaced by other bytes, and signed by nobody for them.
domain::Bytes with_item(const domain::Bytes& signed_bytes, std::size_t index,
                        const domain::Bytes& encoded) {
    const bool typed = signed_bytes[0] == 2;
    const auto items = rlp::items(domain::ByteView{signed_bytes}.subspan(typed ? 1 : 0)).value();
    std::vector<domain::Bytes> all;
    for (const auto& item : items) all.emplace_back(item.begin(), item.end());
    all[index] = encoded;
    domain::Bytes bytes = rlp::list(all);
    if (typed) bytes.insert(bytes.begin(), 2);
    return bytes;
}

}  // namespace

TEST_CASE("a signer that changes one field, each once, is refused with the name of the field") {
    const auto signer = private_key_signer(key);
    const auto stranger = private_key_signer(other_key);
    struct Row {
        const char* label;
        bool legacy;
        std::function<void(Transaction&)> change;
        const char* text;
    };
    const auto nonce = [](Transaction& t) { ++t.nonce; };
    const auto to = [](Transaction& t) { t.to[3] ^= 1U; };
    const auto data = [](Transaction& t) { t.data.push_back(0); };
    const auto max_fee = [](Transaction& t) { t.max_fee *= 2; };
    const auto tip = [](Transaction& t) { ++t.priority_fee; };
    const auto gas = [](Transaction& t) { --t.gas_limit; };
    const auto chain = [](Transaction& t) { ++t.chain_id; };
    const auto type = [](Transaction& t) {
        t.legacy = !t.legacy;
        t.priority_fee = 0;
    };
    for (const Row& row : std::vector<Row>{
             {"nonce", false, nonce, "the nonce is another"},
             {"receiver", false, to, "the receiver is another"},
             {"data", false, data, "the data is another"},
             {"max fee", false, max_fee, "the max fee is another"},
             {"priority fee", false, tip, "the priority fee is another"},
             {"gas limit", false, gas, "the gas limit is another"},
             {"chain id", false, chain, "the chain id is another"},
             {"type", false, type, "it is no signed transaction of the type that was asked for"},
             {"legacy nonce", true, nonce, "the nonce is another"},
             {"legacy receiver", true, to, "the receiver is another"},
             {"legacy data", true, data, "the data is another"},
             {"legacy gas price", true, max_fee, "the gas price is another"},
             {"legacy gas limit", true, gas, "the gas limit is another"},
             {"legacy chain id", true, chain, "the chain id is another"},
             {"legacy type", true, type,
              "it is no signed transaction of the type that was asked for"},
         }) {
        CAPTURE(row.label);
        const Transaction wanted = asked(row.legacy);
        CHECK_FALSE(difference(wanted, sign(wanted, *signer), signer->address()));
        CHECK(difference(wanted, sign(wanted, *stranger), signer->address()) ==
              "it is signed with another key");
        Transaction changed = wanted;
        row.change(changed);
        CHECK(difference(wanted, sign(changed, *signer), signer->address()) == row.text);
        CHECK(sender_of(sign(changed, *signer)) == signer->address());
    }
}

TEST_CASE("value, access list and signature of a signer that lies; garbage of one that babbles") {
    const auto signer = private_key_signer(key);
    const Transaction wanted = asked(false);
    const domain::Bytes good = sign(wanted, *signer);
    const auto said = [&](const domain::Bytes& bytes) {
        return difference(wanted, bytes, signer->address()).value_or("nothing");
    };
    CHECK(said(with_item(good, 6, rlp::number(1))) == "the value is another");
    CHECK(said(with_item(good, 8, rlp::list({rlp::text({})}))) == "the access list is another");
    CHECK(said(with_item(good, 9, rlp::number(2))) == "the signature has no form");
    const bool odd = rlp::number_in(rlp::items(domain::ByteView{good}.subspan(1)).value()[9]) == 1;
    CHECK(said(with_item(good, 9, rlp::number(odd ? 0 : 1))) == "it is signed with another key");
    CHECK(said(with_item(good, 10, rlp::number(0))) ==
          "the signature is none of any key, or its s is not low");
    CHECK(said(with_item(good, 10, rlp::text(domain::Bytes(33, 1)))) ==
          "the signature has no form");
    CHECK(said({}) == "it is no signed transaction of the type that was asked for");
    CHECK(said({2}) == "it is no signed transaction of the type that was asked for");
    CHECK(said(encode(wanted)) == "it is no signed transaction of the type that was asked for");
    domain::Bytes longer = good;
    longer.push_back(0);
    CHECK(said(longer) == "it is no signed transaction of the type that was asked for");
    for (std::size_t i = 0; i < good.size(); ++i) {
        CAPTURE(i);
        domain::Bytes flipped = good;
        flipped[i] ^= 0x40U;
        CHECK(said(flipped) != "nothing");
    }
}

TEST_CASE("the upper half of s is refused, though it is a signature of the key") {
    const auto signer = private_key_signer(key);
    const Transaction wanted = asked(false);
    Signature signature = signer->sign(signing_hash(wanted));
    // n - s
    const auto order = golden::array<domain::Bytes32>(
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    int borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {
        const int digit = order[i] - signature.s[i] - borrow;
        borrow = digit < 0 ? 1 : 0;
        signature.s[i] = static_cast<std::uint8_t>(digit + (borrow != 0 ? 256 : 0));
    }
    signature.y_parity ^= 1U;
    CHECK(difference(wanted, with_signature(wanted, signature), signer->address()) ==
          "the signature is none of any key, or its s is not low");
    CHECK_FALSE(recovered_account(signing_hash(wanted), signature));
}
