#include "commands/helper_share.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "api/json_reader.hpp"
#include "base/base64.hpp"
#include "domain/bytes.hpp"

namespace commands {

namespace {

using domain::Status;

using Problem = std::optional<std::string>;  // nothing: all is well

constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t last_second = domain::unix_ms(no_end) / 1'000 - 1;  // Unix seconds

// --- numbers ---

template <typename Number>
Problem read_number(std::string_view name, const store::HelperRow::Number& stored, std::int64_t min,
                    std::int64_t max, Number& out) {
    if (!stored) return std::string(name) + ": is no whole number";
    if (*stored < min || *stored > max) {
        return std::string(name) + ": " + std::to_string(*stored) + " is not in " +
               std::to_string(min) + ".." + std::to_string(max);
    }
    out = static_cast<Number>(*stored);
    return std::nullopt;
}

Problem read_key(const store::HelperRow& row, domain::VoteShare& share) {
    if (row.round_id.size() != 2 * share.round_id.size() ||
        !domain::from_hex(row.round_id, share.round_id)) {
        return "round_id: is not 64 hexadecimal digits";
    }
    if (auto problem = read_number("share_index", row.share_index, 0, 15, share.share_index)) {
        return problem;
    }
    if (auto problem = read_number("proposal_id", row.proposal_id, 1, 15, share.proposal_id)) {
        return problem;
    }
    return read_number("tree_position", row.tree_position, 0, u32_max, share.tree_position);
}

// False for a state nobody knows.
bool take_state(std::int64_t state, HelperShare& out) {
    switch (state) {
        case 0:
        case 1:
            out.status = Status::queued;
            return true;
        case 2:
        case 5:
            out.status = Status::completed;
            return true;
        case 3:
            out.status = Status::failure;
            out.reason = domain::Reason::attempts_used_up;
            return true;
        case 4:
            out.status = Status::failure;
            out.reason = domain::Reason::round_over;
            return true;
        default:
            return false;
    }
}

Problem read_progress(const store::HelperRow& row, HelperShare& out) {
    std::int64_t state = 0;
    if (auto problem = read_number("state", row.state, 0, u32_max, state)) return problem;
    if (!take_state(state, out)) return "state: " + std::to_string(state) + " is not known";
    if (auto problem = read_number("attempts", row.attempts, 0, u32_max, out.attempts)) {
        return problem;
    }
    if (auto problem =
            read_number("submit_at", row.submit_at, 0, last_second, out.share.submit_at)) {
        return problem;
    }
    std::int64_t vote_end = 0;
    if (auto problem = read_number("vote_end_time", row.vote_end_time, 0, last_second, vote_end)) {
        return problem;
    }
    if (vote_end > 0) out.vote_end = domain::Timestamp{std::chrono::seconds{vote_end}};
    return std::nullopt;
}

// --- what was sent ---

// Of 32 bytes: two spare bits stand in the last digit before one `=`.
std::string canonical(std::string_view text) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string clean;
    for (const char letter : text) {
        if (letter != '\r' && letter != '\n') clean += letter;
    }
    if (clean.size() == 44 && clean.back() == '=') {
        char& last = clean[42];
        if (const std::size_t value = digits.find(last); value != std::string_view::npos) {
            last = digits[value & ~std::size_t{3}];
        }
    }
    return clean;
}

Problem read_32_bytes(const std::string& name, std::string_view text, domain::Bytes32& out) {
    if (text.empty()) return name + ": is empty";
    const std::optional<std::size_t> size = base::read_base64(canonical(text), out);
    if (!size) return name + ": is no base64";
    if (*size != out.size()) return name + ": expected 32 bytes, got " + std::to_string(*size);
    return std::nullopt;
}

Problem read_comms(std::string_view text, domain::VoteShare& share) {
    const auto read = api::read_json(text);
    const auto* const json = std::get_if<api::JsonDocument>(&read);
    if (json == nullptr || !json->root().is(api::JsonType::array)) {
        return text.empty() ? "share_comms: is empty" : "share_comms: is no JSON array";
    }
    if (json->root().size() != share.share_comms.size()) {
        return "share_comms: expected " + std::to_string(share.share_comms.size()) +
               " entries, got " + std::to_string(json->root().size());
    }
    std::size_t next = 0;
    for (const api::JsonValue element : json->root().elements()) {
        const std::string name = "share_comms[" + std::to_string(next) + "]";
        if (!element.is(api::JsonType::string)) return name + ": is no string";
        if (auto problem = read_32_bytes(name, element.text(), share.share_comms[next])) {
            return problem;
        }
        ++next;
    }
    return std::nullopt;
}

Problem read_content(const store::HelperRow& row, domain::VoteShare& share) {
    if (auto problem = read_number("vote_decision", row.vote_decision, 0, 7, share.vote_decision)) {
        return problem;
    }
    if (auto problem = read_32_bytes("shares_hash", row.shares_hash, share.shares_hash)) {
        return problem;
    }
    if (auto problem = read_32_bytes("enc_share_c1", row.enc_share_c1, share.c1)) return problem;
    if (auto problem = read_32_bytes("enc_share_c2", row.enc_share_c2, share.c2)) return problem;
    if (auto problem = read_comms(row.share_comms, share)) return problem;
    return read_32_bytes("primary_blind", row.primary_blind, share.primary_blind);
}

}  // namespace

std::variant<HelperShare, std::string> read_helper_share(const store::HelperRow& row) {
    HelperShare read;
    if (auto problem = read_key(row, read.share)) return *std::move(problem);
    if (auto problem = read_progress(row, read)) return *std::move(problem);
    if (auto problem = read_content(row, read.share)) {
        if (read.status == Status::queued) return *std::move(problem);
        read.has_content = false;
    }
    return read;
}

}  // namespace commands
