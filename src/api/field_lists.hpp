#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/field_rules.hpp"
#include "api/json_reader.hpp"
#include "api/schema.hpp"
#include "domain/request.hpp"

namespace api {

// The lists and pairs that several request types share (relayer-api 1.5, 1.10). A list stops at its
// first bad element.
[[nodiscard]] Issue read_addresses(JsonValue list, std::vector<domain::Address>& out);
[[nodiscard]] Issue read_handles(JsonValue list, std::vector<domain::Bytes32>& out);

extern const Schema handle_contract_pair_schema;  // {handle, contractAddress}
[[nodiscard]] Issue read_pairs(JsonValue list, std::vector<domain::HandleContractPair>& out);

}  // namespace api
