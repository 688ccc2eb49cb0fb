#include "chains/evm/transaction.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/golden.hpp"
#include "chains/evm/rlp.hpp"
#include "domain/keccak.hpp"

using namespace chains::evm;
using golden::hex;

namespace {

const auto target = golden::array<domain::Address>("5fbdb2315678afecb367f032d93f642f64180aa3");
constexpr const char* key = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";

struct Vector {
    std::string_view label;
    Transaction transaction;
    const char* raw;
};

// Made with `cast mktx` 1.7.1.
const Vector vectors[] = {
    {"almost everything zero",
     {654321, 0, false, 0, 1, 21'000, target, {}},
     "02f8658309fbf1808001825208945fbdb2315678afecb367f032d93f642f64180aa38080c001a0a86c05c3844af43"
     "a"
     "9f70a82fb112368cbf6b5212109893b6598d173cf49de83fa07ef374d13893ff80acdeee09cd0905bf8c793fd690e"
     "d"
     "045a729114a64889b611"},
    {"ordinary fees",
     {261131, 3, false, 1'000'000'000, 30'000'000'000, 500'000, target, {0xab, 0xcd, 0xef}},
     "02f8728303fc0b03843b9aca008506fc23ac008307a120945fbdb2315678afecb367f032d93f642f64180aa38083a"
     "b"
     "cdefc080a0f5fdeb6a85c56018da9ba8bed0d8fee2d5840959b0d3e86836afb79a680f5021a02dff3e5d7d8790bb3"
     "9"
     "eb494345cc3ec4c496581323464603c7b23ccca3a2c32f"},
    {"a fee of 2^64 and long data",
     {10901, 255, false, 128, chains::jsonrpc::Wei{1} << 64U, 30'000'000, target,
      domain::Bytes(60, 0x7f)},
     "02f8ae822a9581ff8180890100000000000000008401c9c380945fbdb2315678afecb367f032d93f642f64180aa3"
     "80b83c7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f"
     "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7fc080a077213be44bc3c0f3afa3f2a67bc5c3ee72fca065bccba9733b99"
     "45851f5170daa021c5944ba10b7759fa767d5e9ee83c59adc2b9c6269f7dc9d0e1c0a6b6adbece"},
    {"the last nonce and one small byte",
     {1, 0xfffffffffffffffe, false, 127, 256, 128, target, {0x7f}},
     "02f86b0188fffffffffffffffe7f8201008180945fbdb2315678afecb367f032d93f642f64180aa3807fc001a0661"
     "2"
     "88a9dddfd7fdf15c0300af9f74f2b8814d471fe961a5e712150c7f231c73a042d8159e3b383d49b6a580c21980f42"
     "f"
     "02bb83b66fc6be620880991a4d3a3877"},
    {"legacy",
     {654321, 7, true, 0, 20'000'000'000, 90'000, target, {0x80}},
     "f869078504a817c80083015f90945fbdb2315678afecb367f032d93f642f64180aa38081808313f806a0f4e339adf"
     "6"
     "ae6aa550e02ba68731e06507ae6b55697ca51acb964c5efa537c5aa06883c43242bf29475eeeae188287eb10b25f2"
     "4"
     "a3656d154fe6d15cda749d13aa"},
    {"legacy, almost everything zero",
     {1, 0, true, 0, 1, 21'000, target, {}},
     "f85f8001825208945fbdb2315678afecb367f032d93f642f64180aa3808026a0502c74d00733f808f308ae4a6df22"
     "b"
     "cf79ac55a86b5b881142ed49f65500f8dfa074bfe9e6cbcb8e19ebd58321b2de67d8c085a127c6560da979718c330"
     "7"
     "660ec2"},
    {"legacy, a v of more than 64 bits",
     {0xffffffffffffffff, 0, true, 0, 1, 21'000, target, {}},
     "f8688001825208945fbdb2315678afecb367f032d93f642f64180aa3808089020000000000000022a012b19aece0d"
     "3"
     "6e0c33c6207ac100de19d1035b90b3b861d4d6751c9ab32f5583a0645be9a8e597bac839eec4833a60e7d6ff2a0c1"
     "1"
     "40b2cf5137d7c6d6d6131d1c"},
};

class FixedSigner : public chains::evm::LocalSigner {
public:
    explicit FixedSigner(Signature signature) : signature_(signature) {}
    [[nodiscard]] const domain::Address& address() const override { return address_; }
    [[nodiscard]] Signature sign(const domain::Bytes32&) const override { return signature_; }

private:
    Signature signature_;
    domain::Address address_{};
};

domain::Bytes with_item(const domain::Bytes& list, std::size_t at, const domain::Bytes& item) {
    const auto views = rlp::items(list);
    std::vector<domain::Bytes> items;
    for (const auto view : views.value()) items.emplace_back(view.begin(), view.end());
    items.at(at) = item;
    return rlp::list(items);
}

}  // namespace

TEST_CASE("signed transactions are byte for byte those of another wallet") {
    const auto signer = private_key_signer(key);
    for (const Vector& vector : vectors) {
        CAPTURE(vector.label);
        CHECK(domain::to_hex(sign(vector.transaction, *signer)) == vector.raw);
    }
}

TEST_CASE("signed transactions read back") {
    for (const Vector& vector : vectors) {
        CAPTURE(vector.label);
        CHECK(decode_transaction(hex(vector.raw)) == vector.transaction);
        CHECK_FALSE(decode_unsigned(hex(vector.raw)));
    }
}

TEST_CASE("unsigned transactions read back and are what is hashed") {
    for (const Vector& vector : vectors) {
        CAPTURE(vector.label);
        const domain::Bytes stored = encode(vector.transaction);
        CHECK(decode_unsigned(stored) == vector.transaction);
        CHECK_FALSE(decode_transaction(stored));
        CHECK(signing_hash(vector.transaction) == domain::keccak256(stored));
    }
}

// The example of EIP-155 has a value, which our transactions do not; so its members by hand.
TEST_CASE("the example of EIP-155") {
    const domain::Bytes32 hash = domain::keccak256(
        rlp::list({rlp::number(9), rlp::number(20'000'000'000), rlp::number(21'000),
                   rlp::text(golden::filled(0x35)), rlp::number(1'000'000'000'000'000'000),
                   rlp::text({}), rlp::number(1), rlp::number(0), rlp::number(0)}));
    CHECK(domain::to_hex(hash) ==
          "daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53");

    const std::string eip_key = domain::to_hex(domain::Bytes(32, 0x46));
    const Signature signature = private_key_signer(eip_key)->sign(hash);
    CHECK(domain::to_hex(signature.r) ==
          "28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276");
    CHECK(domain::to_hex(signature.s) ==
          "67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83");
    CHECK(signature.y_parity == 0);  // v = 37 = 35 + 2 * 1 + 0

    // It is a transaction with a value.
    CHECK_FALSE(decode_transaction(
        hex("f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080"
            "25a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761a"
            "ecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83")));
}

TEST_CASE("leading zeros of r and s are left out") {
    Signature signature;
    signature.r[30] = 1;
    signature.s[31] = 5;
    signature.y_parity = 1;
    for (const bool legacy : {false, true}) {
        CAPTURE(legacy);
        Transaction transaction = vectors[0].transaction;
        transaction.legacy = legacy;
        const domain::Bytes raw = sign(transaction, FixedSigner{signature});
        const domain::Bytes tail(raw.end() - 4, raw.end());
        CHECK(tail == hex("82010005"));
        CHECK(decode_transaction(raw) == transaction);
    }
}

TEST_CASE("other transactions are refused") {
    const domain::Bytes whole = hex(vectors[1].raw);
    const domain::Bytes list(whole.begin() + 1, whole.end());
    struct Row {
        std::string_view label;
        std::size_t item;
        domain::Bytes replacement;
    };
    const Row rows[] = {
        {"a chain id beyond 64 bits", 0, rlp::number(chains::jsonrpc::Wei{1} << 64U)},
        {"a nonce with a leading zero", 1, hex("00")},
        {"a fee beyond 128 bits", 3, hex("91 0100000000000000000000000000000000")},
        {"no recipient", 5, rlp::text({})},
        {"a value", 6, rlp::number(1)},
        {"data that is a list", 7, rlp::list({})},
        {"an access list", 8, rlp::list({rlp::list({})})},
        {"an access list that is a text", 8, rlp::text({})},
        {"a parity of 2", 9, rlp::number(2)},
        {"r is zero", 10, rlp::number(0)},
        {"r has 33 bytes", 10, rlp::text(domain::Bytes(33, 1))},
        {"s has a leading zero", 11, rlp::text(hex("0001"))},
    };
    CHECK(decode_transaction(whole));
    for (const Row& row : rows) {
        CAPTURE(row.label);
        domain::Bytes raw = with_item(list, row.item, row.replacement);
        raw.insert(raw.begin(), 0x02);
        CHECK_FALSE(decode_transaction(raw));
    }
    const domain::Bytes legacy = hex(vectors[4].raw);
    CHECK(decode_transaction(with_item(legacy, 6, rlp::number(37))));
    CHECK_FALSE(decode_transaction(with_item(legacy, 6, rlp::number(27))));  // before EIP-155
    CHECK_FALSE(decode_transaction(with_item(legacy, 6, rlp::number(chains::jsonrpc::wei_max))));
    CHECK_FALSE(decode_transaction({}));
    CHECK_FALSE(decode_transaction(hex("01c0")));
    CHECK_FALSE(decode_transaction(list));
}
