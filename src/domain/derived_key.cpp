#include "domain/derived_key.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>

#include <cstddef>
#include <memory>
#include <stdexcept>

namespace domain {

namespace {

// What RFC 5869 takes for a salt that is not given; the library takes none of no bytes.
constexpr Bytes32 no_salt{};

using Derivation = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

void require_derived(bool went_well) {
    if (!went_well) throw std::runtime_error("OpenSSL: HKDF or HMAC failed");
}

int size_in_int(std::size_t size) {
    require_derived(size <= 0x7fffffff);
    return static_cast<int>(size);
}

}  // namespace

Bytes32 derived_key(ByteView key, ByteView salt, std::string_view purpose) {
    if (salt.empty()) salt = no_salt;
    const Derivation context(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr), EVP_PKEY_CTX_free);
    const auto* const info = reinterpret_cast<const unsigned char*>(purpose.data());
    Bytes32 derived{};
    std::size_t size = derived.size();
    require_derived(
        context && EVP_PKEY_derive_init(context.get()) == 1 &&
        EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) == 1 &&
        EVP_PKEY_CTX_set1_hkdf_salt(context.get(), salt.data(), size_in_int(salt.size())) == 1 &&
        EVP_PKEY_CTX_set1_hkdf_key(context.get(), key.data(), size_in_int(key.size())) == 1 &&
        EVP_PKEY_CTX_add1_hkdf_info(context.get(), info, size_in_int(purpose.size())) == 1 &&
        EVP_PKEY_derive(context.get(), derived.data(), &size) == 1 && size == derived.size());
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
