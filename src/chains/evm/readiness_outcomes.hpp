#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "domain/access_list.hpp"
#include "domain/failure.hpp"
#include "engine/gateway.hpp"

// What answers to a readiness check mean (evm-gateway 7.2, 7.3) and how its failures read
// (relayer-api 9.2).
namespace chains::evm {

[[nodiscard]] domain::Failure no_access_list(std::uint64_t chain_id);
[[nodiscard]] domain::Failure access_list_failed(std::uint64_t chain_id, const std::string& why);
// The same where no node has answered, or has failed itself: it may be asked again.
[[nodiscard]] engine::Unreachable access_list_unreachable(std::uint64_t chain_id,
                                                          const std::string& why,
                                                          domain::Milliseconds wait = {});
// `refused`: places in `questions`; `others`: what is refused beside handles. At least one of both.
[[nodiscard]] domain::Failure access_refused(const std::vector<domain::AclQuestion>& questions,
                                             const std::vector<std::size_t>& refused,
                                             const std::vector<std::string>& others = {});

// One answer for each question, in their order; nothing when malformed.
[[nodiscard]] std::optional<std::vector<bool>> access_list_answers(const jsonrpc::Json& result,
                                                                   std::size_t questions);

// A node that is busy or gave up waiting has refused nothing: trouble like silence. The rest stays.
[[nodiscard]] jsonrpc::Answer with_passing_as_trouble(jsonrpc::Answer answer);

// Ready, NotReady or Unreachable: of errors and a plain no the last try decides.
[[nodiscard]] engine::CheckOutcome gateway_outcome(const jsonrpc::Answer& answer);

}  // namespace chains::evm
