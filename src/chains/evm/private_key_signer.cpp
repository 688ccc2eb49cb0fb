#include <algorithm>
#include <array>
#include <cassert>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <secp256k1.h>
#include <secp256k1_recovery.h>

#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {
namespace {

struct Secret {
    domain::Bytes32 bytes{};

    Secret() = default;
    ~Secret() { ::OPENSSL_cleanse(bytes.data(), bytes.size()); }
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
};

struct DestroyContext {
    void operator()(secp256k1_context* context) const { ::secp256k1_context_destroy(context); }
};
using Context = std::unique_ptr<secp256k1_context, DestroyContext>;

// Blinded, so that the time a signature takes tells less about the key.
Context make_context() {
    Context context{::secp256k1_context_create(SECP256K1_CONTEXT_NONE)};
    Secret seed;
    if (::RAND_bytes(seed.bytes.data(), static_cast<int>(seed.bytes.size())) != 1 ||
        ::secp256k1_context_randomize(context.get(), seed.bytes.data()) != 1) {
        throw std::runtime_error("no randomness for the signer");
    }
    return context;
}

domain::Address address_of(const secp256k1_context* context, const Secret& key) {
    secp256k1_pubkey public_key;
    if (::secp256k1_ec_pubkey_create(context, &public_key, key.bytes.data()) != 1) {
        throw std::invalid_argument("the private key is no key of secp256k1");
    }
    std::array<std::uint8_t, 65> point{};
    std::size_t size = point.size();
    ::secp256k1_ec_pubkey_serialize(context, point.data(), &size, &public_key,
                                    SECP256K1_EC_UNCOMPRESSED);
    const domain::Bytes32 hash = domain::keccak256(domain::ByteView{point}.subspan(1));
    domain::Address address;
    std::copy(hash.end() - address.size(), hash.end(), address.begin());
    return address;
}

class PrivateKeySigner : public LocalSigner {
public:
    explicit PrivateKeySigner(std::string_view key) : context_(make_context()) {
        if (key.starts_with("0x")) key.remove_prefix(2);
        if (!domain::from_hex(key, key_.bytes)) {
            throw std::invalid_argument("the private key is not 64 hex digits");
        }
        address_ = address_of(context_.get(), key_);
    }

    [[nodiscard]] const domain::Address& address() const override { return address_; }

    [[nodiscard]] Signature sign(const domain::Bytes32& digest) const override {
        secp256k1_ecdsa_recoverable_signature made;
        // libsecp256k1 makes `s` low and takes its nonce from RFC 6979 by itself.
        [[maybe_unused]] const int signed_it = ::secp256k1_ecdsa_sign_recoverable(
            context_.get(), &made, digest.data(), key_.bytes.data(), nullptr, nullptr);
        assert(signed_it == 1);

        std::array<std::uint8_t, 64> compact{};
        int recovery_id = 0;
        ::secp256k1_ecdsa_recoverable_signature_serialize_compact(context_.get(), compact.data(),
                                                                  &recovery_id, &made);
        // Otherwise r was larger than the order: one digest in 2^127.
        assert(recovery_id == 0 || recovery_id == 1);

        Signature signature;
        std::copy_n(compact.begin(), 32, signature.r.begin());
        std::copy_n(compact.begin() + 32, 32, signature.s.begin());
        signature.y_parity = static_cast<std::uint8_t>(recovery_id);
        return signature;
    }

private:
    Context context_;
    Secret key_;
    domain::Address address_{};
};

}  // namespace

void LocalSigner::fetch(const Transaction& transaction, Done done) {
    done(chains::evm::sign(transaction, *this));
}

std::unique_ptr<LocalSigner> private_key_signer(std::string_view key) {
    return std::make_unique<PrivateKeySigner>(key);
}

}  // namespace chains::evm
