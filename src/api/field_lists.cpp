#include "api/field_lists.hpp"

#include <array>

namespace api {

namespace {

constexpr std::array pair_members{MemberRule{"handle"}, MemberRule{"contractAddress"}};

}  // namespace

const Schema handle_contract_pair_schema{pair_members};

Issue read_addresses(JsonValue list, std::vector<domain::Address>& out) {
    out.reserve(list.size());
    for (const JsonValue element : list.elements()) {
        if (const Issue issue = read_address(element.text(), out.emplace_back())) return issue;
    }
    return {};
}

Issue read_handles(JsonValue list, std::vector<domain::Bytes32>& out) {
    out.reserve(list.size());
    for (const JsonValue element : list.elements()) {
        if (const Issue issue = read_handle(element.text(), out.emplace_back())) return issue;
    }
    return {};
}

Issue read_pairs(JsonValue list, std::vector<domain::HandleContractPair>& out) {
    out.reserve(list.size());
    for (const JsonValue element : list.elements()) {
        domain::HandleContractPair& pair = out.emplace_back();
        if (const Issue issue = read_handle(element["handle"].text(), pair.handle)) return issue;
        const Issue issue = read_address(element["contractAddress"].text(), pair.contract_address);
        if (issue) return issue;
    }
    return {};
}

}  // namespace api
