#include "chains/evm/signer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <secp256k1_recovery.h>

#include "chains/evm/golden.hpp"
#include "domain/keccak.hpp"

using namespace chains::evm;

namespace {

const std::string dev_key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const std::string order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const auto half_order = golden::array<domain::Bytes32>(
    "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");

// Who signed; nobody when the signature is none.
std::optional<domain::Address> signer_of(const domain::Bytes32& digest,
                                         const Signature& signature) {
    domain::Bytes compact(signature.r.begin(), signature.r.end());
    compact.insert(compact.end(), signature.s.begin(), signature.s.end());
    secp256k1_ecdsa_recoverable_signature parsed;
    secp256k1_pubkey point;
    if (secp256k1_ecdsa_recoverable_signature_parse_compact(
            secp256k1_context_static, &parsed, compact.data(), signature.y_parity) != 1 ||
        secp256k1_ecdsa_recover(secp256k1_context_static, &point, &parsed, digest.data()) != 1) {
        return std::nullopt;
    }
    domain::Bytes bytes(65);
    std::size_t size = bytes.size();
    secp256k1_ec_pubkey_serialize(secp256k1_context_static, bytes.data(), &size, &point,
                                  SECP256K1_EC_UNCOMPRESSED);
    const domain::Bytes32 hash = domain::keccak256(domain::ByteView{bytes}.subspan(1));
    domain::Address address;
    std::copy(hash.begin() + 12, hash.end(), address.begin());
    return address;
}

}  // namespace

TEST_CASE("a key has its well-known address, with or without a prefix") {
    struct Row {
        std::string key;
        std::string_view address;
    };
    const Row rows[] = {
        {dev_key, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
        {"0x" + dev_key, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
        {"0x4C0883A69102937D6231471B5DBB6204FE5129617082792AE468D01A3F362318",
         "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"},
        {std::string(63, '0') + "1", "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.address);
        CHECK(domain::checksummed(private_key_signer(row.key)->address()) == row.address);
    }
}

TEST_CASE("what is no key is refused without being repeated") {
    const std::string almost = order.substr(0, 63);
    for (const std::string& key :
         {std::string{}, std::string{"0x"}, dev_key.substr(1), dev_key + "0", "0x0x" + dev_key,
          "0X" + dev_key, " " + dev_key.substr(1), dev_key.substr(1) + "g", std::string(64, '0'),
          std::string(64, 'f'), order, almost + "2"}) {
        CAPTURE(key);
        try {
            const auto signer = private_key_signer(key);
            FAIL("accepted");
        } catch (const std::invalid_argument& refusal) {
            const std::string text = refusal.what();
            for (std::size_t at = 0; at + 8 <= key.size(); ++at) {
                CHECK(text.find(key.substr(at, 8)) == std::string::npos);
            }
        }
    }
    CHECK_NOTHROW(private_key_signer(almost + "0"));
}

// EIP-712 example of evm-gateway's appendix A.
TEST_CASE("a digest is signed as others sign it") {
    const auto digest = golden::array<domain::Bytes32>(
        "ecf9174d08f48d7c0bbf41ce62e9d7ba856f1911ef28ec8ef3cdcece6cc44b9f");
    const Signature signature = private_key_signer(dev_key)->sign(digest);
    CHECK(domain::to_hex(signature.r) ==
          "91b3a4e0912b3851d8f423b505c2d929e0216b58d8421ea062664b2fe90a7173");
    CHECK(domain::to_hex(signature.s) ==
          "14fad724af5facf15d935e70f420e865f67b52a3ab97a7ef277509ebcca9e450");
    CHECK(signature.y_parity == 0x1c - 27);
}

TEST_CASE("signatures have a low s, name their signer and are always the same") {
    const auto signer = private_key_signer(dev_key);
    const auto another = private_key_signer(dev_key);
    bool parity[2] = {};
    for (std::uint32_t number = 0; number < 1'000; ++number) {
        CAPTURE(number);
        const domain::Bytes32 digest = domain::keccak256(std::to_string(number));
        const Signature signature = signer->sign(digest);
        REQUIRE(signature.y_parity <= 1);
        parity[signature.y_parity] = true;
        CHECK(signature.s <= half_order);
        CHECK(signer_of(digest, signature) == signer->address());
        if (number % 50 != 0) continue;
        const Signature again = another->sign(digest);
        CHECK(again.r == signature.r);
        CHECK(again.s == signature.s);
    }
    CHECK(parity[0]);
    CHECK(parity[1]);
}

TEST_CASE("threads share a signer") {
    const auto signer = private_key_signer(dev_key);
    const domain::Bytes32 digest = domain::keccak256("digest");
    const Signature expected = signer->sign(digest);
    std::vector<int> wrong(4);
    {
        std::vector<std::jthread> threads;
        for (int& count : wrong) {
            threads.emplace_back([&] {
                for (int round = 0; round < 100; ++round) {
                    const Signature made = signer->sign(digest);
                    if (made.r != expected.r || made.s != expected.s) ++count;
                }
            });
        }
    }
    CHECK(wrong == std::vector<int>(4));
}
