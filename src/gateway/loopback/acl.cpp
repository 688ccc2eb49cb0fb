#include "gateway/loopback/acl.hpp"

#include <cryptopp/keccak.h>

#include <algorithm>
#include <cctype>
#include <variant>

namespace gateway::loopback {
namespace {

constexpr std::size_t chain_id_begin = 22;
constexpr std::size_t chain_id_end = 30;

struct Questions {
    std::vector<AclQuestion> operator()(const domain::InputProof&) const { return {}; }
    std::vector<AclQuestion> operator()(const domain::VoteShare&) const { return {}; }

    std::vector<AclQuestion> operator()(const domain::PublicDecrypt& request) const {
        std::vector<AclQuestion> questions;
        questions.reserve(request.handles.size());
        for (const auto& handle : request.handles) {
            questions.push_back({handle, "isAllowedForDecryption"});
        }
        return questions;
    }

    std::vector<AclQuestion> operator()(const domain::UserDecrypt& request) const {
        std::vector<AclQuestion> questions;
        const std::string user = checksummed(request.user_address);
        for (const auto& pair : request.pairs) {
            questions.push_back({pair.handle, "isAllowed(user " + user + ")"});
            questions.push_back(
                {pair.handle, "isAllowed(contract " + checksummed(pair.contract_address) + ")"});
        }
        return questions;
    }

    std::vector<AclQuestion> operator()(const domain::DelegatedUserDecrypt& request) const {
        std::vector<AclQuestion> questions;
        questions.reserve(request.pairs.size());
        for (const auto& pair : request.pairs) {
            questions.push_back({pair.handle, "isHandleDelegatedForUserDecryption"});
        }
        return questions;
    }

    std::vector<AclQuestion> operator()(const domain::UnifiedUserDecrypt& request) const {
        std::vector<AclQuestion> questions;
        const std::string user = checksummed(request.user_address);
        for (const auto& owned : request.handles) {
            if (owned.owner_address == request.user_address) {
                questions.push_back({owned.handle, "isAllowed(user " + user + ")"});
            } else {
                questions.push_back({owned.handle, "isHandleDelegatedForUserDecryption(owner " +
                                                       checksummed(owned.owner_address) +
                                                       ", user " + user + ")"});
            }
        }
        return questions;
    }
};

struct Handles {
    std::vector<domain::Bytes32> operator()(const domain::InputProof&) const { return {}; }
    std::vector<domain::Bytes32> operator()(const domain::VoteShare&) const { return {}; }
    std::vector<domain::Bytes32> operator()(const domain::PublicDecrypt& request) const {
        return request.handles;
    }
    std::vector<domain::Bytes32> operator()(const domain::UserDecrypt& request) const {
        return of(request.pairs);
    }
    std::vector<domain::Bytes32> operator()(const domain::DelegatedUserDecrypt& request) const {
        return of(request.pairs);
    }
    std::vector<domain::Bytes32> operator()(const domain::UnifiedUserDecrypt& request) const {
        return of(request.handles);
    }

private:
    template <typename List>
    static std::vector<domain::Bytes32> of(const List& list) {
        std::vector<domain::Bytes32> handles;
        handles.reserve(list.size());
        for (const auto& element : list) handles.push_back(element.handle);
        return handles;
    }
};

std::uint64_t host_chain_of(const domain::Bytes32& handle) {
    std::uint64_t chain = 0;
    for (std::size_t at = chain_id_begin; at < chain_id_end; ++at) chain = chain << 8U | handle[at];
    return chain;
}

}  // namespace

std::vector<AclQuestion> acl_questions(const domain::Request& request) {
    return std::visit(Questions{}, request);
}

std::vector<std::uint64_t> host_chains_of(const domain::Request& request) {
    std::vector<std::uint64_t> chains;
    for (const domain::Bytes32& handle : std::visit(Handles{}, request)) {
        const std::uint64_t chain = host_chain_of(handle);
        if (std::ranges::find(chains, chain) == chains.end()) chains.push_back(chain);
    }
    return chains;
}

std::string checksummed(const domain::Address& address) {
    std::string digits = domain::to_hex(address);
    CryptoPP::Keccak_256 keccak;
    domain::Bytes32 hash{};
    keccak.Update(reinterpret_cast<const CryptoPP::byte*>(digits.data()), digits.size());
    keccak.Final(hash.data());
    for (std::size_t at = 0; at < digits.size(); ++at) {
        const unsigned nibble = at % 2 == 0 ? hash[at / 2] >> 4U : hash[at / 2] & 0xfU;
        if (nibble >= 8) {
            digits[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(digits[at])));
        }
    }
    return "0x" + digits;
}

}  // namespace gateway::loopback
