#include "chains/evm/events.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "chains/evm/abi.hpp"
#include "chains/evm/topics.hpp"

namespace chains::evm {
namespace {

constexpr std::array<domain::Bytes32, 1> proof_topics{topic::verify_proof_request};
constexpr std::array public_topics{topic::public_decryption_request_old,
                                   topic::public_decryption_request};
constexpr std::array user_topics{topic::user_decryption_request_old, topic::user_decryption_request,
                                 topic::unified_user_decryption_request_old,
                                 topic::unified_user_decryption_request};

constexpr std::array response_topics{topic::verify_proof_response, topic::reject_proof_response,
                                     topic::public_decryption_response,
                                     topic::user_decryption_response, topic::threshold_reached};

// What indexShare fits (evm-gateway 3.4).
constexpr std::uint64_t share_index_max = 0x7fffffff;

std::span<const domain::Bytes32> request_topics(domain::Family family) {
    switch (family) {
        case domain::Family::input_proof:
            return proof_topics;
        case domain::Family::public_decrypt:
            return public_topics;
        case domain::Family::user_decrypt:
            return user_topics;
        case domain::Family::share:
            break;
    }
    return {};
}

using Body = std::optional<engine::AnswerBody>;

domain::Bytes copy(domain::ByteView bytes) {
    return {bytes.begin(), bytes.end()};
}

Body proof_accepted(const abi::Decoder& data) {
    auto handles = data.words(0);
    auto signatures = data.bytes_list(1);
    if (!handles || !signatures) return std::nullopt;
    return domain::ProofAccepted{std::move(*handles), std::move(*signatures)};
}

Body public_decrypted(const abi::Decoder& data) {
    const auto value = data.bytes(0);
    auto signatures = data.bytes_list(1);
    const auto extra_data = data.bytes(2);
    if (!value || !signatures || !extra_data) return std::nullopt;
    return domain::PublicDecrypted{copy(*value), std::move(*signatures), copy(*extra_data)};
}

std::optional<domain::KmsShare> kms_share(const abi::Decoder& data) {
    const auto index = data.number(0);
    const auto payload = data.bytes(1);
    const auto signature = data.bytes(2);
    const auto extra_data = data.bytes(3);
    if (!index || *index > share_index_max || !payload || !signature || !extra_data) {
        return std::nullopt;
    }
    return domain::KmsShare{static_cast<std::uint32_t>(*index), copy(*payload), copy(*signature),
                            copy(*extra_data)};
}

// Of a share with the id of this event.
std::vector<domain::Bytes32> share_topics_of(const Log& event) {
    std::vector<domain::Bytes32> topics = event.topics;
    topics.front() = topic::user_decryption_response;
    return topics;
}

Body body_of(const Log& log) {
    const abi::Decoder data{log.data};
    const domain::Bytes32& event = log.topics[0];
    if (event == topic::verify_proof_response) return proof_accepted(data);
    if (event == topic::public_decryption_response) return public_decrypted(data);
    if (event == topic::user_decryption_response) return kms_share(data);
    if (event == topic::reject_proof_response && log.data.empty()) return engine::ProofRejected{};
    return std::nullopt;
}

std::optional<std::string> string_in(const abi::Decoder& tuple, std::size_t at) {
    const auto bytes = tuple.bytes(at);
    if (!bytes) return std::nullopt;
    std::string text{bytes->begin(), bytes->end()};
    if (!base::is_utf8(text)) return std::nullopt;
    return text;
}

}  // namespace

std::optional<domain::Bytes32> request_id_in(std::span<const Log> logs, domain::Family family,
                                             const domain::Address& contract) {
    const auto wanted = request_topics(family);
    for (const Log& log : logs) {
        if (log.address != contract || log.topics.size() < 2) continue;
        if (std::ranges::find(wanted, log.topics[0]) != wanted.end()) return log.topics[1];
    }
    return std::nullopt;
}

const std::array<domain::Bytes32, 5>& answer_topics() {
    return response_topics;
}

const domain::Bytes32& threshold_reached_topic() {
    return topic::threshold_reached;
}

std::optional<engine::ThresholdReached> threshold_reached_at(std::span<const Log> logs,
                                                             std::size_t place) {
    const Log& event = logs[place];
    for (std::size_t at = place; at > 0; --at) {
        const Log& log = logs[at - 1];
        if (log.block_number != event.block_number) break;
        if (log.transaction != event.transaction || log.topics != share_topics_of(event)) continue;
        const auto share = kms_share(abi::Decoder{log.data});
        if (!share) return std::nullopt;
        return engine::ThresholdReached{share->index + 1, event.block_number};
    }
    return std::nullopt;
}

std::optional<engine::Answer> decode_answer(const Log& log) {
    if (log.topics.size() != 2) return std::nullopt;
    auto body = body_of(log);
    if (!body) return std::nullopt;
    return engine::Answer{log.topics[1], std::move(*body), {}};
}

const domain::Bytes32& new_kms_context_topic() {
    return topic::new_kms_context;
}

std::optional<KmsStorage> decode_kms_storage(const Log& log) {
    constexpr std::size_t storage_url = 3;
    constexpr std::size_t storage_prefix = 7;
    if (log.topics.empty() || log.topics[0] != topic::new_kms_context) return std::nullopt;
    const auto nodes = abi::Decoder{log.data}.list(0, 1);
    if (!nodes || nodes->count == 0) return std::nullopt;
    const auto first = nodes->elements.tuple(0);
    if (!first) return std::nullopt;
    auto url = string_in(*first, storage_url);
    auto prefix = string_in(*first, storage_prefix);
    if (!url || !prefix) return std::nullopt;
    return KmsStorage{std::move(*url), std::move(*prefix)};
}

}  // namespace chains::evm
