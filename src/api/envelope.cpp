#include "api/envelope.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/options.hpp"
#include "domain/bytes.hpp"

namespace api {

namespace {

using Json = nlohmann::ordered_json;

net::HttpResponse answer(int status, const Json& body) {
    net::HttpResponse response;
    response.status = status;
    response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return response;
}

net::HttpResponse answer(int status, const Json& body, std::uint32_t retry_after_seconds) {
    net::HttpResponse response = answer(status, body);
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds));
    return response;
}

std::string prefixed(domain::ByteView bytes) {
    return "0x" + domain::to_hex(bytes);
}

template <typename List, typename Text>
Json texts(const List& list, Text text) {
    Json array = Json::array();
    for (const auto& bytes : list) array.push_back(text(bytes));
    return array;
}

// The constant the reference serves, not an echo (relayer-api 1.8).
constexpr std::string_view proof_extra_data = "0x00";

// The bits a common reference string is good for; there is one kind.
constexpr const char* crs_capacity = "2048";

constexpr std::uint32_t health_retry_after_seconds = 5;

Json body_of(const domain::ProofAccepted& proof) {
    return {{"accepted", true},
            {"extraData", proof_extra_data},
            {"handles", texts(proof.handles, prefixed)},
            {"signatures", texts(proof.signatures, prefixed)}};
}

Json body_of(const domain::PublicDecrypted& decrypted) {
    return {{"decryptedValue", domain::to_hex(decrypted.value)},
            {"signatures", texts(decrypted.signatures, domain::to_hex)},
            {"extraData", prefixed(decrypted.extra_data)}};
}

Json body_of(const domain::UserDecrypted& decrypted) {
    Json shares = Json::array();
    for (const domain::KmsShare& share : decrypted.shares) {
        shares.push_back({{"payload", domain::to_hex(share.payload)},
                          {"signature", domain::to_hex(share.signature)},
                          {"extraData", prefixed(share.extra_data)}});
    }
    return {{"result", std::move(shares)}};
}

// Shares are not polled; here for completeness of the variant.
Json body_of(const domain::ShareRevealed& revealed) {
    return {{"txHash", revealed.tx_hash}};
}

}  // namespace

std::string make_call_id(ports::Random& random) {
    std::array<std::uint8_t, 16> bytes{};
    random.fill(bytes);
    bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x40U);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
    std::string id = domain::to_hex(bytes);
    for (const std::size_t hyphen : {8U, 13U, 18U, 23U}) id.insert(hyphen, 1, '-');
    return id;
}

net::HttpResponse accepted_answer(std::string_view call_id, std::string_view job_id,
                                  std::uint32_t retry_after_seconds) {
    const std::uint32_t wait_seconds = std::max(retry_after_seconds, 1U);
    return answer(202,
                  {{"status", "queued"},
                   {"requestId", call_id},
                   {"result", {{"jobId", job_id}}},
                   {"job_id", job_id},
                   {"eta_seconds", wait_seconds}},
                  wait_seconds);
}

net::HttpResponse pending_answer(std::string_view call_id, domain::Status state,
                                 std::uint32_t retry_after_seconds, std::uint64_t elapsed_seconds) {
    const std::uint32_t wait_seconds = std::max(retry_after_seconds, 1U);
    return answer(202,
                  {{"status", "queued"},
                   {"requestId", call_id},
                   {"state", domain::to_string(state)},
                   {"eta_seconds", wait_seconds},
                   {"elapsed_seconds", elapsed_seconds}},
                  wait_seconds);
}

net::HttpResponse succeeded_answer(std::string_view call_id, const domain::Result& result) {
    Json body = std::visit([](const auto& value) { return body_of(value); }, result);
    return answer(200,
                  {{"status", "succeeded"}, {"requestId", call_id}, {"result", std::move(body)}});
}

net::HttpResponse proof_rejected_answer(std::string_view call_id) {
    return answer(200, {{"status", "succeeded"},
                        {"requestId", call_id},
                        {"result", {{"accepted", false}, {"extraData", proof_extra_data}}}});
}

net::HttpResponse failed_answer(std::string_view call_id, const ApiError& api_error,
                                std::uint32_t retry_after_seconds) {
    Json error{{"label", api_error.label}, {"message", api_error.message}};
    if (!api_error.details.empty()) {
        Json& details = error["details"] = Json::array();
        for (const Detail& detail : api_error.details) {
            details.push_back({{"field", detail.field}, {"issue", detail.issue}});
        }
    }
    if (!api_error.hint.empty()) error["hint"] = api_error.hint;
    const Json body{{"status", "failed"}, {"requestId", call_id}, {"error", std::move(error)}};
    if (retry_after_seconds == 0) return answer(api_error.status, body);
    return answer(api_error.status, body, retry_after_seconds);
}

net::HttpResponse empty_answer(int status) {
    return {status, {}, {}, {}};
}

net::HttpResponse share_answer(std::string_view status) {
    return answer(200, {{"status", status}});
}

net::HttpResponse share_error(int status, std::string_view text) {
    return answer(status, {{"status", "error"}, {"error", text}});
}

net::HttpResponse share_upload_receipt(std::string_view attempt) {
    net::HttpResponse response = answer(408, {{"error",
                                               {{"version", 1},
                                                {"code", "request_body_timeout"},
                                                {"dispatch", "not_started"},
                                                {"attempt", attempt}}}});
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

net::HttpResponse helper_status_answer(const std::optional<engine::TreeStatus>& tree) {
    Json body{{"status", "ok"}};
    if (tree) {
        body["tree"] = {{"leaf_count", tree->leaf_count}, {"anchor_height", tree->anchor_height}};
    }
    return answer(200, body);
}

net::HttpResponse queue_status_answer(const std::vector<store::RoundCounts>& rounds) {
    Json body = Json::object();
    for (const store::RoundCounts& round : rounds) {
        body[domain::to_hex(round.round_id)] = {{"total", round.total},
                                                {"pending", round.pending},
                                                {"submitted", round.submitted},
                                                {"failed", round.failed}};
    }
    return answer(200, body);
}

net::HttpResponse key_material_answer(const engine::KeyMaterial& keys) {
    const Json key{{"dataId", prefixed(keys.key_id)}, {"urls", keys.key_urls}};
    const Json crs{{"dataId", prefixed(keys.crs_id)}, {"urls", keys.crs_urls}};
    Json response;
    response["fheKeyInfo"] = Json::array({Json{{"fhePublicKey", key}}});
    response["crs"][crs_capacity] = crs;
    return answer(200, {{"status", "succeeded"}, {"response", std::move(response)}});
}

net::HttpResponse alive_answer() {
    return answer(200, {{"status", "alive"}});
}

net::HttpResponse health_answer(const std::vector<engine::Dependency>& dependencies,
                                const Json& cluster) {
    const bool healthy = std::all_of(dependencies.begin(), dependencies.end(),
                                     [](const engine::Dependency& d) { return d.ok; });
    Json body{{"status", healthy ? "healthy" : "unhealthy"}};
    for (const engine::Dependency& dependency : dependencies) {
        body["dependencies"][dependency.name] = dependency.ok ? "ok" : "fail";
    }
    if (!cluster.is_null()) body["cluster"] = cluster;
    return healthy ? answer(200, body) : answer(503, body, health_retry_after_seconds);
}

net::HttpResponse version_answer(const Options& options) {
    return answer(
        200, {{"name", options.app_name}, {"version", options.version}, {"build", options.build}});
}

net::HttpResponse admin_answer(int status, const Json& body) {
    net::HttpResponse response = answer(status, body);
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

net::HttpResponse admin_error(int status, std::string_view text) {
    return admin_answer(status, {{"error", text}});
}

net::HttpResponse admin_done(std::string_view message) {
    return admin_answer(200, {{"message", message}});
}

net::HttpResponse admin_not_now(std::string_view text) {
    net::HttpResponse response = admin_error(503, text);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace api
