#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "chains/evm/receipt.hpp"
#include "domain/bytes.hpp"
#include "domain/kind.hpp"
#include "engine/gateway.hpp"

namespace chains::evm {

// The id the gateway gave a request: topics[1] of the first log of `contract` that is a request
// event of the kind's family, old or new shape (evm-gateway 2). Nothing when there is none.
[[nodiscard]] std::optional<domain::Bytes32> request_id_in(std::span<const Log> logs,
                                                           domain::Family family,
                                                           const domain::Address& contract);

// Topics of the five response events (3.1), for eth_getLogs.
[[nodiscard]] const std::array<domain::Bytes32, 5>& answer_topics();
// UserDecryptionResponseThresholdReached. It holds no number: the share before it in its
// transaction does (3.2).
[[nodiscard]] const domain::Bytes32& threshold_reached_topic();

// How many shares the event at a place of these logs, which are in chain order, says are enough.
// Nothing when its share is not among them.
[[nodiscard]] std::optional<engine::ThresholdReached> threshold_reached_at(
    std::span<const Log> logs, std::size_t place);

// The answer in a response event; nothing for other logs and malformed ones. An indexShare of 2^31
// or more is malformed (3.4).
[[nodiscard]] std::optional<engine::Answer> decode_answer(const Log& log);

// The first KMS node's storage in a NewKmsContext event (9.1 step 7).
struct KmsStorage {
    std::string url;
    std::string prefix;
};
[[nodiscard]] const domain::Bytes32& new_kms_context_topic();
[[nodiscard]] std::optional<KmsStorage> decode_kms_storage(const Log& log);

}  // namespace chains::evm
