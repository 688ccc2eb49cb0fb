// The body of every POST route, and JSON as such. The first byte chooses the reader.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/decode.hpp"
#include "api/envelope.hpp"
#include "api/json_reader.hpp"
#include "api/vote_share.hpp"
#include "domain/identity.hpp"
#include "domain/request.hpp"
#include "fuzz/spelling.hpp"
#include "fuzz/target.hpp"

namespace {

using fuzz::require;
using Json = nlohmann::json;

// 2026-06-01: the samples are valid.
constexpr std::uint64_t now_seconds = 1'780'272'000;

Json to_library(api::JsonValue value) {
    switch (value.type()) {
        case api::JsonType::null:
            return nullptr;
        case api::JsonType::boolean:
            return value.text() == "true";
        case api::JsonType::number:
            return Json::parse(value.text());
        case api::JsonType::string:
            return value.text();
        case api::JsonType::array: {
            Json array = Json::array();
            for (const api::JsonValue element : value.elements()) {
                array.push_back(to_library(element));
            }
            require(array.size() == value.size(), "an array counts its elements");
            return array;
        }
        case api::JsonType::object: {
            Json object = Json::object();
            for (const api::JsonMember& member : value.members()) {
                object[std::string(member.name)] = to_library(member.value);
            }
            require(object.size() == value.size(), "an object has each member once");
            return object;
        }
    }
    return nullptr;
}

bool is_rule_of_ours(std::string_view what) {
    constexpr std::array rules{"an object has the same member twice", "nested too deeply",
                               "the number is out of range", "too many values"};
    return std::find(rules.begin(), rules.end(), what) != rules.end();
}

// The general library skips a byte order mark and stops at a zero byte.
bool is_leniency_of_theirs(std::string_view body) {
    return body.starts_with("\xEF\xBB\xBF") || body.find('\0') != std::string_view::npos;
}

void check_reader(std::string_view body) {
    const auto read = api::read_json(body);
    const Json expected = Json::parse(body, nullptr, false);
    if (const auto* problem = std::get_if<api::JsonProblem>(&read)) {
        require(!problem->what.empty() && problem->offset <= body.size(), "a problem has a place");
        require(expected.is_discarded() || is_rule_of_ours(problem->what) ||
                    is_leniency_of_theirs(body),
                "what is refused is no JSON or breaks a rule of ours");
        return;
    }
    require(!expected.is_discarded(), "what is read is JSON");
    require(to_library(std::get<api::JsonDocument>(read).root()) == expected,
            "JSON is read as a general library reads it");
}

void check_request(const domain::Request& request) {
    const domain::Bytes stored = domain::encode(request);
    const auto loaded = domain::decode_request(stored);
    require(loaded == request, "a request survives being stored");
    require(domain::encode(*loaded) == stored, "a stored request has one form");
    const domain::Identity identity = domain::identify(request);
    require(identity == domain::identify(*loaded), "a stored request keeps its identity");
    require(identity.key != domain::Bytes32{}, "a request has an identity");
}

void check_refusal(const api::ApiError& refusal, std::string_view body) {
    constexpr std::array labels{"malformed_json", "missing_fields", "validation_failed"};
    require(refusal.status == 400, "a body is refused with 400");
    require(std::find(labels.begin(), labels.end(), refusal.label) != labels.end(),
            "a refusal has a known label");
    require(refusal.details.empty() == (refusal.label == "malformed_json"),
            "details say what is wrong with which member");
    // Only the name of an unknown member is repeated.
    constexpr std::size_t text_max = 600;
    require(!refusal.message.empty() && refusal.message.size() < body.size() + text_max,
            "the message is there and no longer than what was sent");
    for (const api::Detail& detail : refusal.details) {
        require(!detail.issue.empty() && detail.issue.size() < text_max, "an issue is short");
        require(detail.field.size() <= std::max(body.size(), text_max), "a field is as sent");
    }

    const net::HttpResponse response = api::failed_answer("call", refusal);
    const Json answer = Json::parse(response.body, nullptr, false);
    require(answer.is_object() && answer["status"] == "failed", "an answer is JSON");
    require(answer["error"]["message"] == refusal.message, "an answer says what is wrong");
    require(answer["error"].contains("details") != refusal.details.empty(),
            "an answer has details when there are any");
}

void check_relayer_body(domain::Kind kind, std::string_view body,
                        api::Decoded (*decode)(std::string_view, std::uint64_t)) {
    const api::Decoded decoded = decode(body, now_seconds);
    const Json sent = Json::parse(body, nullptr, false);
    if (const auto* refusal = std::get_if<api::ApiError>(&decoded)) {
        require(!sent.is_discarded() || refusal->label == "malformed_json",
                "what is no JSON is malformed");
        return check_refusal(*refusal, body);
    }
    const auto& request = std::get<domain::Request>(decoded);
    require(domain::kind_of(request) == kind, "a route reads its kind");
    check_request(request);
    const Json spelled = fuzz::body_of(request);
    require(fuzz::is_spelled_in(spelled, sent), "a request holds what was sent");
    const api::Decoded again = decode(spelled.dump(), now_seconds);
    const auto* same = std::get_if<domain::Request>(&again);
    require(same != nullptr && *same == request, "a request spelled out is read as itself");
}

void check_share(std::string_view body) {
    const auto decoded = api::decode_vote_share(body);
    if (const auto* problem = std::get_if<api::ShareProblem>(&decoded)) {
        require(!problem->text.empty() && problem->text.size() < 160, "a problem is short");
        require(std::all_of(problem->text.begin(), problem->text.end(),
                            [](char c) { return c >= ' ' && c <= '~'; }),
                "a problem is plain text");
        const Json answer = Json::parse(api::share_error(400, problem->text).body);
        require(answer["error"] == problem->text, "an answer says what is wrong");
        return;
    }
    const auto& share = std::get<domain::VoteShare>(decoded);
    require(share.proposal_id >= 1 && share.proposal_id <= 15 && share.share_index <= 15 &&
                share.vote_decision <= 7,
            "numbers of a share are in range");
    check_request(share);
    const auto again = api::decode_vote_share(fuzz::body_of(share).dump());
    const auto* same = std::get_if<domain::VoteShare>(&again);
    require(same != nullptr && *same == share, "a share spelled out is read as itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    using domain::Kind;
    std::string_view body = fuzz::text_of(data, size);
    switch (fuzz::take_choice(body, 7)) {
        case 0:
            check_relayer_body(Kind::input_proof, body, api::decode_input_proof);
            break;
        case 1:
            check_relayer_body(Kind::public_decrypt, body, api::decode_public_decrypt);
            break;
        case 2:
            check_relayer_body(Kind::user_decrypt, body, api::decode_user_decrypt);
            break;
        case 3:
            check_relayer_body(Kind::delegated_user_decrypt, body,
                               api::decode_delegated_user_decrypt);
            break;
        case 4:
            check_relayer_body(Kind::unified_user_decrypt, body, api::decode_unified_user_decrypt);
            break;
        case 5:
            check_share(body);
            break;
        default:
            check_reader(body);
            break;
    }
    return 0;
}
