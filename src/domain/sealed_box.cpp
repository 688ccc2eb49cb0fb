#include "domain/sealed_box.hpp"

#include <openssl/evp.h>

#include <cassert>
#include <memory>
#include <stdexcept>

#include "domain/derived_key.hpp"

namespace domain {

namespace {

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

void require_success(bool went_well) {
    if (!went_well) throw std::runtime_error("OpenSSL: AES-256-GCM failed");
}

const unsigned char* data_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

int length_of(std::size_t size) {
    require_success(size <= 0x7fffffff);
    return static_cast<int>(size);
}

}  // namespace

SealedBox::SealedBox(ByteView key, ByteView salt, std::string_view purpose)
    : key_(derived_key(key, salt, purpose)) {
    assert(key.size() == 32 && salt.size() == 32);
}

SealedBox::~SealedBox() {
    wipe(key_);
}

Bytes SealedBox::seal(ByteView plain, std::string_view label, ByteView nonce) const {
    assert(nonce.size() == nonce_bytes);
    const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    Bytes sealed(nonce.begin(), nonce.end());
    sealed.resize(nonce_bytes + plain.size() + tag_bytes);
    unsigned char* out = sealed.data() + nonce_bytes;
    int length = 0;
    require_success(
        cipher &&
        EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), nonce.data()) ==
            1 &&
        EVP_EncryptUpdate(cipher.get(), nullptr, &length, data_of(label),
                          length_of(label.size())) == 1 &&
        EVP_EncryptUpdate(cipher.get(), out, &length, plain.data(), length_of(plain.size())) == 1 &&
        EVP_EncryptFinal_ex(cipher.get(), out + plain.size(), &length) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, out + plain.size()) ==
            1);
    return sealed;
}

std::optional<Bytes> SealedBox::open(ByteView sealed, std::string_view label) const {
    if (sealed.size() < nonce_bytes + tag_bytes) return std::nullopt;
    const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    const std::size_t size = sealed.size() - nonce_bytes - tag_bytes;
    const unsigned char* in = sealed.data() + nonce_bytes;
    Bytes tag(in + size, in + size + tag_bytes);
    Bytes plain(size + tag_bytes);  // never empty: OpenSSL takes no null pointer
    int length = 0;
    require_success(cipher && EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                                                 key_.data(), sealed.data()) == 1);
    const bool fits =
        EVP_DecryptUpdate(cipher.get(), nullptr, &length, data_of(label),
                          length_of(label.size())) == 1 &&
        EVP_DecryptUpdate(cipher.get(), plain.data(), &length, in, length_of(size)) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1 &&
        EVP_DecryptFinal_ex(cipher.get(), plain.data() + size, &length) == 1;
    plain.resize(size);
    if (fits) return plain;
    wipe(plain);
    return std::nullopt;
}

}  // namespace domain
