#include <cassert>
#include <variant>

#include "chains/evm/abi.hpp"
#include "chains/evm/calls.hpp"
#include "chains/evm/selectors.hpp"

namespace chains::evm {
namespace {

void add_pairs(abi::Tuple& arguments, const std::vector<domain::HandleContractPair>& pairs) {
    abi::Tuple elements;
    for (const auto& pair : pairs) elements.add(pair.handle).add(pair.contract_address);
    arguments.add_list(pairs.size(), elements);
}

void add_addresses(abi::Tuple& arguments, const std::vector<domain::Address>& addresses) {
    abi::Tuple elements;
    for (const auto& address : addresses) elements.add(address);
    arguments.add_list(addresses.size(), elements);
}

void add_contracts_info(abi::Tuple& arguments, std::uint64_t chain_id,
                        const std::vector<domain::Address>& addresses) {
    abi::Tuple info;
    info.add(chain_id);
    add_addresses(info, addresses);
    arguments.add_tuple(info);
}

// Arguments in the order of evm-gateway 1.2.
struct RequestCall {
    domain::Bytes operator()(const domain::InputProof& request) const {
        return abi::Tuple{}
            .add(request.contract_chain_id)
            .add(request.contract_address)
            .add(request.user_address)
            .add_bytes(request.ciphertext)
            .add_bytes(request.extra_data)
            .call(selector::verify_proof_request);
    }

    domain::Bytes operator()(const domain::PublicDecrypt& request) const {
        abi::Tuple handles;
        for (const auto& handle : request.handles) handles.add(handle);
        return abi::Tuple{}
            .add_list(request.handles.size(), handles)
            .add_bytes(request.extra_data)
            .call(selector::public_decryption_request);
    }

    domain::Bytes operator()(const domain::UserDecrypt& request) const {
        abi::Tuple arguments;
        add_pairs(arguments, request.pairs);
        arguments.add(request.start_timestamp).add(std::uint64_t{request.duration_days});
        add_contracts_info(arguments, request.contracts_chain_id, request.contract_addresses);
        arguments.add(request.user_address)
            .add_bytes(request.public_key)
            .add_bytes(request.signature)
            .add_bytes(request.extra_data);
        return arguments.call(selector::user_decryption_request);
    }

    domain::Bytes operator()(const domain::DelegatedUserDecrypt& request) const {
        abi::Tuple arguments;
        add_pairs(arguments, request.pairs);
        arguments.add(request.start_timestamp)
            .add(std::uint64_t{request.duration_days})
            .add(request.delegator_address)
            .add(request.delegate_address);
        add_contracts_info(arguments, request.contracts_chain_id, request.contract_addresses);
        arguments.add_bytes(request.public_key)
            .add_bytes(request.signature)
            .add_bytes(request.extra_data);
        return arguments.call(selector::delegated_user_decryption_request);
    }

    domain::Bytes operator()(const domain::UnifiedUserDecrypt& request) const {
        abi::Tuple handles;
        for (const auto& owned : request.handles) {
            handles.add(owned.handle).add(owned.contract_address).add(owned.owner_address);
        }
        abi::Tuple arguments;
        arguments.add_list(request.handles.size(), handles)
            .add(request.user_address)
            .add_bytes(request.public_key);
        add_addresses(arguments, request.allowed_contracts);
        arguments.add(request.start_timestamp)
            .add(request.duration_seconds)
            .add_bytes(request.signature)
            .add_bytes(request.extra_data);
        return arguments.call(selector::unified_user_decryption_request);
    }

    domain::Bytes operator()(const domain::VoteShare&) const {
        assert(!"vote shares go elsewhere");
        return {};
    }
};

struct ReadinessCall {
    domain::Bytes operator()(const domain::PublicDecrypt& request) const {
        abi::Tuple handles;
        for (const auto& handle : request.handles) handles.add(handle);
        return abi::Tuple{}
            .add_list(request.handles.size(), handles)
            .add_bytes(request.extra_data)
            .call(selector::is_public_decryption_ready);
    }

    domain::Bytes operator()(const domain::UserDecrypt& request) const {
        return of_pairs(request.pairs, request.extra_data);
    }

    domain::Bytes operator()(const domain::DelegatedUserDecrypt& request) const {
        return of_pairs(request.pairs, request.extra_data);
    }

    domain::Bytes operator()(const domain::UnifiedUserDecrypt& request) const {
        return of_pairs(request.handles, request.extra_data);
    }

    domain::Bytes operator()(const domain::InputProof&) const { return nothing_to_ask(); }
    domain::Bytes operator()(const domain::VoteShare&) const { return nothing_to_ask(); }

private:
    template <typename Pairs>
    static domain::Bytes of_pairs(const Pairs& pairs, domain::ByteView extra_data) {
        abi::Tuple elements;
        for (const auto& pair : pairs) elements.add(pair.handle).add(pair.contract_address);
        return abi::Tuple{}
            .add_list(pairs.size(), elements)
            .add_bytes(extra_data)
            .call(selector::is_user_decryption_ready);
    }

    static domain::Bytes nothing_to_ask() {
        assert(!"only decrypts have to be ready");
        return {};
    }
};

}  // namespace

domain::Bytes request_call(const domain::Request& request) {
    return std::visit(RequestCall{}, request);
}

domain::Bytes readiness_call(const domain::Request& request) {
    return std::visit(ReadinessCall{}, request);
}

}  // namespace chains::evm
