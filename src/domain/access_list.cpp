#include "domain/access_list.hpp"

#include <algorithm>
#include <variant>

#include "domain/handle.hpp"
#include "domain/keccak.hpp"

namespace domain {
namespace {

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
        const std::string user = domain::checksummed(request.user_address);
        for (const auto& pair : request.pairs) {
            questions.push_back({pair.handle, "isAllowed(user " + user + ")"});
            questions.push_back(
                {pair.handle,
                 "isAllowed(contract " + domain::checksummed(pair.contract_address) + ")"});
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
        const std::string user = domain::checksummed(request.user_address);
        for (const auto& owned : request.handles) {
            if (owned.owner_address == request.user_address) {
                questions.push_back({owned.handle, "isAllowed(user " + user + ")"});
            } else {
                questions.push_back({owned.handle, "isHandleDelegatedForUserDecryption(owner " +
                                                       domain::checksummed(owned.owner_address) +
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

}  // namespace

std::vector<AclQuestion> acl_questions(const domain::Request& request) {
    return std::visit(Questions{}, request);
}

std::vector<AclQuestion> allowance_questions(const domain::Request& request) {
    const auto* unified = std::get_if<domain::UnifiedUserDecrypt>(&request);
    if (unified == nullptr || unified->allowed_contracts.empty()) return {};
    std::vector<AclQuestion> questions;
    questions.reserve(unified->handles.size());
    for (const auto& owned : unified->handles) {
        questions.push_back({owned.handle, "isAllowed(any of allowedContracts)"});
    }
    return questions;
}

std::optional<std::string> refused_by_itself(const domain::Request& request) {
    const auto* unified = std::get_if<domain::UnifiedUserDecrypt>(&request);
    if (unified == nullptr) return std::nullopt;
    const auto& allowed = unified->allowed_contracts;
    if (std::ranges::find(allowed, unified->user_address) == allowed.end()) return std::nullopt;
    return "user " + domain::checksummed(unified->user_address) + " is among allowedContracts";
}

std::vector<std::uint64_t> host_chains_of(const domain::Request& request) {
    std::vector<std::uint64_t> chains;
    for (const domain::Bytes32& handle : std::visit(Handles{}, request)) {
        const std::uint64_t chain = domain::host_chain_of(handle);
        if (std::ranges::find(chains, chain) == chains.end()) chains.push_back(chain);
    }
    return chains;
}

}  // namespace domain
