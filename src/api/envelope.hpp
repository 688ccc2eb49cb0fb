#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "api/api_error.hpp"
#include "domain/result.hpp"
#include "domain/status.hpp"
#include "engine/health.hpp"
#include "engine/key_material.hpp"
#include "engine/vote_chain.hpp"
#include "engine/vote_queue.hpp"
#include "net/http_message.hpp"
#include "ports/random.hpp"

namespace api {

struct Options;

// The JSON answers of all routes (relayer-api 1.2 with the members of both client generations, 1.8
// to 1.13; share-helper 1). Texts that are not UTF-8 are repaired, never refused.

// A random UUID version 4: one per HTTP call.
[[nodiscard]] std::string make_call_id(ports::Random& random);

// 202 of a POST.
[[nodiscard]] net::HttpResponse accepted_answer(std::string_view call_id, std::string_view job_id,
                                                std::uint32_t retry_after_seconds);

// 202 of a GET.
[[nodiscard]] net::HttpResponse pending_answer(std::string_view call_id, domain::Status state,
                                               std::uint32_t retry_after_seconds,
                                               std::uint64_t elapsed_seconds);

// 200 of a GET. The prefix rules are those of sdk-client-contract rule 7.
[[nodiscard]] net::HttpResponse succeeded_answer(std::string_view call_id,
                                                 const domain::Result& result);
[[nodiscard]] net::HttpResponse proof_rejected_answer(std::string_view call_id);

// `retry_after_seconds` 0: no Retry-After.
[[nodiscard]] net::HttpResponse failed_answer(std::string_view call_id, const ApiError& api_error,
                                              std::uint32_t retry_after_seconds = 0);

// 404 and 405 of paths and methods nobody knows have an empty body (relayer-api 1.1), but for paths
// of the share helper.
[[nodiscard]] net::HttpResponse empty_answer(int status);

[[nodiscard]] net::HttpResponse share_answer(std::string_view status);
[[nodiscard]] net::HttpResponse share_error(int status, std::string_view text);
// 408 of a share whose body stalled, for the one who sent `attempt`: nothing was stored.
[[nodiscard]] net::HttpResponse share_upload_receipt(std::string_view attempt);
// 200 of GET status: without a tree its member is left out (share-helper 1.6).
[[nodiscard]] net::HttpResponse helper_status_answer(const std::optional<engine::TreeStatus>& tree);
// 200 of GET queue-status (share-helper 1.7).
[[nodiscard]] net::HttpResponse queue_status_answer(const std::vector<store::RoundCounts>& rounds);

// 200 of GET /v2/keyurl: `response` instead of `result`, and no request id (relayer-api 1.12).
[[nodiscard]] net::HttpResponse key_material_answer(const engine::KeyMaterial& keys);

[[nodiscard]] net::HttpResponse alive_answer();
// 503 with Retry-After while a dependency fails. `cluster`: one more member; null: none.
[[nodiscard]] net::HttpResponse health_answer(const std::vector<engine::Dependency>& dependencies,
                                              const nlohmann::ordered_json& cluster);
[[nodiscard]] net::HttpResponse version_answer(const Options& options);

// What /admin/config says of a call it does not take (relayer-api 6.1).
[[nodiscard]] net::HttpResponse admin_error(int status, std::string_view text);
[[nodiscard]] net::HttpResponse admin_done(std::string_view message);
// 503 with Retry-After: it can not be done just now.
[[nodiscard]] net::HttpResponse admin_not_now(std::string_view text);
// Any other answer of an operators' route. Nobody keeps it.
[[nodiscard]] net::HttpResponse admin_answer(int status, const nlohmann::ordered_json& body);

}  // namespace api
