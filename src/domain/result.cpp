#include "domain/result.hpp"

#include <tuple>

#include "domain/codec.hpp"

namespace domain {
namespace {

using codec::Is;

// Apart from the tags of requests, so that one can not be read as the other.
constexpr std::uint8_t first_result_tag = 0x10;
constexpr std::uint8_t kms_share_tag = 0x20;

static_assert(std::is_same_v<std::variant_alternative_t<0, Result>, ProofAccepted>);
static_assert(std::is_same_v<std::variant_alternative_t<1, Result>, PublicDecrypted>);
static_assert(std::is_same_v<std::variant_alternative_t<2, Result>, UserDecrypted>);
static_assert(std::is_same_v<std::variant_alternative_t<3, Result>, ShareRevealed>);

}  // namespace

// Outside the unnamed namespace: the codec finds these by argument-dependent lookup.

static auto members(Is<ProofAccepted> auto& it) {
    return std::tie(it.handles, it.signatures);
}

static auto members(Is<PublicDecrypted> auto& it) {
    return std::tie(it.value, it.signatures, it.extra_data);
}

static auto members(Is<KmsShare> auto& it) {
    return std::tie(it.index, it.payload, it.signature, it.extra_data);
}

static auto members(Is<UserDecrypted> auto& it) {
    return std::tie(it.shares);
}

static auto members(Is<ShareRevealed> auto& it) {
    return std::tie(it.tx_hash, it.already);
}

Bytes encode(const Result& result) {
    return codec::encode_variant(first_result_tag, result);
}

std::optional<Result> decode_result(ByteView bytes) {
    return codec::decode_variant<Result>(first_result_tag, bytes);
}

Bytes encode(const KmsShare& share) {
    return codec::encode_tagged(kms_share_tag, share);
}

std::optional<KmsShare> decode_kms_share(ByteView bytes) {
    return codec::decode_tagged<KmsShare>(kms_share_tag, bytes);
}

}  // namespace domain
