#include "api/user_signature.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include <secp256k1.h>
#include <secp256k1_recovery.h>

#include "api/throttled_log.hpp"
#include "domain/handle.hpp"
#include "domain/keccak.hpp"

namespace api {

namespace {

constexpr std::size_t word_bytes = 32;

// Each holds a connection and a request in memory.
constexpr std::size_t contract_lookups_max = 256;

// Concatenates 32-byte words as the ABI encodes them.
class StructHasher {
public:
    StructHasher& add(const domain::Bytes32& word) {
        bytes_.insert(bytes_.end(), word.begin(), word.end());
        return *this;
    }

    StructHasher& add(const domain::Address& address) {
        bytes_.resize(bytes_.size() + word_bytes - address.size());
        bytes_.insert(bytes_.end(), address.begin(), address.end());
        return *this;
    }

    StructHasher& add(std::uint64_t number) {
        domain::Bytes32 word{};
        for (std::size_t i = word.size(); number != 0; number >>= 8U) {
            word[--i] = static_cast<std::uint8_t>(number);
        }
        return add(word);
    }

    [[nodiscard]] domain::Bytes32 hash() const { return domain::keccak256(bytes_); }

private:
    domain::Bytes bytes_;
};

domain::Bytes32 domain_separator(std::uint64_t chain_id, const domain::Address& contract) {
    static const domain::Bytes32 type = domain::keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    static const domain::Bytes32 name = domain::keccak256("Decryption");
    static const domain::Bytes32 version = domain::keccak256("1");
    return StructHasher().add(type).add(name).add(version).add(chain_id).add(contract).hash();
}

domain::Bytes32 struct_hash(const domain::UnifiedUserDecrypt& request) {
    static const domain::Bytes32 type = domain::keccak256(
        "UserDecryptRequestVerification(address userAddress,bytes publicKey,address[] "
        "allowedContracts,uint256 startTimestamp,uint256 durationSeconds,bytes extraData)");
    StructHasher contracts;
    for (const domain::Address& contract : request.allowed_contracts) contracts.add(contract);
    return StructHasher()
        .add(type)
        .add(request.user_address)
        .add(domain::keccak256(request.public_key))
        .add(contracts.hash())
        .add(request.start_timestamp)
        .add(request.duration_seconds)
        .add(domain::keccak256(request.extra_data))
        .hash();
}

std::uint64_t first_host_chain(const domain::UnifiedUserDecrypt& request) {
    assert(!request.handles.empty());
    return domain::host_chain_of(request.handles.front().handle);
}

std::optional<int> recovery_id(std::uint8_t v) {
    if (v == 0 || v == 1) return v;
    if (v == 27 || v == 28) return v - 27;
    return {};
}

}  // namespace

domain::Bytes32 user_decrypt_digest(const domain::UnifiedUserDecrypt& request,
                                    std::uint64_t host_chain_id,
                                    const domain::Address& verifying_contract) {
    const domain::Bytes32 separator = domain_separator(host_chain_id, verifying_contract);
    const domain::Bytes32 message = struct_hash(request);
    domain::Bytes bytes{0x19, 0x01};
    bytes.insert(bytes.end(), separator.begin(), separator.end());
    bytes.insert(bytes.end(), message.begin(), message.end());
    return domain::keccak256(bytes);
}

std::optional<domain::Address> recover_signer(const domain::Bytes32& digest,
                                              domain::ByteView signature) {
    constexpr std::size_t compact_bytes = 64;
    if (signature.size() != compact_bytes + 1) return {};
    const std::optional<int> id = recovery_id(signature[compact_bytes]);
    if (!id) return {};

    const secp256k1_context* const context = secp256k1_context_static;
    secp256k1_ecdsa_recoverable_signature parsed;
    secp256k1_pubkey key;
    if (secp256k1_ecdsa_recoverable_signature_parse_compact(context, &parsed, signature.data(),
                                                            *id) != 1 ||
        secp256k1_ecdsa_recover(context, &key, &parsed, digest.data()) != 1) {
        return {};
    }

    std::array<std::uint8_t, 65> point{};  // 0x04 ‖ x ‖ y
    std::size_t size = point.size();
    secp256k1_ec_pubkey_serialize(context, point.data(), &size, &key, SECP256K1_EC_UNCOMPRESSED);
    const domain::Bytes32 hash = domain::keccak256(domain::ByteView(point).subspan(1));
    domain::Address address{};
    std::copy(hash.end() - address.size(), hash.end(), address.begin());
    return address;
}

UserSignatures::UserSignatures(const domain::Address& verifying_contract,
                               engine::ContractSignatures& contracts, ports::Executor& executor,
                               const ports::Clock& clock)
    : verifying_contract_(verifying_contract),
      contracts_(contracts),
      lookups_(executor, clock, contract_lookups_max) {}

std::optional<engine::SignatureAnswer> UserSignatures::recover(
    const domain::UnifiedUserDecrypt& request) const {
    const std::uint64_t chain_id = first_host_chain(request);
    const bool one_chain = std::all_of(request.handles.begin(), request.handles.end(),
                                       [&](const domain::OwnedHandle& owned) {
                                           return domain::host_chain_of(owned.handle) == chain_id;
                                       });
    if (!one_chain) return engine::SignatureInvalid{};

    const domain::Bytes32 digest = user_decrypt_digest(request, chain_id, verifying_contract_);
    if (recover_signer(digest, request.signature) == request.user_address)
        return engine::SignatureValid{};
    return {};
}

void UserSignatures::ask_contract(const domain::UnifiedUserDecrypt& request, Told told) {
    const std::uint64_t chain_id = first_host_chain(request);
    // What it holds is a whole request, and the work is copied.
    const auto shared = std::make_shared<const Told>(std::move(told));
    const auto not_asked = [shared] {
        (*shared)(engine::Unreachable{"too many signatures wait for the answers of contracts"});
    };
    const bool taken = lookups_.start(
        [this, shared, chain_id, account = request.user_address, signature = request.signature,
         digest = user_decrypt_digest(request, chain_id, verifying_contract_)] {
            (*shared)(ask(chain_id, account, digest, signature));
        },
        not_asked);
    if (!taken) not_asked();
}

engine::SignatureAnswer UserSignatures::ask(std::uint64_t host_chain_id,
                                            const domain::Address& account,
                                            const domain::Bytes32& digest,
                                            domain::ByteView signature) const {
    try {
        return contracts_.ask(host_chain_id, account, digest, signature);
    } catch (...) {
        return engine::Unreachable{reason_of_current_exception()};
    }
}

}  // namespace api
