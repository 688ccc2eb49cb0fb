#include "domain/derived_key.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace domain {

namespace {

// What RFC 5869 takes for a salt that is not given; the library takes none of no bytes.
constexpr Bytes32 no_salt{};

using Derivation = std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)>;

void require_derived(bool went_well) {
    if (!went_well) throw std::runtime_error("OpenSSL: HKDF or HMAC failed");
}

// Looked up once: that takes OpenSSL longer than to use it.
EVP_KDF* hkdf() {
    static EVP_KDF* const found = EVP_KDF_fetch(nullptr, "HKDF", nullptr);
    return found;
}

OSSL_PARAM octets(const char* name, ByteView bytes) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(bytes.data()),
                                             bytes.size());
}

int size_in_int(std::size_t size) {
    require_derived(size <= 0x7fffffff);
    return static_cast<int>(size);
}

}  // namespace

Bytes32 derived_key(ByteView key, ByteView salt, std::string_view purpose) {
    if (salt.empty()) salt = no_salt;
    const Derivation context(EVP_KDF_CTX_new(hkdf()), EVP_KDF_CTX_free);
    const ByteView info{reinterpret_cast<const std::uint8_t*>(purpose.data()), purpose.size()};
    std::string digest = "SHA256";
    const std::array parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        octets(OSSL_KDF_PARAM_KEY, key), octets(OSSL_KDF_PARAM_SALT, salt),
        octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
    Bytes32 derived{};
    require_derived(context && EVP_KDF_derive(context.get(), derived.data(), derived.size(),
                                              parameters.data()) == 1);
    return derived;
}

Bytes32 hmac_sha256(ByteView key, ByteView message) {
    Bytes32 code{};
    unsigned int size = 0;
    require_derived(HMAC(EVP_sha256(), key.data(), size_in_int(key.size()), message.data(),
                         message.size(), code.data(), &size) != nullptr &&
                    size == code.size());
    return code;
}

bool are_same_secret(ByteView one, ByteView other) {
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

void wipe(std::span<std::uint8_t> secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
}

}  // namespace domain
