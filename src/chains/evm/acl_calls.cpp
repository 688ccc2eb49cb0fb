#include <utility>
#include <variant>

#include "chains/evm/abi.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/selectors.hpp"
#include "domain/handle.hpp"

namespace chains::evm {
namespace {

domain::Bytes is_allowed(const domain::Bytes32& handle, const domain::Address& account) {
    return abi::Tuple{}.add(handle).add(account).call(selector::is_allowed);
}

domain::Bytes is_delegated(const domain::Address& delegator, const domain::Address& delegate,
                           const domain::Address& contract, const domain::Bytes32& handle) {
    return abi::Tuple{}.add(delegator).add(delegate).add(contract).add(handle).call(
        selector::is_handle_delegated);
}

// One call for each of domain::acl_questions(); the two change together.
struct AclCalls {
    std::uint64_t chain;
    std::vector<domain::Bytes> calls{};

    void operator()(const domain::InputProof&) {}
    void operator()(const domain::VoteShare&) {}

    void operator()(const domain::PublicDecrypt& request) {
        for (const auto& handle : request.handles) {
            if (domain::host_chain_of(handle) != chain) continue;
            calls.push_back(abi::Tuple{}.add(handle).call(selector::is_allowed_for_decryption));
        }
    }

    void operator()(const domain::UserDecrypt& request) {
        for (const auto& pair : request.pairs) {
            if (domain::host_chain_of(pair.handle) != chain) continue;
            calls.push_back(is_allowed(pair.handle, request.user_address));
            calls.push_back(is_allowed(pair.handle, pair.contract_address));
        }
    }

    void operator()(const domain::DelegatedUserDecrypt& request) {
        for (const auto& pair : request.pairs) {
            if (domain::host_chain_of(pair.handle) != chain) continue;
            calls.push_back(is_delegated(request.delegator_address, request.delegate_address,
                                         pair.contract_address, pair.handle));
        }
    }

    void operator()(const domain::UnifiedUserDecrypt& request) {
        for (const auto& owned : request.handles) {
            if (domain::host_chain_of(owned.handle) != chain) continue;
            calls.push_back(owned.owner_address == request.user_address
                                ? is_allowed(owned.handle, request.user_address)
                                : is_delegated(owned.owner_address, request.user_address,
                                               owned.contract_address, owned.handle));
        }
    }
};

}  // namespace

std::vector<domain::Bytes> acl_calls(const domain::Request& request, std::uint64_t host_chain_id) {
    AclCalls made{host_chain_id};
    std::visit(made, request);
    return std::move(made.calls);
}

std::vector<domain::Bytes> allowance_calls(const domain::UnifiedUserDecrypt& request,
                                           std::uint64_t host_chain_id) {
    std::vector<domain::Bytes> calls;
    for (const auto& owned : request.handles) {
        if (domain::host_chain_of(owned.handle) != host_chain_id) continue;
        for (const domain::Address& contract : request.allowed_contracts) {
            calls.push_back(is_allowed(owned.handle, contract));
        }
    }
    return calls;
}

domain::Bytes signatures_invalidated_before(const domain::Address& user) {
    return abi::Tuple{}.add(user).call(selector::signatures_invalidated_before);
}

domain::Bytes multicall(std::span<const domain::Bytes> calls) {
    abi::Tuple elements;
    for (const domain::Bytes& call : calls) elements.add_bytes(call);
    return abi::Tuple{}.add_list(calls.size(), elements).call(selector::multicall);
}

}  // namespace chains::evm
