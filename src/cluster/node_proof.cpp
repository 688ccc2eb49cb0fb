#include "cluster/node_proof.hpp"

#include <string_view>

#include "domain/codec.hpp"
#include "domain/derived_key.hpp"

namespace cluster {

namespace {

constexpr std::string_view proof_purpose = "posthouse cluster, proof of a node, 1";

domain::Bytes encoded_challenge(const Challenge& challenge) {
    const auto& [nonce, verifier, prover, purpose] = challenge;
    const auto size = [](const auto&... parts) { return (domain::codec::size_of(parts) + ...); };
    domain::codec::Writer writer(size(nonce, verifier, prover, purpose));
    writer.put(nonce);
    writer.put(verifier);
    writer.put(prover);
    writer.put(purpose);
    return writer.take();
}

domain::Bytes32 proof_with(const Key& key, const Challenge& challenge) {
    domain::Bytes32 proving = domain::derived_key(key.secret(), {}, proof_purpose);
    const domain::Bytes32 proof = domain::hmac_sha256(proving, encoded_challenge(challenge));
    domain::wipe(proving);
    return proof;
}

}  // namespace

domain::Bytes32 prove(const Keys& keys, const Challenge& challenge) {
    return proof_with(keys.current(), challenge);
}

bool is_proof(const Keys& keys, const Challenge& challenge, domain::ByteView proof) {
    if (domain::are_same_secret(proof_with(keys.current(), challenge), proof)) return true;
    return keys.other() != nullptr &&
           domain::are_same_secret(proof_with(*keys.other(), challenge), proof);
}

}  // namespace cluster
