#include "api/vote_share.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "api/json_reader.hpp"
#include "base/base64.hpp"
#include "base/text.hpp"

namespace api {

namespace {

using Problem = std::optional<ShareProblem>;

constexpr std::size_t comms_count = std::tuple_size_v<decltype(domain::VoteShare::share_comms)>;

// The members as sent; absent ones keep the zero value.
struct RawShare {
    std::string_view shares_hash;
    std::string_view c1;
    std::string_view c2;
    std::string_view vote_round_id;
    std::string_view primary_blind;
    std::array<std::string_view, comms_count> share_comms;
    std::size_t share_comms_size = 0;
    std::uint64_t share_index = 0;
    std::uint64_t vote_decision = 0;
    std::uint64_t proposal_id = 0;
    std::uint64_t tree_position = 0;
    std::uint64_t submit_at = 0;
};

ShareProblem invalid_json(std::string_view field, std::string_view what) {
    std::string text = "invalid JSON: ";
    if (!field.empty()) text.append(field).append(": ");
    return {text.append(what)};
}

Problem take_text(JsonValue value, std::string_view field, std::string_view& out) {
    if (value.is(JsonType::null)) return {};
    if (!value.is(JsonType::string)) return invalid_json(field, "must be a string");
    out = value.text();
    return {};
}

Problem take_number(JsonValue value, std::string_view field, std::uint64_t max,
                    std::uint64_t& out) {
    if (value.is(JsonType::null)) return {};
    const auto number = base::number_in<std::uint64_t>(value.text());
    if (!value.is(JsonType::number) || !number || *number > max) {
        return invalid_json(field, "must be a whole number from 0 to " + std::to_string(max));
    }
    out = *number;
    return {};
}

Problem take_texts(JsonValue value, std::string_view field, RawShare& share) {
    if (value.is(JsonType::null)) return {};
    if (!value.is(JsonType::array)) return invalid_json(field, "must be an array of strings");
    for (const JsonValue element : value.elements()) {
        std::string_view ignored;
        const bool kept = share.share_comms_size < comms_count;
        std::string_view& text = kept ? share.share_comms[share.share_comms_size] : ignored;
        if (auto problem = take_text(element, field, text)) return problem;
        ++share.share_comms_size;
    }
    return {};
}

constexpr std::uint64_t u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

Problem take_encrypted_share(JsonValue value, RawShare& share) {
    if (value.is(JsonType::null)) return {};
    if (!value.is(JsonType::object)) return invalid_json("enc_share", "must be an object");
    for (const JsonMember& member : value.members()) {
        Problem problem;
        if (member.name == "c1") {
            problem = take_text(member.value, "enc_share.c1", share.c1);
        } else if (member.name == "c2") {
            problem = take_text(member.value, "enc_share.c2", share.c2);
        } else if (member.name == "share_index") {
            problem =
                take_number(member.value, "enc_share.share_index", u32_max, share.share_index);
        }
        if (problem) return problem;
    }
    return {};
}

Problem take_member(const JsonMember& member, RawShare& share) {
    const auto& [name, value] = member;
    if (name == "shares_hash") return take_text(value, name, share.shares_hash);
    if (name == "vote_round_id") return take_text(value, name, share.vote_round_id);
    if (name == "primary_blind") return take_text(value, name, share.primary_blind);
    if (name == "share_comms") return take_texts(value, name, share);
    if (name == "enc_share") return take_encrypted_share(value, share);
    if (name == "vote_decision") return take_number(value, name, u32_max, share.vote_decision);
    if (name == "proposal_id") return take_number(value, name, u32_max, share.proposal_id);
    if (name == "tree_position") return take_number(value, name, u64_max, share.tree_position);
    if (name == "submit_at") return take_number(value, name, u64_max, share.submit_at);
    return {};
}

Problem take_members(JsonValue json, RawShare& share) {
    if (json.is(JsonType::null)) return {};
    if (!json.is(JsonType::object)) return invalid_json({}, "the body must be an object");
    for (const JsonMember& member : json.members()) {
        if (auto problem = take_member(member, share)) return problem;
    }
    return {};
}

// --- the checks of share-helper 1.1 ---

ShareProblem wrong_size(std::string_view field, std::size_t size) {
    return {std::string(field) + ": expected 32 bytes, got " + std::to_string(size)};
}

Problem read_32_bytes(std::string_view field, std::string_view text, domain::Bytes32& out) {
    const std::optional<std::size_t> size = base::read_base64(text, out);
    if (!size) {
        return ShareProblem{std::string(field) +
                            ": must be canonical base64 (standard alphabet, with padding)"};
    }
    if (*size != out.size()) return wrong_size(field, *size);
    return {};
}

Problem read_small(std::uint64_t value, std::uint64_t max, std::string_view otherwise,
                   std::uint32_t& out) {
    if (value > max) return ShareProblem{std::string(otherwise)};
    out = static_cast<std::uint32_t>(value);
    return {};
}

Problem read_proposal(std::uint64_t value, std::uint32_t& out) {
    if (value < 1 || value > 15) {
        return ShareProblem{"proposal_id must be 1..15, got " + std::to_string(value)};
    }
    out = static_cast<std::uint32_t>(value);
    return {};
}

Problem read_round(std::string_view text, domain::Bytes32& out) {
    if (text.size() == 2 * out.size() && domain::from_hex(text, out)) return {};
    const std::optional<domain::Bytes> bytes = domain::from_hex(text);
    if (!bytes) return ShareProblem{"vote_round_id: must be 64 hexadecimal digits"};
    return wrong_size("vote_round_id", bytes->size());
}

Problem read_comms(const RawShare& raw, std::array<domain::Bytes32, comms_count>& out) {
    if (raw.share_comms_size != comms_count) {
        return ShareProblem{"share_comms: expected " + std::to_string(comms_count) +
                            " entries, got " + std::to_string(raw.share_comms_size)};
    }
    for (std::size_t i = 0; i < comms_count; ++i) {
        if (!read_32_bytes({}, raw.share_comms[i], out[i])) continue;
        return read_32_bytes("share_comms[" + std::to_string(i) + "]", raw.share_comms[i], out[i]);
    }
    return {};
}

Problem check(const RawShare& raw, domain::VoteShare& share) {
    if (auto problem = read_32_bytes("shares_hash", raw.shares_hash, share.shares_hash)) {
        return problem;
    }
    if (auto problem = read_32_bytes("enc_share.c1", raw.c1, share.c1)) return problem;
    if (auto problem = read_32_bytes("enc_share.c2", raw.c2, share.c2)) return problem;
    if (auto problem = read_small(raw.share_index, 15, "enc_share.share_index must be 0..15",
                                  share.share_index)) {
        return problem;
    }
    if (auto problem =
            read_small(raw.vote_decision, 7, "vote_decision must be 0..7", share.vote_decision)) {
        return problem;
    }
    if (auto problem = read_proposal(raw.proposal_id, share.proposal_id)) return problem;
    if (raw.tree_position > u32_max) {
        return ShareProblem{"tree_position " + std::to_string(raw.tree_position) +
                            " exceeds maximum tree capacity"};
    }
    share.tree_position = static_cast<std::uint32_t>(raw.tree_position);
    if (auto problem = read_round(raw.vote_round_id, share.round_id)) return problem;
    if (auto problem = read_comms(raw, share.share_comms)) return problem;
    if (auto problem = read_32_bytes("primary_blind", raw.primary_blind, share.primary_blind)) {
        return problem;
    }
    share.submit_at = raw.submit_at;
    return {};
}

}  // namespace

std::variant<domain::VoteShare, ShareProblem> decode_vote_share(std::string_view body) {
    const auto read = read_json(body);
    if (const auto* problem = std::get_if<JsonProblem>(&read)) {
        return invalid_json({}, text_of(*problem));
    }
    RawShare raw;
    if (auto problem = take_members(std::get<JsonDocument>(read).root(), raw)) return *problem;
    domain::VoteShare share;
    if (auto problem = check(raw, share)) return *problem;
    return share;
}

}  // namespace api
