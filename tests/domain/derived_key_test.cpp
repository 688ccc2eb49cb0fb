#include "domain/derived_key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

domain::Bytes from_digits(std::string_view digits) {
    return domain::from_hex(digits).value();
}

}  // namespace

TEST_CASE("derived keys are those of RFC 5869") {
    // Test case 1 of its appendix A; the first 32 of 42 bytes.
    const domain::Bytes key(22, 0x0b);
    const domain::Bytes salt = from_digits("000102030405060708090a0b0c");
    const domain::Bytes info = from_digits("f0f1f2f3f4f5f6f7f8f9");
    const std::string purpose(info.begin(), info.end());
    CHECK(domain::derived_key(key, {}, purpose) ==
          domain::derived_key(key, domain::Bytes32{}, purpose));
    CHECK(domain::to_hex(domain::derived_key(key, salt, purpose)) ==
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf");
}

TEST_CASE("codes of messages are those of RFC 4231") {
    const std::string key = "Jefe";
    const std::string message = "what do ya want for nothing?";
    CHECK(domain::to_hex(domain::hmac_sha256(domain::Bytes(key.begin(), key.end()),
                                             domain::Bytes(message.begin(), message.end()))) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("secrets are the same when every byte is") {
    const domain::Bytes secret{1, 2, 3};
    CHECK(domain::are_same_secret(secret, domain::Bytes{1, 2, 3}));
    CHECK_FALSE(domain::are_same_secret(secret, domain::Bytes{1, 2, 4}));
    CHECK_FALSE(domain::are_same_secret(secret, domain::Bytes{1, 2}));
    CHECK(domain::are_same_secret({}, {}));
}

TEST_CASE("a wiped secret is zeros") {
    domain::Bytes secret{1, 2, 3};
    domain::wipe(secret);
    CHECK(secret == domain::Bytes{0, 0, 0});
}
