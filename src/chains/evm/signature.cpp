#include "chains/evm/signature.hpp"

#include <secp256k1.h>
#include <secp256k1_recovery.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "domain/keccak.hpp"

namespace chains::evm {
namespace {

constexpr std::size_t point_bytes = 65;

const secp256k1_context* context() {
    return secp256k1_context_static;
}

domain::Address account_of_point(const std::array<std::uint8_t, point_bytes>& point) {
    const domain::Bytes32 hash = domain::keccak256(domain::ByteView{point}.subspan(1));
    domain::Address account;
    std::copy(hash.end() - account.size(), hash.end(), account.begin());
    return account;
}

std::array<std::uint8_t, 64> compact(const Signature& signature) {
    std::array<std::uint8_t, 64> bytes{};
    std::ranges::copy(signature.r, bytes.begin());
    std::ranges::copy(signature.s, bytes.begin() + 32);
    return bytes;
}

bool has_low_s(const Signature& signature) {
    secp256k1_ecdsa_signature parsed;
    const auto bytes = compact(signature);
    return ::secp256k1_ecdsa_signature_parse_compact(context(), &parsed, bytes.data()) == 1 &&
           ::secp256k1_ecdsa_signature_normalize(context(), nullptr, &parsed) == 0;
}

}  // namespace

std::optional<domain::Address> recovered_account(const domain::Bytes32& digest,
                                                 const Signature& signature) {
    if (signature.y_parity > 1 || !has_low_s(signature)) return std::nullopt;
    const auto bytes = compact(signature);
    secp256k1_ecdsa_recoverable_signature parsed;
    secp256k1_pubkey key;
    if (::secp256k1_ecdsa_recoverable_signature_parse_compact(context(), &parsed, bytes.data(),
                                                              signature.y_parity) != 1 ||
        ::secp256k1_ecdsa_recover(context(), &key, &parsed, digest.data()) != 1) {
        return std::nullopt;
    }
    std::array<std::uint8_t, point_bytes> point{};
    std::size_t size = point.size();
    ::secp256k1_ec_pubkey_serialize(context(), point.data(), &size, &key,
                                    SECP256K1_EC_UNCOMPRESSED);
    return account_of_point(point);
}

std::optional<domain::Address> account_of(domain::ByteView point) {
    std::array<std::uint8_t, point_bytes> bytes{};
    secp256k1_pubkey key;
    if (point.size() != bytes.size() || point[0] != 0x04 ||
        ::secp256k1_ec_pubkey_parse(context(), &key, point.data(), point.size()) != 1) {
        return std::nullopt;
    }
    std::ranges::copy(point, bytes.begin());
    return account_of_point(bytes);
}

std::optional<Signature> from_der(domain::ByteView der, const domain::Bytes32& digest,
                                  const domain::Address& account) {
    secp256k1_ecdsa_signature parsed;
    if (::secp256k1_ecdsa_signature_parse_der(context(), &parsed, der.data(), der.size()) != 1) {
        return std::nullopt;
    }
    ::secp256k1_ecdsa_signature_normalize(context(), &parsed, &parsed);
    std::array<std::uint8_t, 64> bytes{};
    ::secp256k1_ecdsa_signature_serialize_compact(context(), bytes.data(), &parsed);
    Signature signature;
    std::copy_n(bytes.begin(), 32, signature.r.begin());
    std::copy_n(bytes.begin() + 32, 32, signature.s.begin());
    if (recovered_account(digest, signature) == account) return signature;
    signature.y_parity = 1;
    if (recovered_account(digest, signature) == account) return signature;
    return std::nullopt;
}

}  // namespace chains::evm
